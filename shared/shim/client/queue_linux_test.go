package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// elsewhere makes the record of a running worker whose shim's pid says nothing here,
// as in another PID namespace.
func elsewhere(t *testing.T) *worker {
	t.Helper()
	w := newWorker(t)
	w.record(rundir.StateRunning)
	return w
}

func (w *worker) record(state string) {
	w.t.Helper()
	gone := rundir.Identity{PID: 1 << 22, Start: 1}
	b := rundir.EncodeStatus(rundir.Status{Version: rundir.StatusVersion, ID: w.id, State: state, Shim: gone, Main: gone})
	name := filepath.Join(w.dir, rundir.StatusFile)
	write(w.t, name+".tmp", string(b))
	if err := os.Rename(name+".tmp", name); err != nil {
		w.t.Fatal(err)
	}
}

// listen makes the control socket of a shim, and fills its queue if it is to be full.
func (w *worker) listen(full bool) (socket int) {
	w.t.Helper()
	address := &unix.SockaddrUnix{Name: filepath.Join(w.dir, rundir.Socket)}
	open := func() int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	socket = open()
	if err := errors.Join(unix.Bind(socket, address), unix.Listen(socket, 0)); err != nil {
		w.t.Fatal(err)
	}
	for full {
		err := unix.Connect(open(), address)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return socket
}

// TestFullQueue has a shim whose queue of clients is full. It must not count as dead.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	w := elsewhere(t)
	w.listen(true)
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
	over := errors.New("over")
	for name, wait := range map[string]func(context.Context) error{
		"output": func(ctx context.Context) error {
			return client.Output(ctx, w.dir, swarm.OutputOptions{Follow: true}, func(swarm.Output) error { return nil })
		},
		"watch": func(ctx context.Context) error {
			return client.Watch(ctx, w.dir, w.id, func(swarm.Status) error { return nil })
		},
		"signal": func(ctx context.Context) error {
			return client.Signal(ctx, w.dir, w.id, swarm.SignalOptions{Signal: "SIGUSR1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, over)
			defer cancel()
			if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended before its context: %v", err)
			}
		})
	}
}

// TestFollowElsewhere follows the output of a worker whose shim's pid says nothing: one
// connection is all that it costs the shim until the end.
func TestFollowElsewhere(t *testing.T) {
	t.Parallel()
	w := elsewhere(t)
	socket := w.listen(false)
	write(t, filepath.Join(w.dir, rundir.LogFile), records("01 stdout F a"))
	ended := make(chan error, 1)
	lines := make(chan string, 1)
	go func() {
		ended <- client.Output(t.Context(), w.dir, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
			lines <- string(o.Data)
			return nil
		})
	}()
	if line := <-lines; line != "a" {
		t.Errorf("line %q", line)
	}
	log, err := os.OpenFile(filepath.Join(w.dir, rundir.LogFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var waiting []int
	clients := 0
	for range 50 {
		if _, err := log.WriteString(records("02 stdout F b")); err != nil {
			t.Fatal(err)
		}
		for line := ""; line != "b"; {
			select {
			case line = <-lines:
			case err := <-ended:
				t.Fatalf("it ended before the worker: %v", err)
			}
		}
		for {
			fd, _, err := unix.Accept4(socket, unix.SOCK_CLOEXEC)
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			clients++
			waiting = append(waiting, fd)
		}
	}
	// It looks whether a process listens, and then waits on the socket.
	if clients > 10 {
		t.Errorf("%d connections to a shim that has nothing to report", clients)
	}
	w.record(rundir.StateEnded)
	for _, fd := range waiting {
		_, _ = unix.Write(fd, []byte(rundir.Answer{Kind: rundir.AnswerEnded}.String()+"\n"))
		_ = unix.Close(fd)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestKillElsewhere kills a worker whose shim is in another PID namespace and does
// not answer: that is no proof that the worker has ended.
func TestKillElsewhere(t *testing.T) {
	t.Parallel()
	w := elsewhere(t)
	w.listen(false)
	r, err := client.Kill(t.Context(), w.dir, w.id, gently)
	if !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("result %+v, %v", r, err)
	}
}
