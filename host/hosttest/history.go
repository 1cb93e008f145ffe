package hosttest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// WantGone fails the test if there is a worker of that name.
func (r *Rig) WantGone(t testing.TB, name string) {
	t.Helper()
	_, _, err := r.Workers(t.Context(), worker.Selection{Names: []string{name}})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("status of %s: %v", name, err)
	}
	if _, there := r.Statuses(t)[name]; there {
		t.Errorf("%s is listed", name)
	}
}

// WantHistory fails the test unless the history of a worker has exactly these lines, which it has
// after the name of the worker.
func (r *Rig) WantHistory(t testing.TB, worker string, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = "[" + worker + "] " + want[i]
	}
	if diff := cmp.Diff(want, r.HistoryLines(t, worker)); diff != "" {
		t.Errorf("history of %s (-want +got):\n%s", worker, diff)
	}
}

// AllEvents returns the history of a worker; empty: of all.
func (r *Rig) AllEvents(t testing.TB, worker string) []registry.Event {
	t.Helper()
	events, err := r.History().Events(t.Context(), registry.EventQuery{Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// HistoryLines returns the history of a worker, one line for each event; empty: of all.
func (r *Rig) HistoryLines(t testing.TB, worker string) []string {
	t.Helper()
	reg, err := registry.OpenReadOnly(t.Context(), r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close() }()
	events, err := reg.Events(t.Context(), registry.EventQuery{Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, e := range events {
		lines = append(lines, e.String())
	}
	return lines
}

// Leftovers returns what exists of workers: records, run directories, workspaces, processes.
func (r *Rig) Leftovers(t testing.TB) []string {
	t.Helper()
	var found []string
	names, err := store.Names(t.Context(), r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		found = append(found, "record "+n)
	}
	for _, dir := range []string{r.StateDir().RunDir(""), r.Tree.Dir} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			t.Fatal(err)
		}
		for _, e := range entries {
			found = append(found, filepath.Join(filepath.Base(dir), e.Name()))
		}
	}
	for _, name := range append(r.One.Alive(t), r.Two.Alive(t)...) {
		found = append(found, "worker "+name)
	}
	return found
}
