package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sandbox"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// undoLimit is how long a shim may take to leave when its start is undone. It is a variable
// for the test that waits for it.
var undoLimit = 8 * time.Second

// errLeft is the cause of the end of a wait for a shim that ended without an answer.
var errLeft = fmt.Errorf("%w: swarm-shim ended before it started the worker", swarm.ErrUnavailable)

// atOnce are the options for a worker that no caller knows yet.
var atOnce = swarm.KillOptions{Signal: "SIGKILL", Force: true}

// Prepared is a shim that another program starts, such as the server of a terminal
// multiplexer. It is made by [Prepare].
type Prepared struct {
	dir, id string
	ready   *os.File
}

// Prepare writes the files that a shim needs into the run directory. The program that
// starts the shim passes the directory as its only argument, and [rundir.ShimEnv] in its
// environment. For a directory in which a shim was started before,
// the error is [swarm.ErrExists].
//
// The caller waits for the outcome with Watch, and calls Close in any case.
func Prepare(dir string, l rundir.Launch) (*Prepared, error) {
	if _, err := os.Lstat(filepath.Join(dir, rundir.StatusFile)); err == nil {
		return nil, fmt.Errorf("%w: worker %s", swarm.ErrExists, l.ID)
	}
	name := filepath.Join(dir, rundir.ReadyFIFO)
	switch err := unix.Mkfifo(name, 0o600); {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%w: worker %s is being started", swarm.ErrExists, l.ID)
	case err != nil:
		return nil, &fs.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	// It is opened for writing too: opening it only for reading would block, or read end of
	// file, until there is a writer.
	ready, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW, 0)
	s := &Prepared{dir: dir, id: l.ID, ready: ready}
	if err == nil {
		err = writeLaunch(dir, l)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// writeLaunch writes the only file with secrets in it. Its mode allows reading to the same
// users who can read a process's environment.
func writeLaunch(dir string, l rundir.Launch) error {
	b, err := rundir.EncodeLaunch(l)
	if err != nil {
		return fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, rundir.LaunchFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// Watch returns nil once the worker runs. After an error neither shim nor worker remains.
// The error is [swarm.ErrInvalidSpec] if the shim refused the launch,
// [swarm.ErrUnavailable] if it ended without an answer, or the context's error.
func (s *Prepared) Watch(ctx context.Context, shim proc.Identity) error {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if proc.AwaitEnd(waiting, shim) == nil {
			cancel(errLeft)
		}
	}()
	err := s.wait(waiting)
	if err != nil {
		s.Abandon(ctx, shim)
	}
	return err
}

func (s *Prepared) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		// An empty line wakes the reader, after the lines that the shim wrote before.
		_, _ = s.ready.WriteString("\n")
	})
	defer stop()
	line, err := bufio.NewReader(s.ready).ReadString('\n')
	if err != nil {
		return fmt.Errorf("wait for the shim: %w", err)
	}
	line = strings.TrimSuffix(line, "\n")
	if line == "ok" {
		return nil
	}
	if text, ok := strings.CutPrefix(line, "error "); ok {
		err := fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, text)
		if strings.HasPrefix(text, rundir.NoSandbox) {
			err = sandbox.Explain(err)
		}
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: unexpected answer from swarm-shim: %q", swarm.ErrUnavailable, line)
}

// Abandon ends a shim that has not reported the start of its worker, and a worker that it
// may have started all the same, and returns when both are gone. It continues for a limited
// time if the context ends.
func (s *Prepared) Abandon(ctx context.Context, shim proc.Identity) {
	ctx = context.WithoutCancel(ctx)
	bounded, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	// A shim that has not read the launch file yet finds nothing to start.
	_ = os.Remove(filepath.Join(s.dir, rundir.LaunchFile))
	// The signal is for a shim that does not listen yet.
	_ = shim.Signal(syscall.SIGTERM)
	s.killStarted(bounded, shim)
	if proc.AwaitEnd(bounded, shim) == nil {
		return
	}
	// It hangs: on a full machine or disk the status of a worker that already runs may not
	// be written yet. Nothing else reports that worker.
	last, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	endWith(last, shim, s.id)
	_ = proc.AwaitEnd(last, shim)
	_, _ = Kill(last, s.dir, s.id, atOnce)
}

// killStarted kills the worker as soon as the shim has started it, and returns if the shim
// ends before that.
func (s *Prepared) killStarted(ctx context.Context, shim proc.Identity) {
	w, err := newWatch(s.dir)
	if err != nil {
		return
	}
	defer w.close()
	var owned sync.WaitGroup
	defer owned.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	owned.Go(func() {
		_ = proc.AwaitEnd(ctx, shim)
		w.wake()
	})
	for shim.Alive() && ctx.Err() == nil {
		if _, ok := Find(s.dir, s.id); ok {
			_, _ = Kill(ctx, s.dir, s.id, atOnce)
			return
		}
		w.wait()
	}
}

// Close removes the files that Prepare made and no shim has taken. Files that it can't remove
// are removed with the run directory.
func (s *Prepared) Close() {
	_ = os.Remove(filepath.Join(s.dir, rundir.ReadyFIFO))
	_ = os.Remove(filepath.Join(s.dir, rundir.LaunchFile))
	if s.ready != nil {
		_ = s.ready.Close()
	}
}
