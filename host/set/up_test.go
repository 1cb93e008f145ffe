package set

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// actions returns "name action" for each outcome.
func actions(outcomes []Outcome) []string {
	list := make([]string, len(outcomes))
	for i, out := range outcomes {
		list[i] = out.Name + " " + string(out.Action)
	}
	return list
}

func TestUpInOrder(t *testing.T) {
	t.Parallel()
	db := declare("db")
	db.Ready = &display.ReadyRequest{}
	s := newSet(t, declare("web", "db", "api"), declare("api", "db"), db)
	f := newFake()
	got, err := s.up(t.Context(), f, f, UpRequest{})
	if diff := cmp.Diff([]string{"db started", "api started", "web started"}, actions(got)); err != nil || diff != "" {
		t.Errorf("outcomes %v (-want +got):\n%s", err, diff)
	}
	want := []string{"spawn db", "await db", "spawn api", "spawn web"}
	if diff := cmp.Diff(want, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !got[0].Awaited || !got[0].Ready || got[1].Awaited {
		t.Errorf("outcomes %+v", got)
	}

	f.log = nil
	got, err = s.up(t.Context(), f, f, UpRequest{})
	if diff := cmp.Diff([]string{"db unchanged", "api unchanged", "web unchanged"}, actions(got)); err != nil || diff != "" || f.calls() != nil {
		t.Errorf("a second time: %v, calls %q (-want +got):\n%s", err, f.calls(), diff)
	}
}

// Those that do not wait for each other start at the same time: each start here
// lasts until the other one has begun.
func TestUpAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("a"), declare("b"))
	f := newFake()
	a, b := make(chan struct{}), make(chan struct{})
	f.during["spawn a"] = func(ctx context.Context) { close(a); await(ctx, b) }
	f.during["spawn b"] = func(ctx context.Context) { close(b); await(ctx, a) }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := s.up(ctx, f, f, UpRequest{}); err != nil {
		t.Error(err)
	}
}

func await(ctx context.Context, c chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

func TestUpFailureStopsDependantsOnly(t *testing.T) {
	t.Parallel()
	late := declare("late")
	late.Ready = &display.ReadyRequest{}
	s := newSet(t, declare("db"), declare("api", "db"), declare("web", "api"), declare("other"), late, declare("after", "late"))
	f := newFake()
	f.fail["spawn db"] = errors.New("no such directory")
	f.fail["await late"] = display.ErrNotReady
	var acted []string
	got, err := s.up(t.Context(), f, f, UpRequest{Acted: func(out Outcome) { acted = append(acted, out.Name+" "+string(out.Action)) }})
	want := []string{"db failed", "api skipped", "web skipped", "other started", "late started", "after skipped"}
	if diff := cmp.Diff(want, actions(got)); err != nil || diff != "" {
		t.Errorf("outcomes %v (-want +got):\n%s", err, diff)
	}
	slices.Sort(acted)
	slices.Sort(want)
	if diff := cmp.Diff(want, acted); diff != "" {
		t.Errorf("acted (-want +got):\n%s", diff)
	}
	for i, text := range []string{
		"cannot start 'db': no such directory", "'api' was not started: it depends on 'db'", "'web' was not started: it depends on 'api'",
		"", display.ErrNotReady.Error(), "'after' was not started: it depends on 'late'",
	} {
		if err := got[i].Err; (err == nil) != (text == "") || err != nil && err.Error() != text {
			t.Errorf("%s: error %v, want %q", got[i].Name, err, text)
		}
	}
}

func TestUpLooksAtWhatIsThere(t *testing.T) {
	t.Parallel()
	of := func(name string, change func(*worker.Worker)) worker.Worker {
		w := runningWorker(declare(name).Spawn)
		change(&w)
		return w
	}
	there := []worker.Worker{
		of("same", func(*worker.Worker) {}),
		of("other", func(w *worker.Worker) { w.Command = []string{"x"} }),
		of("stopped", func(w *worker.Worker) { w.Status = worker.StatusStopped; w.Command = []string{"old"} }),
		of("lost", func(w *worker.Worker) { w.Status = worker.StatusLost }),
		of("half", func(w *worker.Worker) { w.Status, w.Survivors = worker.StatusLost, []swarm.Process{{PID: 1}} }),
		of("dark", func(w *worker.Worker) { w.Status, w.Reason = worker.StatusUnknown, "no tmux" }),
		of("theirs", func(w *worker.Worker) { w.Project = "/q/swarm.toml" }),
		of("byhand", func(w *worker.Worker) { w.Project = "" }),
		of("elsewhere", func(w *worker.Worker) { w.Project, w.Dir = "", "/q" }),
	}
	var ws []Worker
	for _, w := range there {
		ws = append(ws, declare(w.Name))
	}
	s := newSet(t, ws...)
	all := []string{
		"same unchanged", "other differs", "stopped respawned", "lost respawned", "half failed", "dark failed", "theirs failed",
		"byhand unchanged", "elsewhere failed",
	}
	for _, dry := range []bool{true, false} {
		f := newFake(there...)
		got, err := s.up(t.Context(), f, f, UpRequest{DryRun: dry})
		if diff := cmp.Diff(all, actions(got)); err != nil || diff != "" {
			t.Errorf("dry %v: %v (-want +got):\n%s", dry, err, diff)
		}
		calls := f.calls()
		slices.Sort(calls)
		var want []string
		if !dry {
			want = []string{"respawn lost", "respawn stopped"}
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("dry %v: calls (-want +got):\n%s", dry, diff)
		}
		if !dry && !slices.Equal(got[2].Worker.Command, []string{"run", "stopped"}) {
			t.Errorf("respawned as %q, not as declared", got[2].Worker.Command)
		}
		if !errors.Is(got[6].Err, ErrForeign) || !strings.Contains(got[6].Err.Error(), "/q/swarm.toml") || !errors.Is(got[8].Err, ErrForeign) {
			t.Errorf("of another project: %v, %v", got[6].Err, got[8].Err)
		}
	}
}

func TestUpRecreate(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("a"), declare("self"), declare("same"))
	a, self := runningWorker(declare("a").Spawn), runningWorker(declare("self").Spawn)
	a.Stdin, self.Stdin = true, true
	f := newFake(a, self, runningWorker(declare("same").Spawn))
	f.self = self.ID
	got, err := s.up(t.Context(), f, f, UpRequest{Recreate: true})
	if diff := cmp.Diff([]string{"a recreated", "self failed", "same unchanged"}, actions(got)); err != nil || diff != "" {
		t.Errorf("outcomes %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"respawn a"}, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"stdin"}, got[0].Differs); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// Two at once: the other one is faster, is at it, or gives up.
func TestUpMeetsAnother(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("a"))
	f := newFake()
	f.during["spawn a"] = func(context.Context) { f.put(runningWorker(declare("a").Spawn)) }
	got, err := s.up(t.Context(), f, f, UpRequest{})
	if diff := cmp.Diff([]string{"a unchanged"}, actions(got)); err != nil || diff != "" {
		t.Errorf("the other one was faster: %v (-want +got):\n%s", err, diff)
	}

	starting := runningWorker(declare("a").Spawn)
	starting.Status = worker.StatusStarting
	f = newFake(starting)
	f.during["settle a"] = func(context.Context) { f.put(runningWorker(declare("a").Spawn)) }
	got, err = s.up(t.Context(), f, f, UpRequest{})
	if diff := cmp.Diff([]string{"a unchanged"}, actions(got)); err != nil || diff != "" {
		t.Errorf("the other one was at it: %v (-want +got):\n%s", err, diff)
	}

	f = newFake(starting)
	f.during["settle a"] = func(context.Context) { delete(f.workers, "a") }
	got, err = s.up(t.Context(), f, f, UpRequest{})
	if diff := cmp.Diff([]string{"a started"}, actions(got)); err != nil || diff != "" {
		t.Errorf("the other one gave up: %v (-want +got):\n%s", err, diff)
	}

	// A worker that the other call has started again is not started once more.
	for _, recreate := range []bool{false, true} {
		old := runningWorker(declare("a").Spawn)
		if old.Stdin = true; !recreate {
			old.Status = worker.StatusStopped
		}
		f = newFake(old)
		f.during["respawn a"] = func(context.Context) {
			w := runningWorker(declare("a").Spawn)
			w.ID = "another"
			f.put(w)
		}
		got, err = s.up(t.Context(), f, f, UpRequest{Recreate: recreate})
		if diff := cmp.Diff([]string{"a unchanged"}, actions(got)); err != nil || diff != "" || got[0].Worker.ID != "another" {
			t.Errorf("the other one respawned it: %v, outcomes %+v (-want +got):\n%s", err, got, diff)
		}
	}

	f = newFake()
	f.fail["spawn a"] = worker.ErrExists
	if got, err = s.up(t.Context(), f, f, UpRequest{}); err != nil || got[0].Action != Failed || len(f.calls()) != 2*attempts-1 {
		t.Errorf("without end: %v, outcomes %+v, calls %q", err, got, f.calls())
	}
}

// A worker that runs is waited for only where another one needs it.
func TestUpWaitsForRunning(t *testing.T) {
	t.Parallel()
	db := declare("db")
	db.Ready = &display.ReadyRequest{Timeout: time.Minute}
	s := newSet(t, db, declare("web", "db"))
	young, old := runningWorker(db.Spawn), runningWorker(db.Spawn)
	young.Project, old.Project = project, project
	old.Started = time.Now().Add(-time.Hour)
	for _, c := range []struct {
		there []worker.Worker
		calls []string
	}{
		{[]worker.Worker{young}, []string{"await db", "spawn web"}},
		{[]worker.Worker{old}, []string{"await db", "spawn web"}},
		{[]worker.Worker{young, runningWorker(declare("web").Spawn)}, nil},
	} {
		f := newFake(c.there...)
		if _, err := s.up(t.Context(), f, f, UpRequest{}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.calls, f.calls()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

func TestUpInterrupted(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("db"), declare("web", "db"))
	f := newFake()
	ctx, cancel := context.WithCancel(t.Context())
	f.during["spawn db"] = func(context.Context) { cancel() }
	got, err := s.up(ctx, f, f, UpRequest{})
	if !errors.Is(err, context.Canceled) || !got[0].Interrupted() || !got[1].Interrupted() {
		t.Errorf("%v, outcomes %+v", err, got)
	}
	if diff := cmp.Diff([]string{"spawn db"}, f.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
