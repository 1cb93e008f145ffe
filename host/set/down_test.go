package set

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func up(names ...string) []worker.Worker {
	var ws []worker.Worker
	for _, name := range names {
		ws = append(ws, runningWorker(declare(name).Spawn))
	}
	return ws
}

func TestDownInReverse(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("db"), declare("api", "db"), declare("web", "api"), declare("other"))
	f := newFake(up("db", "api", "web", "other")...)
	var done, warned []string
	answered := 0
	got, err := s.down(t.Context(), f, f, DownRequest{Names: []string{"db"}, Kill: kill.Request{
		Done:   func(out kill.Outcome) { done = append(done, out.Worker.Name) },
		Warn:   func(w worker.Warning) { warned = append(warned, w.Text) },
		Answer: func(outs []kill.Outcome) { answered = len(outs) },
	}})
	if diff := cmp.Diff([]string{"kill web", "kill api", "kill db"}, f.calls()); err != nil || diff != "" {
		t.Errorf("calls %v (-want +got):\n%s", err, diff)
	}
	if len(got) != 3 || answered != 3 || !slices.Equal(done, []string{"web", "api", "db"}) || len(warned) != 1 {
		t.Errorf("%d outcomes, %d answered, done %q, warned %q", len(got), answered, done, warned)
	}
}

func TestDownAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("a"), declare("b"))
	f := newFake(up("a", "b")...)
	a, b := make(chan struct{}), make(chan struct{})
	f.during["kill a"] = func(ctx context.Context) { close(a); await(ctx, b) }
	f.during["kill b"] = func(ctx context.Context) { close(b); await(ctx, a) }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := s.down(ctx, f, f, DownRequest{})
	if err != nil || len(got) != 2 || got[0].Err != nil || got[1].Err != nil {
		t.Errorf("%v, outcomes %+v", err, got)
	}
}

func TestDownPassesOver(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("none"), declare("stopped"), declare("theirs"), declare("gone"), declare("tree"))
	ws := up("stopped", "theirs", "gone", "tree")
	ws[0].Status = worker.StatusStopped
	ws[1].Project = "/q/swarm.toml"
	ws[3].Status, ws[3].Workspace = worker.StatusStopped, &swarm.WorkspaceRef{Path: "/t"}
	for _, remove := range []bool{false, true} {
		f := newFake(ws...)
		f.fail["kill gone"] = &store.NotFoundError{Name: "gone"}
		var idle, warned []string
		got, err := s.down(t.Context(), f, f, DownRequest{
			Idle: func(name string) { idle = append(idle, name) },
			Kill: kill.Request{RemoveWorkspace: remove, Warn: func(w worker.Warning) { warned = append(warned, w.Text) }},
		})
		slices.Sort(idle)
		want, calls := []string{"gone", "none", "stopped", "tree"}, []string{"kill gone"}
		if remove {
			want, calls = want[:3], append(calls, "kill tree")
		}
		killed := f.calls()
		slices.Sort(killed)
		if diff := cmp.Diff(want, idle) + cmp.Diff(calls, killed); err != nil || diff != "" {
			t.Errorf("remove %v: %v (-want +got):\n%s", remove, err, diff)
		}
		if !slices.Contains(warned, "worker 'theirs' is not of this project: it was declared in /q/swarm.toml, which does not exist any more. If the project has moved, 'swarm kill theirs' and 'swarm clean theirs' free the name") {
			t.Errorf("remove %v: warned %q, outcomes %+v", remove, warned, got)
		}
	}
}

func TestDownKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("db"), declare("api", "db"), declare("web", "db"))
	f := newFake(up("db", "api", "web")...)
	f.fail["kill web"] = swarm.ErrSurvivors
	got, err := s.down(t.Context(), f, f, DownRequest{})
	calls := f.calls()
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"kill api", "kill web"}, calls); err != nil || diff != "" {
		t.Errorf("calls %v (-want +got):\n%s", err, diff)
	}
	if last := got[len(got)-1]; last.Worker.Name != "db" || last.Err == nil || last.Err.Error() != "'db' was not ended: 'web' depends on it and still runs" {
		t.Errorf("last outcome %+v", last)
	}
}

func TestDownInterrupted(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("db"), declare("web", "db"))
	f := newFake(up("db", "web")...)
	ctx, cancel := context.WithCancel(t.Context())
	f.during["kill web"] = func(context.Context) { cancel() }
	got, err := s.down(ctx, f, f, DownRequest{})
	if diff := cmp.Diff([]string{"kill web"}, f.calls()); err != nil || diff != "" {
		t.Errorf("calls %v (-want +got):\n%s", err, diff)
	}
	for _, out := range got {
		if !errors.Is(out.Err, context.Canceled) {
			t.Errorf("%s: %v, want that it was interrupted", out.Worker.Name, out.Err)
		}
	}
}

// The worker that the caller runs in is the last, and all is said before.
func TestDownOfOneself(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("db"), declare("web", "db"))
	f := newFake(up("db", "web")...)
	f.self = "id-web"
	var answered []string
	_, err := s.down(t.Context(), f, f, DownRequest{Kill: kill.Request{Answer: func(outs []kill.Outcome) {
		for _, out := range outs {
			answered = append(answered, out.Worker.Name)
		}
	}}})
	if diff := cmp.Diff([]string{"kill db", "kill web"}, f.calls()); err != nil || diff != "" {
		t.Errorf("calls %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"db", "web"}, answered); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}
