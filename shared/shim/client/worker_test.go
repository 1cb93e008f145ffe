package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// worker is a worker of a test, which ends with it.
type worker struct {
	t       *testing.T
	dir, id string
}

// newWorker makes a run directory; nothing is started.
func newWorker(t *testing.T) *worker {
	t.Helper()
	return &worker{t: t, dir: t.TempDir(), id: "w-" + randomID()}
}

func start(t *testing.T, command ...string) *worker {
	t.Helper()
	w := newWorker(t)
	if err := w.start(t.Context(), w.launch(command...)); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) launch(command ...string) rundir.Launch {
	return client.LaunchOf(swarm.Spec{
		ID:      w.id,
		Command: command,
		Dir:     w.dir,
		Env:     []string{swarm.EnvWorkerID + "=" + w.id},
		Kill:    swarm.KillOptions{Grace: time.Second, Force: true},
		Local:   &swarm.Local{HostEnv: os.Environ()},
	})
}

// end ends the worker with its test.
func (w *worker) end() {
	w.t.Cleanup(func() {
		// The context of the test has ended when this runs.
		ctx := context.WithoutCancel(w.t.Context())
		if _, err := client.Kill(ctx, w.dir, w.id, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			w.t.Errorf("clean up: %v", err)
		}
	})
}

func (w *worker) start(ctx context.Context, l rundir.Launch) error {
	w.end()
	return client.Start(ctx, shimPath, w.dir, l)
}

// startElsewhere starts a sleeping worker from another process, which has the
// file as its descriptor 3 and ends then.
func (w *worker) startElsewhere(file *os.File) {
	w.t.Helper()
	w.end()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), self)
	cmd.Env = append(os.Environ(), envStart+"="+w.id, envDir+"="+w.dir, envShim+"="+shimPath)
	cmd.ExtraFiles = []*os.File{file}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

func (w *worker) status() swarm.Status {
	w.t.Helper()
	s, err := client.Status(w.dir, w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// wait waits for the end of the worker.
func (w *worker) wait() swarm.Status {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	s, err := await(ctx, w)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// await watches a worker to its end.
func await(ctx context.Context, w *worker) (s swarm.Status, err error) {
	err = client.Watch(ctx, w.dir, w.id, func(now swarm.Status) error {
		s = now
		return nil
	})
	return s, err
}

// kill kills the worker and expects success.
func (w *worker) kill(o swarm.KillOptions) swarm.KillResult {
	w.t.Helper()
	r, err := client.Kill(w.t.Context(), w.dir, w.id, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// facts is the shim's record, and loseShim kills the shim.
func (w *worker) facts() rundir.Status {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, rundir.StatusFile))
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

// firstLine waits until the worker has written something, and returns it.
func (w *worker) firstLine() string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	line := ""
	err := client.Output(ctx, w.dir, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		line = string(o.Data)
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		w.t.Fatalf("no first line: %v", err)
	}
	return line
}

// carriers are the living processes with the worker's id in their environment.
func (w *worker) carriers() []proc.Process {
	w.t.Helper()
	found, err := proc.Find(func(p proc.Process) bool {
		id, _ := proc.Getenv(p.PID, swarm.EnvWorkerID)
		return id == w.id
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}
