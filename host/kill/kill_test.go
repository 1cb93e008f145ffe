package kill_test

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

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestKillAll(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.MustSpawn(t, "w2", "two")
	r.MustSpawn(t, "w3", "one")
	var done, answered []string
	var warned []worker.Warning
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{
		Done:   func(o kill.Outcome) { done = append(done, o.Worker.Name) },
		Warn:   func(w worker.Warning) { warned = append(warned, w) },
		Answer: func(all []kill.Outcome) { answered = names(all) },
	})
	want := []string{"w1", "w2", "w3"}
	for what, got := range map[string][]string{"outcomes": names(out), "Done": done, "Answer": answered} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	w := out[0].Worker
	if w.Status != worker.StatusStopped || w.Exit == nil || w.Exit.Signal != "SIGTERM" || w.Exit.Cause != swarm.CauseKilled {
		t.Errorf("w1 is %+v with exit %+v", w, w.Exit)
	}
	if hosttest.KillErrors(out) != nil || len(r.One.Alive(t))+len(r.Two.Alive(t)) != 0 {
		t.Error(hosttest.KillErrors(out), r.One.Alive(t), r.Two.Alive(t))
	}
	if diff := cmp.Diff([]worker.Warning{{Text: "session s stays"}, {Text: "session s stays"}}, warned); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func names(out []kill.Outcome) []string {
	var list []string
	for _, o := range out {
		list = append(list, o.Worker.Name)
	}
	return list
}

func TestKillSelection(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	tagged := func(q *spawn.Request) { q.Tags = []string{"t"} }
	r.MustSpawn(t, "w1", "one", tagged)
	r.MustSpawn(t, "w10", "one")
	last := r.MustSpawn(t, "w3", "one", tagged)

	if _, err := r.Kill().Kill(t.Context(), worker.Selection{}, kill.Request{}); !errors.Is(err, worker.ErrNoSelection) || err.Error() != "must specify worker name or --all" {
		t.Errorf("no selection: %v", err)
	}
	_, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w1", "ghost"}}, kill.Request{})
	if !errors.Is(err, store.ErrNotFound) || err.Error() != "worker 'ghost' not found" {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := r.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{Signal: "SIGNONSENSE"}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an unknown signal: %v", err)
	}
	if diff := cmp.Diff([]string{"w1", "w10", "w3"}, r.One.Alive(t)); diff != "" {
		t.Errorf("a refused kill touched workers (-want +got):\n%s", diff)
	}
	if out := r.MustKill(t, worker.Selection{Names: []string{last.ID, "w1", "w3"}}, kill.Request{}); !slices.Equal(names(out), []string{"w3", "w1"}) {
		t.Errorf("by id, name, and the name again: %v", names(out))
	}
	if diff := cmp.Diff([]string{"w10"}, r.One.Alive(t)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	if out := r.MustKill(t, worker.Selection{Tag: "t"}, kill.Request{}); !slices.Equal(names(out), []string{"w1", "w3"}) || hosttest.KillErrors(out) != nil {
		t.Errorf("stopped workers by tag: %v, %v", names(out), hosttest.KillErrors(out))
	}
}

func TestKillOptions(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	policy := swarm.KillOptions{Signal: "SIGINT", Grace: time.Hour, Mode: swarm.KillMain}
	r.MustSpawn(t, "own", "one", func(q *spawn.Request) { q.Kill = &policy })
	r.MustSpawn(t, "plain", "one")
	r.One.OnKill = func(context.Context, hosttest.Worker, swarm.KillOptions) (swarm.KillResult, error) {
		return swarm.KillResult{Survivors: []swarm.Process{{PID: 7, Name: "sleep"}, {PID: 8, Name: "npm"}}}, swarm.ErrSurvivors
	}
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if got := out[0].Err.Error(); got != "cannot kill 'own': still alive: sleep (pid 7), npm (pid 8)" {
		t.Errorf("error %q", got)
	}
	if diff := cmp.Diff(map[string]worker.Status{"own": worker.StatusRunning, "plain": worker.StatusRunning}, r.Statuses(t)); diff != "" {
		t.Errorf("after a kill that failed (-want +got):\n%s", diff)
	}
	grace, force := time.Minute, true
	r.MustKill(t, worker.Selection{All: true}, kill.Request{Signal: "kill", Grace: &grace, Force: &force})
	want := map[string][]swarm.KillOptions{
		"own":   {policy, {Signal: "SIGKILL", Grace: grace, Force: true, Mode: swarm.KillMain}},
		"plain": {host.DefaultKill(), {Signal: "SIGKILL", Grace: grace, Force: true}},
	}
	if diff := cmp.Diff(want, r.One.Kills); diff != "" {
		t.Errorf("kills (-want +got):\n%s", diff)
	}
}

// One that fails does not stop the others, and what is not asked is not touched.
func TestKillPartly(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "two")
	r.MustSpawn(t, "w2", "one")
	r.MustSpawn(t, "w3", "one")
	r.Starter.Errors["two"] = swarm.ErrUnavailable
	r.One.OnKill = func(_ context.Context, w hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
		if w.Spec.Name == "w2" {
			return swarm.KillResult{}, swarm.ErrPermission
		}
		return swarm.KillResult{}, nil
	}
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if !errors.Is(out[0].Err, swarm.ErrUnavailable) || !errors.Is(out[1].Err, swarm.ErrPermission) || out[2].Err != nil {
		t.Errorf("errors: %v; %v; %v", out[0].Err, out[1].Err, out[2].Err)
	}
	want := map[string]worker.Status{"w1": worker.StatusUnknown, "w2": worker.StatusRunning, "w3": worker.StatusStopped}
	if diff := cmp.Diff(want, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]hosttest.SweepCall{{Ended: []string{"w3"}, Running: []string{"w2"}}}, r.One.Sweeps); diff != "" {
		t.Errorf("sweeps (-want +got):\n%s", diff)
	}
}

func TestKillAgain(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.MustSpawn(t, "w2", "one")
	var gone atomic.Bool
	r.One.OnKill = func(_ context.Context, w hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
		if w.Spec.Name == "w2" && gone.CompareAndSwap(false, true) {
			return swarm.KillResult{}, client.ErrPluginGone
		}
		return swarm.KillResult{}, nil
	}
	if out := r.MustKill(t, worker.Selection{All: true}, kill.Request{}); hosttest.KillErrors(out) != nil {
		t.Error(hosttest.KillErrors(out))
	}
	if got := r.Starter.Restarts["one"]; got != 1 {
		t.Errorf("the plugin was restarted %d times, want once", got)
	}
	if n1, n2 := len(r.One.Kills["w1"]), len(r.One.Kills["w2"]); n1 != 1 || n2 != 2 {
		t.Errorf("w1 was killed %d times and w2 %d times, want 1 and 2", n1, n2)
	}
}

// A stopped worker needs no plugin, and its recorded end does not change.
func TestKillStopped(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.One.End(t, "w1", swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(1700000000, 0)})
	if out := r.MustKill(t, worker.Selection{All: true}, kill.Request{}); hosttest.KillErrors(out) != nil || out[0].Worker.Exit.Code != 3 {
		t.Errorf("%+v, %v", out[0].Worker, hosttest.KillErrors(out))
	}
	starts := r.Starter.Started["one"]
	if out := r.MustKill(t, worker.Selection{All: true}, kill.Request{}); hosttest.KillErrors(out) != nil || out[0].Worker.Exit.Code != 3 {
		t.Errorf("%+v, %v", out[0].Worker, hosttest.KillErrors(out))
	}
	if got := r.Starter.Started["one"]; got != starts {
		t.Error("the kill of a stopped worker started its plugin")
	}
}

func TestKillLost(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.One.Change(t, "w1", func(w *hosttest.Worker) { w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 5, Name: "x"}} })
	if w := r.Worker(t, "w1"); w.Status != worker.StatusLost || w.Gone() || w.Reason != history.ReasonLost {
		t.Errorf("before: %+v", w)
	}
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if w := r.Worker(t, "w1"); hosttest.KillErrors(out) != nil || w.Status != worker.StatusStopped || w.Exit != nil || w.Reason != history.ReasonLost {
		t.Errorf("after: %+v, %v", w, hosttest.KillErrors(out))
	}
}

func TestKillWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept    *swarm.Kept
		force   bool
		removed bool
		want    []worker.Warning
	}{
		"clean":          {removed: true},
		"dirty":          {kept: &swarm.Kept{Reason: "worktree has 2 uncommitted change(s)", Forceable: true}, want: []worker.Warning{{Text: "cannot remove worktree for 'w1': worktree has 2 uncommitted change(s)", Hint: "use --force-dirty to remove anyway"}}},
		"dirty, forced":  {kept: &swarm.Kept{Reason: "dirty", Forceable: true}, force: true, removed: true},
		"locked, forced": {kept: &swarm.Kept{Reason: "worktree is locked"}, force: true, want: []worker.Warning{{Text: "cannot remove worktree for 'w1': worktree is locked"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			w := r.MustSpawn(t, "w1", "one", hosttest.InWorkspace)
			r.Tree.Kept = c.kept
			r.Tree.Rescues = []swarm.Rescue{{Ref: "refs/x", Command: "git stash"}}
			out := r.MustKill(t, worker.Selection{All: true}, kill.Request{RemoveWorkspace: true, ForceDirty: c.force})[0]
			if out.Err != nil || out.WorkspaceRemoved != c.removed {
				t.Errorf("removed %v, %v; want %v", out.WorkspaceRemoved, out.Err, c.removed)
			}
			if diff := cmp.Diff(c.want, out.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			_, err := os.Stat(w.Workspace.Path)
			if gone := err != nil; gone != c.removed || (r.Worker(t, "w1").Workspace == nil) != c.removed {
				t.Errorf("the directory is gone: %v, the record says %+v", gone, r.Worker(t, "w1").Workspace)
			}
			if c.removed && !slices.ContainsFunc(out.Notices, func(n string) bool { return strings.HasSuffix(n, "git stash") }) {
				t.Errorf("notices %q do not say how to bring the work back", out.Notices)
			}
		})
	}
}

// A second, harsher kill does not wait for the grace of the first.
func TestKillOfKill(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	inGrace, ended := make(chan struct{}), make(chan struct{})
	r.One.OnKill = func(ctx context.Context, w hosttest.Worker, o swarm.KillOptions) (swarm.KillResult, error) {
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
		out, err := r.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{Grace: &grace})
		first <- errors.Join(err, hosttest.KillErrors(out))
	}()
	<-inGrace
	other := hosttest.NewIn(t, r.Root)
	other.Starter.Peers["one"] = r.Starter.Peers["one"]
	if err := hosttest.KillErrors(other.MustKill(t, worker.Selection{All: true}, kill.Request{Signal: "SIGKILL"})); err != nil {
		t.Error(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	if w := r.Worker(t, "w1"); w.Status != worker.StatusStopped {
		t.Errorf("w1 is %s", w.Status)
	}
}

// The ends of workers that were killed before the caller gave up are recorded and reported.
func TestKillGivenUp(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "slow", "one")
	r.MustSpawn(t, "quick", "two")
	ctx, cancel := context.WithCancel(t.Context())
	r.One.OnKill = func(ctx context.Context, _ hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
		<-ctx.Done()
		return swarm.KillResult{}, ctx.Err()
	}
	out, err := r.Kill().Kill(ctx, worker.Selection{All: true}, kill.Request{Progress: func(e kill.Event) {
		if e.Worker == "quick" && e.Done {
			cancel()
		}
	}})
	if err != nil || !errors.Is(out[0].Err, context.Canceled) || out[1].Err != nil {
		t.Errorf("%v; %v", err, hosttest.KillErrors(out))
	}
	if diff := cmp.Diff(map[string]worker.Status{"slow": worker.StatusRunning, "quick": worker.StatusStopped}, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

// The caller's own worker comes last, after the answer, and detached.
func TestKillSelf(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	me := r.MustSpawn(t, "me", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "other", "one")
	r.SetEnv(t, swarm.EnvWorkerID+"="+me.ID)
	var order []string
	r.One.OnKill = func(_ context.Context, w hosttest.Worker, o swarm.KillOptions) (swarm.KillResult, error) {
		order = append(order, "kill "+w.Spec.Name)
		if o.Detach != (w.Spec.Name == "me") {
			t.Errorf("kill of %s: detach is %v", w.Spec.Name, o.Detach)
		}
		return swarm.KillResult{}, nil
	}
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{
		RemoveWorkspace: true,
		Done:            func(o kill.Outcome) { order = append(order, "done "+o.Worker.Name) },
		Answer: func(out []kill.Outcome) {
			order = append(order, "answer")
			reg, err := r.Store().ToRead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rec, err := reg.Get(t.Context(), me.ID)
			if err != nil || rec.Step != registry.StepKilling {
				t.Errorf("at the answer the record is %+v, %v", rec, err)
			}
		},
	})
	if hosttest.KillErrors(out) != nil || len(out[0].Warnings) != 1 {
		t.Errorf("%v, warnings %v", hosttest.KillErrors(out), out[0].Warnings)
	}
	want := []string{"kill other", "done me", "done other", "answer", "kill me"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if w := r.Worker(t, "me"); w.Status != worker.StatusStopped || w.Exit == nil {
		t.Errorf("me is %+v", w)
	}
}

// A registry that can't be written does not keep a worker alive.
func TestKillUnrecorded(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.One.OnKill = func(context.Context, hosttest.Worker, swarm.KillOptions) (swarm.KillResult, error) {
		// The only connection now refuses to write.
		return swarm.KillResult{}, closeRegistryForWrites(t, r)
	}
	out := r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if hosttest.KillErrors(out) != nil || len(out[0].Warnings) != 1 || !strings.Contains(out[0].Warnings[0].Text, "cannot record the end of 'w1'") {
		t.Errorf("%v, warnings %v", hosttest.KillErrors(out), out[0].Warnings)
	}
	if alive := r.One.Alive(t); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
}

// closeRegistryForWrites puts a registry for reading in the place of the open
// one, and a directory where a new one would have to be made.
func closeRegistryForWrites(t *testing.T, r *hosttest.Rig) error {
	t.Helper()
	path := r.Dir() + "/" + registry.File
	if err := os.Rename(path, path+".away"); err != nil {
		return err
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	// Last: else what looks at the registry during the kill would open it again in between.
	return r.Close()
}
