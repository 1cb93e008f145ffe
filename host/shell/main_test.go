package shell_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/proc"
)

// patience is how long anything here may take that must happen soon.
const patience = time.Minute

// bin is where the programs are that a host needs.
var bin string

func TestMain(m *testing.M) {
	switch bin = os.Getenv(binVar); os.Getenv(roleVar) {
	case "owner":
		own()
	case "inside":
		inside()
	case "suicide":
		suicide()
	default:
		os.Exit(testMain(m))
	}
}

func testMain(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "swarm-shell-test"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(bin) }()
	err = buildtest.Programs(bin, "github.com/swarmhost/swarm/cmd/swarm-shim", "github.com/swarmhost/swarm/cmd/swarm-plugins")
	if err != nil {
		panic(err)
	}
	return m.Run()
}

// world is a state directory and what a test does with it.
type world struct {
	*testing.T
	state, dir string
	// mark is a variable that every process started here has.
	mark string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, state: t.TempDir(), dir: t.TempDir()}
	w.mark = markVar + "=" + w.dir
	t.Cleanup(func() {
		// The context of a test has ended when its clean-up runs.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		h := open(ctx, t, w.state, w.mark)
		if _, err := h.Kill().Kill(ctx, worker.Selection{All: true}, kill.Request{Signal: "SIGKILL"}); err != nil {
			t.Errorf("clean up: %v", err)
		}
		w.wantNone()
	})
	return w
}

// host returns a host of the state directory, as another call of swarm would have.
func (w *world) host() *host.Host {
	w.Helper()
	return open(w.Context(), w.T, w.state, w.mark)
}

// limited is host for shells of whose output little is kept.
func (w *world) limited(limit int64) *host.Host {
	w.Helper()
	o := options(w.state, w.mark)
	o.OutputLimit = limit
	return opened(w.Context(), w.T, o)
}

func open(ctx context.Context, t *testing.T, state, mark string) *host.Host {
	t.Helper()
	return opened(ctx, t, options(state, mark))
}

func opened(ctx context.Context, t *testing.T, o host.Options) *host.Host {
	t.Helper()
	h, err := host.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func options(state, mark string) host.Options {
	return host.Options{
		Dir:        state,
		Executable: filepath.Join(bin, "swarm"),
		// None of it is inside a worker, wherever the tests run.
		Env: []string{"PATH=" + os.Getenv("PATH"), "SWARM_SHIM=test", mark},
	}
}

// start begins a command in the background.
func (w *world) start(h *host.Host, s shell.Session, command string) shell.Shell {
	w.Helper()
	sh, err := shell.Start(w.Context(), h, shell.Command{Command: command, Dir: w.dir, Session: s})
	if err != nil {
		w.Fatalf("start %q: %v", command, err)
	}
	return sh
}

// next returns what is new of a shell.
func (w *world) next(h *host.Host, s shell.Session, id, filter string) shell.Output {
	w.Helper()
	out, err := shell.Next(w.Context(), h, s, id, filter)
	if err != nil {
		w.Fatalf("output of %s: %v", id, err)
	}
	return out
}

// until returns the output of a shell once it holds a text.
func (w *world) until(h *host.Host, s shell.Session, id, text string) string {
	w.Helper()
	var all strings.Builder
	w.wait("the shell says "+text, func() bool {
		all.WriteString(w.next(h, s, id, "").Text)
		return strings.Contains(all.String(), text)
	})
	return all.String()
}

// ended returns a shell and all its output once it no longer runs.
func (w *world) ended(h *host.Host, s shell.Session, id string) (shell.Shell, string) {
	w.Helper()
	var all strings.Builder
	var out shell.Output
	w.wait("the shell has ended", func() bool {
		out = w.next(h, s, id, "")
		all.WriteString(out.Text)
		return out.Shell.Status != shell.Running && !out.More
	})
	return out.Shell, all.String()
}

// kill kills a shell; what the test does not say is what the tool has by default.
func (w *world) kill(h *host.Host, s shell.Session, req shell.KillRequest) shell.KillResult {
	w.Helper()
	res, err := shell.Kill(w.Context(), h, s, req)
	if err != nil {
		w.Fatalf("kill %s: %v", req.ID, err)
	}
	return res
}

// gently is what the tool asks for by default.
func gently(id string) shell.KillRequest {
	return shell.KillRequest{ID: id, Signal: "SIGTERM", Force: true, Timeout: patience}
}

// wait waits for a condition that no one announces.
func (w *world) wait(what string, ok func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.Fatalf("waited in vain until %s", what)
		}
	}
}

// alive returns the processes of all workers of this world, found by nothing that
// swarm knows; shims and plugins are not among them.
func (w *world) alive() []proc.Process {
	w.Helper()
	name, value, _ := strings.Cut(w.mark, "=")
	ps, err := proc.Find(func(p proc.Process) bool {
		v, ok := proc.Getenv(p.PID, name)
		if !ok || v != value {
			return false
		}
		shimProc, _ := proc.Getenv(p.PID, "SWARM_SHIM")
		return shimProc == "" && !strings.HasPrefix(p.Name, "swarm-") && p.Alive()
	})
	if err != nil {
		w.Error(err)
	}
	return ps
}

func (w *world) wantNone() {
	w.Helper()
	if ps := w.alive(); len(ps) > 0 {
		w.Errorf("still alive: %v", ps)
	}
}
