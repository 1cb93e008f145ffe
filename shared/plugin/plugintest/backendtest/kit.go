package backendtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	patience = harness.Patience
	// cleanLimit is how long the end of a worker may take after its case.
	cleanLimit = time.Minute
	// shortGrace is a grace that a case waits for.
	shortGrace = 200 * time.Millisecond
	// longGrace is a grace that no case waits for.
	longGrace = 10 * time.Minute
)

type kit struct {
	harness.Kit
	subject
	settings Binary
	opener   opener
	state    string // the state directory
	runDirs  string // the directory with the run directories of local workers
}

func newKit(t T, c testCase, s Binary, open opener) *kit {
	if s.Command == nil {
		s.Command = script.Shell
	}
	k := &kit{Kit: harness.NewKit(t, c.rule), settings: s, opener: open, state: t.TempDir()}
	k.keepIn(filepath.Join(k.state, "workers"))
	k.subject = k.open(t)
	return k
}

// keepIn makes a directory the one with the run directories.
func (k *kit) keepIn(dir string) {
	k.runDirs = dir
	// A backend in this process gets the contexts that the SDK would make.
	k.Ctx = swarm.WithRunDirs(k.Ctx, dir)
}

// open makes the backend as a new process would.
func (k *kit) open(t T) subject {
	t.Helper()
	return k.opener(t, k.runDirs)
}

func (k *kit) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(k.Ctx, patience)
}

type worker struct {
	*kit

	spec   swarm.Spec
	handle swarm.Handle
	fifo   *harness.FIFO // of a local worker, which writes its lines there; else nil
	lines  int           // how many lines of another worker were read
}

func (k *kit) newSpec(s script.Script) *worker {
	k.Helper()
	id, name := harness.NewID()
	w := &worker{kit: k, spec: swarm.Spec{
		ID:      id,
		Name:    name,
		Command: k.settings.Command(s),
		Env:     []string{script.SayVar + "="},
		Kill:    swarm.KillOptions{Grace: shortGrace, Force: true},
	}}
	if k.local {
		w.makeLocal()
	}
	if k.settings.Spec != nil {
		k.settings.Spec(k.T, &w.spec)
	}
	return w
}

func (w *worker) makeLocal() {
	w.Helper()
	dir := filepath.Join(w.runDirs, w.spec.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.Fatalf("make run directory: %v", err)
	}
	w.spec.Dir = w.state
	w.spec.Local = &swarm.Local{
		RunDir: dir, StateDir: w.state, Shim: w.settings.Shim,
		HostEnv: append(client.CleanEnv(os.Environ()), harness.EngineMark(w.T, w.state)),
	}
	w.writeIn(w.state)
	w.spec.Env = append(w.spec.Env, markVar+"="+w.spec.ID)
	w.Cleanup(w.endLeft)
}

// writeIn makes the worker write its lines to a FIFO in a directory.
func (w *worker) writeIn(dir string) {
	w.Helper()
	fifo := filepath.Join(dir, w.spec.ID+".said")
	w.fifo = harness.NewFIFO(w.T, fifo)
	w.spec.Env = append(w.spec.Env, script.SayVar+"="+fifo)
}

func (k *kit) spawn(s script.Script, env ...string) *worker {
	k.Helper()
	w := k.newSpec(s)
	w.spec.Env = append(w.spec.Env, env...)
	w.start()
	return w
}

func (w *worker) start() {
	w.Helper()
	w.Must(fmt.Sprintf("Spawn of %q", w.spec.Command), w.tryStart(w.Ctx))
}

func (w *worker) tryStart(ctx context.Context) error {
	h, err := w.Spawn(ctx, w.spec)
	if err == nil {
		w.started(h)
	}
	return err
}

// started records the handle, and ends the worker after the case, through the plugin process
// that is open now.
func (w *worker) started(h swarm.Handle) {
	s := w.subject
	w.handle = h
	w.Cleanup(func() {
		// The test's context has ended when its cleanup runs.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Ctx), cleanLimit)
		defer cancel()
		_, err := s.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true, Grace: patience})
		if err != nil && !errors.Is(err, client.ErrPluginGone) { // the case killed it and called started again
			w.Errorf("clean up worker %s: %v", w.spec.ID, err)
		}
	})
}

func (k *kit) ready(s script.Script) *worker {
	k.Helper()
	w := k.spawn(s)
	if got := w.readLine(); got != "ready" {
		k.Fatalf("worker %q wrote %q instead of \"ready\"", s, got)
	}
	return w
}

func (w *worker) readLine() string {
	w.Helper()
	if w.fifo != nil {
		line, err := w.fifo.Line(patience)
		if err != nil {
			w.Fatalf("worker %q wrote no line: %v", w.spec.Command, err)
		}
		return line
	}
	if !w.has(swarm.CapOutput) {
		w.Fatalf("a backend that is not local needs the capability %q to be tested", swarm.CapOutput)
	}
	ctx, cancel := w.limited()
	defer cancel()
	var line string
	n, found := 0, errors.New("found")
	err := w.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		if o.Stream == swarm.Stderr {
			return nil // a shell reports there which of its children a signal has ended
		}
		line += string(o.Data)
		switch {
		case o.Partial:
			return nil
		case n == w.lines:
			line = strings.TrimSuffix(line, "\r") // added by a terminal
			return found
		}
		line = ""
		n++
		return nil
	})
	if !errors.Is(err, found) {
		w.Fatalf("worker %q wrote no line: %v", w.spec.Command, err)
	}
	w.lines++
	return line
}

// status returns the worker's status; an error fails the case.
func (w *worker) status() swarm.Status {
	w.Helper()
	return w.statusOf(w.subject, w.handle)
}

func (k *kit) statusOf(s subject, h swarm.Handle) swarm.Status {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	st, err := s.Status(ctx, h)
	k.Must("Status", err)
	if st.State == swarm.StateExited && st.Exit == nil {
		k.Fatal("a worker that has exited has no exit: %+v", st)
	}
	return st
}

// ended returns the worker's status once it no longer runs.
func (w *worker) ended() swarm.Status {
	w.Helper()
	var st swarm.Status
	w.until("the worker has ended", func() bool {
		st = w.status()
		return st.State != swarm.StateRunning
	})
	return st
}

// finished starts a worker and returns once it no longer runs.
func (k *kit) finished(s script.Script) *worker {
	k.Helper()
	w := k.spawn(s)
	w.ended()
	return w
}

func (w *worker) wantState(want swarm.State, who string) {
	w.Helper()
	if st := w.status(); st.State != want {
		w.Broken("%s is %s, not %s", who, st.State, want)
	}
}

func (k *kit) until(what string, ok func() bool) {
	k.Helper()
	if !harness.ComesTrue(k.Ctx, ok) {
		k.Fatal("timed out waiting until %s", what)
	}
}

func (w *worker) kill(o swarm.KillOptions) swarm.KillResult {
	w.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	r, err := w.Kill(ctx, w.handle, o)
	w.Must(fmt.Sprintf("Kill(%+v)", o), err)
	return r
}

// gentle returns the options of a kill with the backend's default signal.
func gentle() swarm.KillOptions { return swarm.KillOptions{Grace: patience, Force: true} }

// markVar is in the environment of each worker of the kit, with its id.
const markVar = "PLUGINTEST_WORKER"

// endRounds bounds how often processes are looked for: some start others before they end.
const endRounds = 20

// endLeft ends what a local worker has left behind after its case: a backend whose Kill is broken
// must not leave the workers of the kit running. A shim, which would start its worker again, goes
// first. Only processes whose environment has the id of this worker are signalled; the kit has made
// that id, and nothing else has it.
func (w *worker) endLeft() {
	// The context of the case has ended when its cleanup runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Ctx), cleanLimit)
	defer cancel()
	for _, name := range []string{swarm.EnvShim, markVar} {
		for range endRounds {
			left, err := proc.Find(func(p proc.Process) bool {
				value, _ := proc.Getenv(p.PID, name)
				return value == w.spec.ID
			})
			if err != nil || len(left) == 0 {
				break
			}
			for _, p := range left {
				_ = p.Signal(syscall.SIGKILL) // it may have ended by itself
				_ = proc.AwaitEnd(ctx, p.Identity)
			}
		}
	}
}
