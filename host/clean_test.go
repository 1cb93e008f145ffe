package host

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestClean(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "runs", "one")
	r.spawn(t, "killed", "one", withTree)
	r.spawn(t, "ended", "one")
	r.spawn(t, "lost", "one")
	r.spawn(t, "survived", "one")
	r.spawn(t, "far", "two")
	r.kill(t, Selection{Names: []string{"killed"}}, KillRequest{})
	r.one.end(t, "ended", swarm.Exit{Time: time.Unix(1700000000, 0)})
	r.one.change(t, "lost", func(w *fakeWorker) { w.State = swarm.StateLost })
	r.one.change(t, "survived", func(w *fakeWorker) { w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 5}} })
	r.plugins.errs["two"] = swarm.ErrUnavailable

	if _, err := r.Clean(t.Context(), Selection{}, CleanRequest{}); !errors.Is(err, ErrNoSelection) {
		t.Errorf("no selection: %v", err)
	}
	if _, err := r.Clean(t.Context(), Selection{Names: []string{"ended", "ghost"}}, CleanRequest{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	out, err := r.Clean(t.Context(), Selection{Names: []string{"runs", "survived"}}, CleanRequest{})
	if err != nil || !errors.Is(out[0].Err, ErrRunning) || out[1].Err.Error() != "cannot clean running worker 'survived'" {
		t.Errorf("running ones: %+v, %v", out, err)
	}
	var done []string
	out, err = r.Clean(t.Context(), Selection{All: true}, CleanRequest{Done: func(o CleanOutcome) {
		line := o.Worker.Name
		if o.Err != nil {
			line += ": " + o.Err.Error()
		}
		done = append(done, line)
	}})
	want := []string{"killed", "ended", "lost", "cannot"}
	want[3] = "far: cannot clean worker 'far': unavailable"
	if diff := cmp.Diff(want, done); err != nil || len(out) != 4 || diff != "" {
		t.Errorf("%v; cleaned (-want +got):\n%s", err, diff)
	}
	if got := r.leftovers(t); !slices.Contains(got, "record runs") || slices.Contains(got, "record killed") || slices.Contains(got, "trees/killed") {
		t.Errorf("left: %v", got)
	}
	if ids, err := r.dir.RunDirs(); err != nil || len(ids) != 3 {
		t.Errorf("run directories %v, %v; want those of the three that were not cleaned", ids, err)
	}
	// The name is free again, and the id is another one.
	r.spawn(t, "killed", "one")
}

// A worker whose backend can't be asked is cleaned only if it is to be forgotten.
func TestCleanForgets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "far", "two")
	r.spawn(t, "runs", "one")
	r.plugins.errs["two"] = swarm.ErrUnavailable
	names := Selection{Names: []string{"far", "runs"}}
	out, err := r.Clean(t.Context(), names, CleanRequest{})
	var hint interface{ Hint() string }
	if err != nil || !errors.As(out[0].Err, &hint) || hint.Hint() != "if it will never answer again, 'swarm clean far --forget' removes its record" {
		t.Fatalf("%+v, %v", out, err)
	}
	out, err = r.Clean(t.Context(), names, CleanRequest{Forget: true})
	if err != nil || out[0].Err != nil || len(out[0].Notices) != 1 || !errors.Is(out[1].Err, ErrRunning) {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := r.leftovers(t); slices.Contains(got, "record far") || !slices.Contains(got, "record runs") {
		t.Errorf("left: %v", got)
	}
	events, err := r.Events(t.Context(), history.Query{Worker: "far"})
	told := func(e history.Event) bool {
		return e.Kind == history.Cleaned && strings.HasPrefix(e.Text, "forgotten, ")
	}
	if err != nil || !slices.ContainsFunc(events, told) {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestCleanWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept    *swarm.Kept
		req     CleanRequest
		removed bool
		want    string
	}{
		"clean":  {removed: true},
		"asked":  {req: CleanRequest{KeepWorkspace: true}},
		"dirty":  {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, want: "preserving worktree for 'w1': dirty"},
		"forced": {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, req: CleanRequest{ForceDirty: true}, removed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			w := r.spawn(t, "w1", "one", withTree)
			r.kill(t, Selection{All: true}, KillRequest{})
			r.tree.kept = c.kept
			out, err := r.Clean(t.Context(), Selection{All: true}, c.req)
			if err != nil || out[0].Err != nil {
				t.Fatal(err, out)
			}
			var want []Warning
			if c.want != "" {
				want = []Warning{{Text: c.want, Hint: "the worktree is " + w.Workspace.Path}}
			}
			if diff := cmp.Diff(want, out[0].Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(w.Workspace.Path); (err != nil) != c.removed || out[0].WorkspaceRemoved != c.removed {
				t.Errorf("the workspace: %v; the outcome says removed: %v", err, out[0].WorkspaceRemoved)
			}
			if names, err := store.Names(t.Context(), r.opts.Dir); err != nil || names != nil {
				t.Errorf("records %v, %v", names, err)
			}
		})
	}
}

// Several cleaners of the same workers all succeed.
func TestCleanTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		r.spawn(t, n, "one")
	}
	r.kill(t, Selection{All: true}, KillRequest{})
	errs := make(chan error)
	const n = 8
	for range n {
		go func() {
			out, err := r.Clean(t.Context(), Selection{All: true}, CleanRequest{})
			for _, o := range out {
				err = errors.Join(err, o.Err)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if left := r.leftovers(t); left != nil {
		t.Errorf("left: %v", left)
	}
}

// A removal that was interrupted when the directory was gone is finished later. A worktree that
// a person moved or removed, or that was kept, is left to a person.
func TestInterruptedRemoval(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"cut", "moved", "kept"} {
		r.spawn(t, name, "one", withTree)
	}
	r.kill(t, Selection{Names: []string{"moved"}}, KillRequest{})
	r.tree.kept = &swarm.Kept{Reason: "dirty"}
	r.kill(t, Selection{Names: []string{"kept"}}, KillRequest{RemoveWorkspace: true})
	r.tree.kept = nil
	for _, name := range []string{"moved", "kept"} {
		if err := os.RemoveAll(r.record(t, name).Workspace.Path); err != nil {
			t.Fatal(err)
		}
	}
	r.tree.afterRemove = func() error { return errors.New("cut off") }
	r.kill(t, Selection{Names: []string{"cut"}}, KillRequest{RemoveWorkspace: true})
	r.tree.afterRemove = nil
	gone := []string{"worker moved: its worktree /trees/moved is gone", "worker kept: its worktree /trees/kept is gone"}
	want := append([]string{"worker cut: the removal of its worktree /trees/cut was interrupted"}, gone...)
	if diff := cmp.Diff(want, problems(t, r, false)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	done, err := r.Collect(t.Context())
	if err != nil || len(done.Worktrees) != 1 || done.Worktrees[0].Name != "cut" || len(done.Warnings) > 0 {
		t.Errorf("collected %+v, %v", done, err)
	}
	if diff := cmp.Diff(gone, problems(t, r, false)); diff != "" {
		t.Errorf("problems after the collection (-want +got):\n%s", diff)
	}
	if rec := r.record(t, "cut"); rec.Workspace != nil || rec.Removing {
		t.Errorf("the record is %+v", rec)
	}
	if done, err = r.Collect(t.Context()); err != nil || len(done.Worktrees) > 0 {
		t.Errorf("collected again %+v, %v", done, err)
	}
}
