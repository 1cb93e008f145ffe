package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// fakeBackend answers for workers by their handles, which are their names.
type fakeBackend struct {
	ShimBackend
	failing map[string]error
}

func (f *fakeBackend) StatusBatch(_ context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	results := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		results[i] = swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning}, Err: f.failing[string(h.Data)]}
	}
	return results, nil
}

// TestListReportsUnreadable lists workers of which one can't be read and one is gone.
func TestListReportsUnreadable(t *testing.T) {
	t.Parallel()
	b := New(Options{Dir: t.TempDir(), Process: &fakeBackend{failing: map[string]error{
		"torn": errors.New("status.json is torn"),
		"gone": swarm.ErrNotFound,
	}}})
	for _, name := range []string{"fine", "torn", "gone"} {
		r := record{Kind: KindProcess, Spec: swarm.Spec{ID: "w-" + name, Name: name, Command: []string{"true"}, Options: map[string]string{}}}
		h := handleOf(r, swarm.Handle{Data: []byte(name)})
		r.Handle = &h
		if err := b.store.make(r); err != nil {
			t.Fatal(err)
		}
	}
	var listed []string
	err := b.List(t.Context(), func(l swarm.Listed) error {
		listed = append(listed, l.Spec.Name)
		return nil
	})
	if !slices.Equal(listed, []string{"fine"}) {
		t.Errorf("listed %q", listed)
	}
	if err == nil || !strings.Contains(err.Error(), "worker 'torn': status.json is torn") || strings.Contains(err.Error(), "gone") {
		t.Errorf("the error is %v", err)
	}
}
