package workers

import (
	"errors"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// The answers of verbs without any worker.
func TestVerbsWithoutWorkers(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.WithState(t)
	if err := apptest.Run(t, NewLs(a), "--format", "json"); err != nil || stdout.String() != "[]\n" {
		t.Errorf("ls: %v, stdout %q", err, stdout)
	}
	stdout.Reset()
	if err := apptest.Run(t, NewLs(a)); err != nil || stdout.Len() > 0 {
		t.Errorf("ls: %v, stdout %q", err, stdout)
	}
	err := runStatus(t.Context(), a, "ghost", false)
	if code, ok := errors.AsType[*output.CodeError](err); !ok || code.Code != statusNotFound || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("status: %v", err)
	}
	if err := apptest.Run(t, NewKill(a), "ghost"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("kill: %v", err)
	}
	if err := runWait(t.Context(), a, worker.Selection{Names: []string{"ghost"}}, &waitOptions{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("wait: %v", err)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr)
	}
}
