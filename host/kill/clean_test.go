package kill_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestClean(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "runs", "one")
	r.MustSpawn(t, "killed", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "ended", "one")
	r.MustSpawn(t, "lost", "one")
	r.MustSpawn(t, "survived", "one")
	r.MustSpawn(t, "far", "two")
	r.MustKill(t, worker.Selection{Names: []string{"killed"}}, kill.Request{})
	r.One.End(t, "ended", swarm.Exit{Time: time.Unix(1700000000, 0)})
	r.One.Change(t, "lost", func(w *hosttest.Worker) { w.State = swarm.StateLost })
	r.One.Change(t, "survived", func(w *hosttest.Worker) { w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 5}} })
	r.Starter.Errors["two"] = swarm.ErrUnavailable

	if _, err := r.Kill().Clean(t.Context(), worker.Selection{}, kill.CleanRequest{}); !errors.Is(err, worker.ErrNoSelection) {
		t.Errorf("no selection: %v", err)
	}
	if _, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"ended", "ghost"}}, kill.CleanRequest{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	out, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"runs", "survived"}}, kill.CleanRequest{})
	if err != nil || !errors.Is(out[0].Err, worker.ErrRunning) || out[1].Err.Error() != "cannot clean running worker 'survived'" {
		t.Errorf("running ones: %+v, %v", out, err)
	}
	var done []string
	out, err = r.Kill().Clean(t.Context(), worker.Selection{All: true}, kill.CleanRequest{Done: func(o kill.Outcome) {
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
	if got := r.Leftovers(t); !slices.Contains(got, "record runs") || slices.Contains(got, "record killed") || slices.Contains(got, "trees/killed") {
		t.Errorf("left: %v", got)
	}
	if ids, err := r.StateDir().RunDirs(); err != nil || len(ids) != 3 {
		t.Errorf("run directories %v, %v; want those of the three that were not cleaned", ids, err)
	}
	// The name is free again, and the id is another one.
	r.MustSpawn(t, "killed", "one")
}

// A worker whose backend can't be asked is cleaned only if it is to be forgotten.
func TestCleanForgets(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "runs", "one")
	r.Starter.Errors["two"] = swarm.ErrUnavailable
	names := worker.Selection{Names: []string{"far", "runs"}}
	out, err := r.Kill().Clean(t.Context(), names, kill.CleanRequest{})
	var hint interface{ Hint() string }
	if err != nil || !errors.As(out[0].Err, &hint) || hint.Hint() != "if it will never answer again, 'swarm clean far --forget' removes its record" {
		t.Fatalf("%+v, %v", out, err)
	}
	out, err = r.Kill().Clean(t.Context(), names, kill.CleanRequest{Forget: true})
	if err != nil || out[0].Err != nil || len(out[0].Notices) != 1 || !errors.Is(out[1].Err, worker.ErrRunning) {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := r.Leftovers(t); slices.Contains(got, "record far") || !slices.Contains(got, "record runs") {
		t.Errorf("left: %v", got)
	}
	events, err := r.History().Events(t.Context(), registry.EventQuery{Worker: "far"})
	isForgotten := func(e registry.Event) bool {
		return e.Kind == history.Cleaned && strings.HasPrefix(e.Text, "forgotten, ")
	}
	if err != nil || !slices.ContainsFunc(events, isForgotten) {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestCleanWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept    *swarm.Kept
		req     kill.CleanRequest
		removed bool
		want    string
	}{
		"clean":  {removed: true},
		"asked":  {req: kill.CleanRequest{KeepWorkspace: true}},
		"dirty":  {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, want: "preserving worktree for 'w1': dirty"},
		"forced": {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, req: kill.CleanRequest{ForceDirty: true}, removed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			w := r.MustSpawn(t, "w1", "one", hosttest.InWorkspace)
			r.MustKill(t, worker.Selection{All: true}, kill.Request{})
			r.Tree.Kept = c.kept
			out, err := r.Kill().Clean(t.Context(), worker.Selection{All: true}, c.req)
			if err != nil || out[0].Err != nil {
				t.Fatal(err, out)
			}
			var want []worker.Warning
			if c.want != "" {
				want = []worker.Warning{{Text: c.want, Hint: "the workspace is " + w.Workspace.Path}}
			}
			if diff := cmp.Diff(want, out[0].Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(w.Workspace.Path); (err != nil) != c.removed || out[0].WorkspaceRemoved != c.removed {
				t.Errorf("the workspace: %v; the outcome says removed: %v", err, out[0].WorkspaceRemoved)
			}
			if names, err := store.Names(t.Context(), r.Dir()); err != nil || names != nil {
				t.Errorf("records %v, %v", names, err)
			}
		})
	}
}

// Several cleaners of the same workers all succeed.
func TestCleanTogether(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		r.MustSpawn(t, n, "one")
	}
	r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	errs := make(chan error)
	const n = 8
	for range n {
		go func() {
			out, err := r.Kill().Clean(t.Context(), worker.Selection{All: true}, kill.CleanRequest{})
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
	if left := r.Leftovers(t); left != nil {
		t.Errorf("left: %v", left)
	}
}

// A removal that was interrupted when the directory was gone is finished later. A worktree that
// a person moved or removed, or that was kept, is left to a person.
func TestInterruptedRemoval(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for _, name := range []string{"cut", "moved", "kept"} {
		r.MustSpawn(t, name, "one", hosttest.InWorkspace)
	}
	r.MustKill(t, worker.Selection{Names: []string{"moved"}}, kill.Request{})
	r.Tree.Kept = &swarm.Kept{Reason: "dirty"}
	r.MustKill(t, worker.Selection{Names: []string{"kept"}}, kill.Request{RemoveWorkspace: true})
	r.Tree.Kept = nil
	for _, name := range []string{"moved", "kept"} {
		if err := os.RemoveAll(r.Record(t, name).Workspace.Path); err != nil {
			t.Fatal(err)
		}
	}
	r.Tree.AfterRemove = func() error { return errors.New("cut off") }
	r.MustKill(t, worker.Selection{Names: []string{"cut"}}, kill.Request{RemoveWorkspace: true})
	r.Tree.AfterRemove = nil
	gone := []string{"worker moved: its workspace /trees/moved is gone", "worker kept: its workspace /trees/kept is gone"}
	want := append([]string{"worker cut: the removal of its workspace /trees/cut was interrupted"}, gone...)
	if diff := cmp.Diff(want, hosttest.Problems(t, r, false)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	done, err := r.Watch().Collect(t.Context())
	if err != nil || len(done.Workspaces) != 1 || done.Workspaces[0].Name != "cut" || len(done.Warnings) > 0 {
		t.Errorf("collected %+v, %v", done, err)
	}
	if diff := cmp.Diff(gone, hosttest.Problems(t, r, false)); diff != "" {
		t.Errorf("problems after the collection (-want +got):\n%s", diff)
	}
	if rec := r.Record(t, "cut"); rec.Workspace != nil || rec.Removing {
		t.Errorf("the record is %+v", rec)
	}
	if done, err = r.Watch().Collect(t.Context()); err != nil || len(done.Workspaces) > 0 {
		t.Errorf("collected again %+v, %v", done, err)
	}
}
