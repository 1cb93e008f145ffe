package backendtest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// naive runs real processes and knows of no other than the main one.
type naive struct{ workers *sync.Map }

type naiveWorker struct {
	process *os.Process
	done    chan struct{}
}

func (n naive) Spawn(_ context.Context, s swarm.Spec) (swarm.Handle, error) {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.Environ()
	if err := cmd.Start(); err != nil {
		return swarm.Handle{}, err
	}
	w := &naiveWorker{process: cmd.Process, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(w.done) }()
	n.workers.Store(s.ID, w)
	return swarm.Handle{Version: 1, Data: []byte(s.ID)}, nil
}

func (n naive) find(h swarm.Handle) (*naiveWorker, error) {
	w, ok := n.workers.Load(string(h.Data))
	if !ok {
		return nil, swarm.ErrInvalidHandle
	}
	return w.(*naiveWorker), nil
}

func (n naive) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	w, err := n.find(h)
	if err != nil {
		return swarm.Status{}, err
	}
	select {
	case <-w.done:
		return swarm.Status{
			State: swarm.StateExited,
			Exit:  &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseExited, Time: time.Now()},
		}, nil
	default:
		return swarm.Status{State: swarm.StateRunning}, nil
	}
}

func (n naive) Kill(_ context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	w, err := n.find(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	_ = w.process.Kill()
	<-w.done
	return swarm.KillResult{}, nil
}

// TestNaiveBackend: whoever kills the main process alone fails every case about
// trees.
func TestNaiveBackend(t *testing.T) {
	t.Parallel()
	var workers sync.Map
	got := failures(t, Backend{Local: true, New: func(T) swarm.Backend { return naive{&workers} }},
		func(c testCase) bool { return c.local && c.name != "spawn-no-such-directory" })
	want := []string{"tree-by-its-main-process", "tree-is-forced", "tree-is-killed", "tree-of-a-killed-main-process", "tree-spawned-inside-a-worker"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failed cases (-want +got):\n%s", diff)
	}
}
