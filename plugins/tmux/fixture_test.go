package tmux_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// patience is how long what must happen soon may take.
const patience = 20 * time.Second

// stubborn is a tree that only SIGKILL ends; it says when it is ready.
const stubborn = `trap '' TERM HUP INT; sleep 999 & setsid sleep 999 & echo ready; while :; do sleep 999; done`

// fixture is a backend with a tmux server and a state directory of its own.
type fixture struct {
	t       *testing.T
	backend *tmux.Backend
	socket  string // the -L name of the server
	state   string
	env     []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, backend: tmux.New(slog.New(slog.DiscardHandler)),
		socket: "t-" + randomID(), state: t.TempDir(), env: os.Environ(),
	}
	t.Cleanup(func() { killServer(t, f.socket) })
	return f
}

func killServer(t interface{ Context() context.Context }, socket string) {
	// There may be none any more. The context of the test has ended by now.
	_ = exec.CommandContext(context.WithoutCancel(t.Context()), "tmux", "-L", socket, "kill-server").Run()
}

func randomID() string { return strings.ToLower(rand.Text()[:8]) }

// config is the user's tmux.conf.
func (f *fixture) config(lines ...string) {
	f.t.Helper()
	home := f.t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".tmux.conf"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.env = append(slices.Clone(f.env), "HOME="+home, "XDG_CONFIG_HOME="+home)
}

// tmux runs tmux as the user would.
func (f *fixture) tmux(args ...string) (string, error) {
	cmd := exec.CommandContext(f.t.Context(), "tmux", append([]string{"-u", "-L", f.socket}, args...)...)
	cmd.Env = f.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (f *fixture) mustTmux(args ...string) string {
	f.t.Helper()
	out, err := f.tmux(args...)
	if err != nil {
		f.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// windows are the names of all windows of the server, as session:window.
func (f *fixture) windows() []string {
	out, err := f.tmux("list-windows", "-a", "-F", "#{session_name}:#{window_name}")
	if err != nil || out == "" {
		return nil
	}
	lines := strings.Split(out, "\n")
	slices.Sort(lines)
	return lines
}

// worker is a worker of a fixture.
type worker struct {
	*fixture
	spec   swarm.Spec
	handle swarm.Handle
}

func (f *fixture) newWorker(name string, command ...string) *worker {
	f.t.Helper()
	id := "id-" + randomID()
	spec := swarm.Spec{
		ID: id, Name: name, Command: command, Dir: f.state,
		Env:     []string{swarm.EnvWorkerID + "=" + id},
		Options: map[string]string{"socket": f.socket},
		Kill:    swarm.KillOptions{Grace: time.Second, Force: true},
		Local: &swarm.Local{
			RunDir: filepath.Join(f.state, "workers", id), StateDir: f.state, Shim: shimPath, HostEnv: f.env,
		},
	}
	if err := os.MkdirAll(spec.Local.RunDir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	return &worker{fixture: f, spec: spec}
}

// start starts a worker that ends with the test.
func (w *worker) start() error {
	h, err := w.backend.Spawn(w.t.Context(), w.spec)
	if err != nil {
		return err
	}
	w.handle = h
	w.t.Cleanup(func() {
		ctx := context.WithoutCancel(w.t.Context())
		if _, err := w.backend.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			w.t.Errorf("clean up: %v", err)
		}
	})
	// A host does the same. The place of the window is the one that tmux reported at its
	// start.
	_, err = w.backend.Status(w.t.Context(), h)
	return err
}

func (f *fixture) spawn(name string, command ...string) *worker {
	f.t.Helper()
	w := f.newWorker(name, command...)
	if err := w.start(); err != nil {
		f.t.Fatal(err)
	}
	return w
}

func (f *fixture) spawnIn(session, name string, command ...string) *worker {
	f.t.Helper()
	w := f.newWorker(name, command...)
	w.spec.Options["session"] = session
	if err := w.start(); err != nil {
		f.t.Fatal(err)
	}
	return w
}

func (w *worker) status() swarm.Status {
	w.t.Helper()
	s, err := w.backend.Status(w.t.Context(), w.handle)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *worker) wait() swarm.Status {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	var s swarm.Status
	err := w.backend.Watch(ctx, w.handle, func(now swarm.Status) error {
		s = now
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *worker) kill(o swarm.KillOptions) swarm.KillResult {
	w.t.Helper()
	r, err := w.backend.Kill(w.t.Context(), w.handle, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// gently is what a plain kill asks for.
var gently = swarm.KillOptions{Grace: 20 * time.Second, Force: true}

// parts are what the handle holds; it is opaque to hosts, not to tests.
func (w *worker) parts() (parts struct{ Socket, Session, Window, Pane string }) {
	w.t.Helper()
	if err := json.Unmarshal(w.handle.Data, &parts); err != nil {
		w.t.Fatal(err)
	}
	return parts
}

func (w *worker) facts() rundir.Status {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.spec.Local.RunDir, rundir.StatusFile))
	if err != nil {
		w.t.Fatal(err)
	}
	var st rundir.Status
	if err := json.Unmarshal(b, &st); err != nil {
		w.t.Fatal(err)
	}
	return st
}

func (w *worker) loseShim() {
	w.t.Helper()
	st := w.facts()
	if err := st.Shim.Signal(syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the shim is gone", func() bool { return !st.Shim.Alive() })
}

// lines are what the worker wrote until now.
func (w *worker) lines() []string {
	w.t.Helper()
	var lines []string
	begun := ""
	err := w.backend.Output(w.t.Context(), w.handle, swarm.OutputOptions{}, func(o swarm.Output) error {
		begun += string(o.Data)
		if !o.Partial {
			lines = append(lines, strings.TrimSuffix(begun, "\r"))
			begun = ""
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return lines
}

func (w *worker) says(line string) {
	w.t.Helper()
	eventually(w.t, "the worker says "+line, func() bool { return slices.Contains(w.lines(), line) })
}

// carriers are the living processes with the worker's id in their environment.
func (w *worker) carriers() []proc.Process {
	w.t.Helper()
	found, err := proc.Find(func(p proc.Process) bool {
		id, _ := proc.Getenv(p.PID, swarm.EnvWorkerID)
		return id == w.spec.ID
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// eventually waits for a condition that is not announced.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}
