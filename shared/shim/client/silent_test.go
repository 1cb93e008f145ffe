package client_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// choosy ends by SIGUSR1 alone, and says when it is ready.
const choosy = `trap 'exit 7' USR1; trap '' TERM HUP; echo ready; while :; do sleep 0.02; done`

func (w *worker) removeSocket() {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, rundir.Socket)); err != nil {
		w.t.Fatal(err)
	}
}

// dumb puts a socket in the place of the shim's that accepts each connection and answers none.
func (w *worker) dumb() {
	w.t.Helper()
	w.removeSocket()
	l, err := net.Listen("unix", filepath.Join(w.dir, rundir.Socket))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = l.Close() })
	go func() {
		var taken []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			taken = append(taken, c)
		}
		for _, c := range taken {
			_ = c.Close()
		}
	}()
}

// TestKillWithCallersOptions kills workers whose shim can't be reached over its
// socket: with the options of the caller, not with the worker's own policy.
func TestKillWithCallersOptions(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(*worker){
		"no socket":      (*worker).removeSocket,
		"another socket": (*worker).dumb,
		"no permission": func(w *worker) {
			if err := os.Chmod(filepath.Join(w.dir, rundir.Socket), 0); err != nil {
				w.t.Fatal(err)
			}
		},
		"stopped, full queue": func(w *worker) {
			if err := w.facts().Shim.Signal(syscall.SIGSTOP); err != nil {
				w.t.Fatal(err)
			}
			w.fillQueue()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sh", "-c", choosy)
			w.firstLine()
			hide(w)
			r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Signal: "SIGTERM", Grace: 100 * time.Millisecond})
			if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) == 0 || r.Status.State != swarm.StateRunning {
				t.Fatalf("without force: %+v, %v", r, err)
			}
			r = w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: time.Minute, Force: true})
			if r.Signal != "SIGUSR1" || r.Forced || r.AlreadyEnded {
				t.Errorf("result %+v", r)
			}
			if e := r.Status.Exit; e == nil || e.Code != 7 || e.Cause != swarm.CauseKilled {
				t.Errorf("exit %+v", e)
			}
			if r := w.kill(gently); !r.AlreadyEnded || r.Signal != "" {
				t.Errorf("a kill of the ended worker: %+v", r)
			}
		})
	}
}

// fillQueue connects to a stopped shim until its queue is full.
func (w *worker) fillQueue() {
	w.t.Helper()
	for {
		c, err := net.Dial("unix", filepath.Join(w.dir, rundir.Socket))
		if errors.Is(err, syscall.EAGAIN) {
			return
		}
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = c.Close() })
	}
}

// TestKillByHand kills a worker whose shim takes no kill at all: its processes are
// ended from here, as its caller says.
func TestKillByHand(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	w.removeSocket()
	if err := os.Mkdir(filepath.Join(w.dir, rundir.OrderFile), 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Signal: "SIGTERM", Grace: 100 * time.Millisecond})
	if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) < 3 {
		t.Fatalf("without force: %+v, %v", r, err)
	}
	r = w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: 100 * time.Millisecond, Force: true})
	if !r.Forced || r.Signal != "SIGTERM" || r.AlreadyEnded || r.Status.State != swarm.StateExited {
		t.Errorf("result %+v", r)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	left, err := filepath.Glob(filepath.Join(w.dir, rundir.OrderFile+".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}
