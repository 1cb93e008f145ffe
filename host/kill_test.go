package host

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// kill kills and fails the test if the call itself fails.
func (r *rig) kill(t *testing.T, sel Selection, req KillRequest) []KillOutcome {
	t.Helper()
	out, err := r.Kill(t.Context(), sel, req)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKillAll(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	r.spawn(t, "w2", "two")
	r.spawn(t, "w3", "one")
	var done, answered []string
	var warned []Warning
	out := r.kill(t, Selection{All: true}, KillRequest{
		Done:   func(o KillOutcome) { done = append(done, o.Worker.Name) },
		Warn:   func(w Warning) { warned = append(warned, w) },
		Answer: func(all []KillOutcome) { answered = names(all) },
	})
	want := []string{"w1", "w2", "w3"}
	for what, got := range map[string][]string{"outcomes": names(out), "Done": done, "Answer": answered} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	w := out[0].Worker
	if w.Status != StatusStopped || w.Exit == nil || w.Exit.Signal != "SIGTERM" || w.Exit.Cause != swarm.CauseKilled {
		t.Errorf("w1 is %+v with exit %+v", w, w.Exit)
	}
	if errorOf(out) != nil || len(r.one.alive(t))+len(r.two.alive(t)) != 0 {
		t.Error(errorOf(out), r.one.alive(t), r.two.alive(t))
	}
	if diff := cmp.Diff([]Warning{{Text: "session s stays"}, {Text: "session s stays"}}, warned); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func names(out []KillOutcome) []string {
	var list []string
	for _, o := range out {
		list = append(list, o.Worker.Name)
	}
	return list
}

func TestKillSelection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tagged := func(q *SpawnRequest) { q.Tags = []string{"t"} }
	r.spawn(t, "w1", "one", tagged)
	r.spawn(t, "w10", "one")
	last := r.spawn(t, "w3", "one", tagged)

	if _, err := r.Kill(t.Context(), Selection{}, KillRequest{}); !errors.Is(err, ErrNoSelection) || err.Error() != "must specify worker name or --all" {
		t.Errorf("no selection: %v", err)
	}
	_, err := r.Kill(t.Context(), Selection{Names: []string{"w1", "ghost"}}, KillRequest{})
	if !errors.Is(err, ErrNotFound) || err.Error() != "worker 'ghost' not found" {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := r.Kill(t.Context(), Selection{All: true}, KillRequest{Signal: "SIGNONSENSE"}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an unknown signal: %v", err)
	}
	if diff := cmp.Diff([]string{"w1", "w10", "w3"}, r.one.alive(t)); diff != "" {
		t.Errorf("a refused kill touched workers (-want +got):\n%s", diff)
	}
	if out := r.kill(t, Selection{Names: []string{last.ID, "w1", "w3"}}, KillRequest{}); !slices.Equal(names(out), []string{"w3", "w1"}) {
		t.Errorf("by id, name, and the name again: %v", names(out))
	}
	if diff := cmp.Diff([]string{"w10"}, r.one.alive(t)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	if out := r.kill(t, Selection{Tag: "t"}, KillRequest{}); !slices.Equal(names(out), []string{"w1", "w3"}) || errorOf(out) != nil {
		t.Errorf("stopped workers by tag: %v, %v", names(out), errorOf(out))
	}
}

func TestKillOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	policy := swarm.KillOptions{Signal: "SIGINT", Grace: time.Hour, Mode: swarm.KillMain}
	r.spawn(t, "own", "one", func(q *SpawnRequest) { q.Kill = &policy })
	r.spawn(t, "plain", "one")
	r.one.onKill = func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error) {
		return swarm.KillResult{Survivors: []swarm.Process{{PID: 7, Name: "sleep"}, {PID: 8, Name: "npm"}}}, swarm.ErrSurvivors
	}
	out := r.kill(t, Selection{All: true}, KillRequest{})
	if got := out[0].Err.Error(); got != "cannot kill 'own': still alive: sleep (pid 7), npm (pid 8)" {
		t.Errorf("error %q", got)
	}
	if diff := cmp.Diff(map[string]WorkerStatus{"own": StatusRunning, "plain": StatusRunning}, r.summary(t)); diff != "" {
		t.Errorf("after a kill that failed (-want +got):\n%s", diff)
	}
	grace, force := time.Minute, true
	r.kill(t, Selection{All: true}, KillRequest{Signal: "kill", Grace: &grace, Force: &force})
	want := map[string][]swarm.KillOptions{
		"own":   {policy, {Signal: "SIGKILL", Grace: grace, Force: true, Mode: swarm.KillMain}},
		"plain": {DefaultKill(), {Signal: "SIGKILL", Grace: grace, Force: true}},
	}
	if diff := cmp.Diff(want, r.one.kills); diff != "" {
		t.Errorf("kills (-want +got):\n%s", diff)
	}
}

// One that fails does not stop the others, and what is not asked is not touched.
func TestKillPartly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "two")
	r.spawn(t, "w2", "one")
	r.spawn(t, "w3", "one")
	r.plugins.errs["two"] = swarm.ErrUnavailable
	r.one.onKill = func(_ context.Context, w fakeWorker, _ swarm.KillOptions) (swarm.KillResult, error) {
		if w.Spec.Name == "w2" {
			return swarm.KillResult{}, swarm.ErrPermission
		}
		return swarm.KillResult{}, nil
	}
	out := r.kill(t, Selection{All: true}, KillRequest{})
	if !errors.Is(out[0].Err, swarm.ErrUnavailable) || !errors.Is(out[1].Err, swarm.ErrPermission) || out[2].Err != nil {
		t.Errorf("errors: %v; %v; %v", out[0].Err, out[1].Err, out[2].Err)
	}
	want := map[string]WorkerStatus{"w1": StatusUnknown, "w2": StatusRunning, "w3": StatusStopped}
	if diff := cmp.Diff(want, r.summary(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sweepCall{{Ended: []string{"w3"}, Running: []string{"w2"}}}, r.one.sweeps); diff != "" {
		t.Errorf("sweeps (-want +got):\n%s", diff)
	}
}

func TestKillAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	r.spawn(t, "w2", "one")
	var gone atomic.Bool
	r.one.onKill = func(_ context.Context, w fakeWorker, _ swarm.KillOptions) (swarm.KillResult, error) {
		if w.Spec.Name == "w2" && gone.CompareAndSwap(false, true) {
			return swarm.KillResult{}, plugin.ErrPluginGone
		}
		return swarm.KillResult{}, nil
	}
	if out := r.kill(t, Selection{All: true}, KillRequest{}); errorOf(out) != nil {
		t.Error(errorOf(out))
	}
	if got := r.plugins.restarts["one"]; got != 1 {
		t.Errorf("the plugin was restarted %d times, want once", got)
	}
	if n1, n2 := len(r.one.kills["w1"]), len(r.one.kills["w2"]); n1 != 1 || n2 != 2 {
		t.Errorf("w1 was killed %d times and w2 %d times, want 1 and 2", n1, n2)
	}
}

// A stopped worker needs no plugin, and its recorded end does not change.
func TestKillStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	r.one.end(t, "w1", swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(1700000000, 0)})
	if out := r.kill(t, Selection{All: true}, KillRequest{}); errorOf(out) != nil || out[0].Worker.Exit.Code != 3 {
		t.Errorf("%+v, %v", out[0].Worker, errorOf(out))
	}
	starts := r.plugins.started["one"]
	if out := r.kill(t, Selection{All: true}, KillRequest{}); errorOf(out) != nil || out[0].Worker.Exit.Code != 3 {
		t.Errorf("%+v, %v", out[0].Worker, errorOf(out))
	}
	if got := r.plugins.started["one"]; got != starts {
		t.Error("the kill of a stopped worker started its plugin")
	}
}

func TestKillLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	r.one.change(t, "w1", func(w *fakeWorker) { w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 5, Name: "x"}} })
	if w := r.get(t, "w1"); w.Status != StatusLost || w.Gone() || w.Reason != history.ReasonLost {
		t.Errorf("before: %+v", w)
	}
	out := r.kill(t, Selection{All: true}, KillRequest{})
	if w := r.get(t, "w1"); errorOf(out) != nil || w.Status != StatusStopped || w.Exit != nil || w.Reason != history.ReasonLost {
		t.Errorf("after: %+v, %v", w, errorOf(out))
	}
}

func TestKillWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept    *swarm.Kept
		force   bool
		removed bool
		want    []Warning
	}{
		"clean":          {removed: true},
		"dirty":          {kept: &swarm.Kept{Reason: "worktree has 2 uncommitted change(s)", Forceable: true}, want: []Warning{{Text: "cannot remove worktree for 'w1': worktree has 2 uncommitted change(s)", Hint: "use --force-dirty to remove anyway"}}},
		"dirty, forced":  {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, force: true, removed: true},
		"locked, forced": {kept: &swarm.Kept{Reason: "worktree is locked"}, force: true, want: []Warning{{Text: "cannot remove worktree for 'w1': worktree is locked"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			w := r.spawn(t, "w1", "one", withTree)
			r.tree.kept = c.kept
			r.tree.rescues = []swarm.Rescue{{Ref: "refs/x", Command: "git stash"}}
			out := r.kill(t, Selection{All: true}, KillRequest{RemoveWorkspace: true, ForceDirty: c.force})[0]
			if out.Err != nil || out.WorkspaceRemoved != c.removed {
				t.Errorf("removed %v, %v; want %v", out.WorkspaceRemoved, out.Err, c.removed)
			}
			if diff := cmp.Diff(c.want, out.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			_, err := os.Stat(w.Workspace.Path)
			if gone := err != nil; gone != c.removed || (r.get(t, "w1").Workspace == nil) != c.removed {
				t.Errorf("the directory is gone: %v, the record says %+v", gone, r.get(t, "w1").Workspace)
			}
			if c.removed && !slices.ContainsFunc(out.Notices, func(n string) bool { return strings.HasSuffix(n, "git stash") }) {
				t.Errorf("notices %q do not tell how to bring the work back", out.Notices)
			}
		})
	}
}

// A second, harsher kill does not wait for the grace of the first.
func TestKillOfKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	inGrace, ended := make(chan struct{}), make(chan struct{})
	r.one.onKill = func(ctx context.Context, w fakeWorker, o swarm.KillOptions) (swarm.KillResult, error) {
		if o.Signal == "SIGKILL" {
			defer close(ended)
			return swarm.KillResult{}, nil
		}
		close(inGrace)
		select {
		case <-ended:
			return swarm.KillResult{}, nil
		case <-ctx.Done():
			return swarm.KillResult{}, ctx.Err()
		}
	}
	first := make(chan error, 1)
	go func() {
		grace := 10 * time.Minute
		out, err := r.Kill(t.Context(), Selection{All: true}, KillRequest{Grace: &grace})
		first <- errors.Join(err, errorOf(out))
	}()
	<-inGrace
	other := rigIn(t, r.root)
	other.plugins.peers["one"] = r.plugins.peers["one"]
	if err := errorOf(other.kill(t, Selection{All: true}, KillRequest{Signal: "SIGKILL"})); err != nil {
		t.Error(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	if w := r.get(t, "w1"); w.Status != StatusStopped {
		t.Errorf("w1 is %s", w.Status)
	}
}

// The ends of workers that were killed before the caller gave up are recorded and reported.
func TestKillGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "slow", "one")
	r.spawn(t, "quick", "two")
	ctx, cancel := context.WithCancel(t.Context())
	r.one.onKill = func(ctx context.Context, _ fakeWorker, _ swarm.KillOptions) (swarm.KillResult, error) {
		<-ctx.Done()
		return swarm.KillResult{}, ctx.Err()
	}
	out, err := r.Kill(ctx, Selection{All: true}, KillRequest{Progress: func(e KillEvent) {
		if e.Worker == "quick" && e.Done {
			cancel()
		}
	}})
	if err != nil || !errors.Is(out[0].Err, context.Canceled) || out[1].Err != nil {
		t.Errorf("%v; %v", err, errorOf(out))
	}
	if diff := cmp.Diff(map[string]WorkerStatus{"slow": StatusRunning, "quick": StatusStopped}, r.summary(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

// The caller's own worker comes last, after the answer, and detached.
func TestKillSelf(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	me := r.spawn(t, "me", "one", withTree)
	r.spawn(t, "other", "one")
	r.setEnv(swarm.EnvWorkerID + "=" + me.ID)
	var order []string
	r.one.onKill = func(_ context.Context, w fakeWorker, o swarm.KillOptions) (swarm.KillResult, error) {
		order = append(order, "kill "+w.Spec.Name)
		if o.Detach != (w.Spec.Name == "me") {
			t.Errorf("kill of %s: detach is %v", w.Spec.Name, o.Detach)
		}
		return swarm.KillResult{}, nil
	}
	out := r.kill(t, Selection{All: true}, KillRequest{
		RemoveWorkspace: true,
		Done:            func(o KillOutcome) { order = append(order, "done "+o.Worker.Name) },
		Answer: func(out []KillOutcome) {
			order = append(order, "answer")
			reg, err := r.store.Reading(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rec, err := reg.Get(t.Context(), me.ID)
			if err != nil || rec.Step != registry.StepKilling {
				t.Errorf("at the answer the record is %+v, %v", rec, err)
			}
		},
	})
	if errorOf(out) != nil || len(out[0].Warnings) != 1 {
		t.Errorf("%v, warnings %v", errorOf(out), out[0].Warnings)
	}
	want := []string{"kill other", "done me", "done other", "answer", "kill me"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if w := r.get(t, "me"); w.Status != StatusStopped || w.Exit == nil {
		t.Errorf("me is %+v", w)
	}
}

// A registry that can't be written does not keep a worker alive.
func TestKillUnrecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w1", "one")
	r.one.onKill = func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error) {
		// The only connection now refuses to write.
		return swarm.KillResult{}, r.closeRegistryForWrites(t)
	}
	out := r.kill(t, Selection{All: true}, KillRequest{})
	if errorOf(out) != nil || len(out[0].Warnings) != 1 || !strings.Contains(out[0].Warnings[0].Text, "cannot record the end of 'w1'") {
		t.Errorf("%v, warnings %v", errorOf(out), out[0].Warnings)
	}
	if alive := r.one.alive(t); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
}

// closeRegistryForWrites puts a registry for reading in the place of the open
// one, and a directory where a new one would have to be made.
func (r *rig) closeRegistryForWrites(t *testing.T) error {
	t.Helper()
	path := r.opts.Dir + "/" + registry.File
	if err := os.Rename(path, path+".away"); err != nil {
		return err
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	// Last: else what looks at the registry beside the kill would open it again in between.
	return r.store.Close()
}
