package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A test binary that is started with this variable is a host that spawns
// workers in the directory that it names.
const helperRoot = "HOST_TEST_ROOT"

// stepRespawn begins the steps of respawns.
const stepRespawn = "respawn "

// TestHelperSpawn is not a test but the main of another process: it spawns one
// worker, or respawns it, and says how far it is, and then does not go on.
func TestHelperSpawn(t *testing.T) {
	root := os.Getenv(helperRoot)
	if root == "" {
		return
	}
	r := rigIn(t, root)
	last, again := strings.CutPrefix(os.Getenv("HOST_TEST_STOP"), stepRespawn)
	stop := func(at string) {
		if at == last {
			fmt.Println("at " + os.Getenv("HOST_TEST_STOP"))
			select {}
		}
	}
	agent := os.Getenv("HOST_TEST_AGENT") != ""
	if agent {
		r.setEnv()
	}
	r.tree.afterCreate = func(context.Context) error { stop("workspace"); return nil }
	r.one.beforeSpawn = func(context.Context, swarm.Spec) error { stop("before"); return nil }
	r.one.afterSpawn = func(context.Context, swarm.Spec) error { stop("after"); return nil }
	if again {
		_, err := r.Respawn(t.Context(), os.Getenv("HOST_TEST_NAME"), RespawnRequest{CleanFirst: last == "workspace"})
		t.Fatalf("the respawn was not stopped: %v", err)
	}
	req := r.request(os.Getenv("HOST_TEST_NAME"), "one")
	if os.Getenv("HOST_TEST_STOP") != "" {
		withTree(&req)
	}
	if agent {
		asAgent(&req)
	}
	if _, err := r.Spawn(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func helper(t *testing.T, root, name, stop string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperSpawn$")
	cmd.Env = append(os.Environ(), helperRoot+"="+root, "HOST_TEST_NAME="+name, "HOST_TEST_STOP="+stop)
	return cmd
}

// crashAt starts a host that spawns w1 and kills it at a step.
func crashAt(t *testing.T, root, step string, env ...string) {
	t.Helper()
	cmd, wait := stopAt(t, root, step, env...)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait()
}

func stopAt(t *testing.T, root, step string, env ...string) (*exec.Cmd, func()) {
	t.Helper()
	cmd := helper(t, root, "w1", step)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	var seen strings.Builder
	for {
		line, err := in.ReadString('\n')
		seen.WriteString(line)
		if strings.TrimSpace(line) == "at "+step {
			break
		}
		if err != nil {
			t.Fatalf("the helper did not come to %q: %s", step, seen.String())
		}
	}
	return cmd, func() {
		_, _ = io.Copy(io.Discard, in)
		_ = cmd.Wait() // it was killed
	}
}

func TestCrashInSpawn(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]struct {
		status WorkerStatus
		reason string
		alive  []string
	}{
		"workspace": {StatusStopped, history.ReasonInterrupted, []string{"other"}},
		"before":    {StatusStopped, history.ReasonInterrupted, []string{"other"}},
		"after":     {StatusRunning, "", []string{"other", "w1"}},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			crashAt(t, root, step)
			r := rigIn(t, root)
			if w := r.get(t, "w1"); w.Status != StatusStarting || w.Reason != history.ReasonInterrupted {
				t.Errorf("after the crash: %s (%s), want %s (%s)", w.Status, w.Reason, StatusStarting, history.ReasonInterrupted)
			}
			// Another backend does not settle it, its own does.
			r.spawn(t, "far", "two")
			if w := r.get(t, "w1"); w.Status != StatusStarting {
				t.Errorf("a spawn by another backend made it %s", w.Status)
			}
			r.spawn(t, "other", "one")
			w := r.get(t, "w1")
			if w.Status != want.status || w.Reason != want.reason {
				t.Errorf("settled as %s (%s), want %s (%s)", w.Status, w.Reason, want.status, want.reason)
			}
			if w.Workspace == nil {
				t.Error("the workspace was forgotten")
			}
			if diff := cmp.Diff(want.alive, r.one.alive(t)); diff != "" {
				t.Errorf("alive (-want +got):\n%s", diff)
			}
			// A settled worker can be ended and cleaned.
			if out, err := r.Kill(t.Context(), Selection{All: true}, KillRequest{}); err != nil || errorOf(out) != nil {
				t.Error(err, errorOf(out))
			}
			if out, err := r.Clean(t.Context(), Selection{All: true}, CleanRequest{}); err != nil || len(out) != 3 {
				t.Errorf("cleaned %v, %v", out, err)
			}
			if left := r.leftovers(t); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// errorOf joins the errors of outcomes.
func errorOf(out []KillOutcome) error {
	var errs []error
	for _, o := range out {
		errs = append(errs, o.Err)
	}
	return errors.Join(errs...)
}

func TestKillSettles(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"workspace", "before", "after"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			crashAt(t, root, step)
			r := rigIn(t, root)
			out, err := r.Kill(t.Context(), Selection{Names: []string{"w1"}}, KillRequest{})
			if err != nil || len(out) != 1 || out[0].Err != nil {
				t.Fatalf("outcomes %+v, %v", out, err)
			}
			if w := r.get(t, "w1"); w.Status != StatusStopped {
				t.Errorf("after the kill it is %s", w.Status)
			}
			if alive := r.one.alive(t); len(alive) > 0 {
				t.Errorf("still alive: %v", alive)
			}
		})
	}
}

// A spawn that is under way is left alone by others, and a kill waits for it.
func TestSpawnUnderWay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reached, goOn := make(chan struct{}), make(chan struct{})
	r.one.afterSpawn = func(_ context.Context, s swarm.Spec) error {
		if s.Name == "slow" {
			close(reached)
			<-goOn
		}
		return nil
	}
	spawned := make(chan error, 1)
	go func() {
		_, err := r.Spawn(t.Context(), r.request("slow", "one"))
		spawned <- err
	}()
	<-reached
	other := rigIn(t, r.root)
	if w := other.get(t, "slow"); w.Status != StatusStarting || w.Reason != "" {
		t.Errorf("in its spawn it is %s (%s)", w.Status, w.Reason)
	}
	other.spawn(t, "quick", "one")
	if w := other.get(t, "slow"); w.Status != StatusStarting {
		t.Errorf("another spawn made it %s", w.Status)
	}
	if out, err := other.Clean(t.Context(), Selection{Names: []string{"slow"}}, CleanRequest{}); err != nil || !errors.Is(out[0].Err, ErrRunning) {
		t.Errorf("clean: %+v, %v", out, err)
	}
	killed := make(chan []KillOutcome, 1)
	go func() {
		out, err := other.Kill(t.Context(), Selection{Names: []string{"slow"}}, KillRequest{})
		if err != nil {
			t.Error(err)
		}
		killed <- out
	}()
	close(goOn)
	if err := <-spawned; err != nil {
		t.Error(err)
	}
	if out := <-killed; errorOf(out) != nil {
		t.Error(errorOf(out))
	}
	if diff := cmp.Diff([]string{"quick"}, r.one.alive(t)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
}

// A spawn whose backend can't tell is not given up.
func TestSettleUnavailable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	crashAt(t, root, "after")
	r := rigIn(t, root)
	r.plugins.errs["one"] = swarm.ErrUnavailable
	out, err := r.Kill(t.Context(), Selection{Names: []string{"w1"}}, KillRequest{})
	if err != nil || len(out) != 1 || !errors.Is(out[0].Err, swarm.ErrUnavailable) {
		t.Fatalf("outcomes %+v, %v", out, err)
	}
	reg, err := r.store.Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil || len(recs) != 1 || recs[0].State != registry.Starting {
		t.Errorf("records %+v, %v; want it still starting", recs, err)
	}
}

func TestManySpawns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 25
	errs := make(chan error, 2*n)
	for i := range n {
		go func() {
			_, err := r.Spawn(t.Context(), r.request(fmt.Sprintf("g%d", i), "one"))
			errs <- err
		}()
		go func() {
			out, err := helper(t, r.root, fmt.Sprintf("p%d", i), "").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			errs <- err
		}()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	ws := r.summary(t)
	if len(ws) != 2*n || len(r.one.alive(t)) != 2*n {
		t.Fatalf("%d records and %d workers, want %d", len(ws), len(r.one.alive(t)), 2*n)
	}
	out, err := r.Kill(t.Context(), Selection{All: true}, KillRequest{})
	if err != nil || errorOf(out) != nil || len(out) != 2*n {
		t.Error(err, errorOf(out))
	}
	if alive := r.one.alive(t); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
}

// Of many spawns of one name one wins, and nothing is left of the others.
func TestOneName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 20
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := r.Spawn(t.Context(), r.request("same", "one"))
			errs <- err
		}()
	}
	won := 0
	for range n {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, ErrExists):
			t.Error(err)
		}
	}
	if ids, err := r.dir.RunDirs(); err != nil || won != 1 || len(ids) != 1 || len(r.one.alive(t)) != 1 {
		t.Errorf("%d won, run directories %v, alive %v, %v", won, ids, r.one.alive(t), err)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a, b := statedir.NewID(now), statedir.NewID(now.Add(time.Millisecond))
	if len(a) != 16 || a >= b || a == statedir.NewID(now) {
		t.Errorf("ids %s, %s: want 16 digits in the order of time, and no two the same", a, b)
	}
}
