package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A plugin notices only after a while that its host was killed, and may leave before it has
// undone the Spawn of that host. The next host asks another process of the plugin for the
// worker, and must not get one that is about to be ended. Three directories in the run
// directory of a local worker ensure that:
//
//   - A Spawn holds the lock of spawning until it has ended, its undoing included.
//   - A Find makes sought before it waits for that lock. A Spawn that comes later starts
//     nothing.
//   - A Spawn that is cancelled makes undone before its backend learns of that. A Find that
//     sees it ends the worker, if the Spawn could not, and does not find it.
const (
	spawning = "spawning"
	sought   = "sought"
	undone   = "undone"
)

// spawnLocal spawns a worker on this machine. After an error none remains.
func spawnLocal(ctx context.Context, backend swarm.Backend, spec swarm.Spec) (swarm.Handle, error) {
	mark := func(name string) string { return filepath.Join(spec.Local.RunDir, name) }
	if err := os.Mkdir(mark(spawning), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return swarm.Handle{}, err
	}
	lock, err := safefile.LockDir(mark(spawning), safefile.Exclusive|safefile.NoWait)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: worker %s is being started", swarm.ErrExists, spec.ID)
	}
	if err != nil {
		return swarm.Handle{}, err
	}
	defer func() {
		_ = os.Remove(mark(spawning))
		_ = lock.Close()
	}()
	if _, err := os.Lstat(mark(sought)); !errors.Is(err, fs.ErrNotExist) {
		return swarm.Handle{}, fmt.Errorf("%w: the start of worker %s was given up", swarm.ErrExists, spec.ID)
	}
	marked, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		_ = os.Mkdir(mark(undone), 0o700)
		cancel(ctx.Err())
	})
	defer stop()
	h, err := handOver(marked, backend, spec)
	if err == nil && !stop() {
		// Its host is gone. A mark made later would make a Find end a worker that another
		// Find gave to the next host.
		<-marked.Done()
		return swarm.Handle{}, discard(ctx, backend, h, ctx.Err())
	}
	return h, err
}

// handOver spawns a worker whose handle the host will get. After an error none remains.
func handOver(ctx context.Context, backend swarm.Backend, spec swarm.Spec) (swarm.Handle, error) {
	if mark := os.Getenv(swarm.EnvEngine); mark != "" && spec.Local != nil {
		// A server may be started with the environment of the caller, too.
		spec.Local.HostEnv = append(spec.Local.HostEnv, swarm.EnvEngine+"="+mark)
	}
	h, err := backend.Spawn(ctx, spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	err = checkHandle(h)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return h, nil
	}
	return swarm.Handle{}, discard(ctx, backend, h, err)
}

// discard ends a worker that could not be handed over because of cause.
func discard(ctx context.Context, backend swarm.Backend, h swarm.Handle, cause error) error {
	if err := endSpawned(ctx, backend, h); err != nil {
		return fmt.Errorf("%w; the worker could not be ended: %w", cause, err)
	}
	return cause
}

// endLimit is how long the end of a worker may take after a failed Spawn.
const endLimit = 10 * time.Second

// endSpawned ends a worker that no host knows.
func endSpawned(ctx context.Context, backend swarm.Backend, h swarm.Handle) error {
	if h.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	r, err := backend.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	if err == nil && r.Status.State != swarm.StateExited && r.Status.State != swarm.StateLost {
		err = errors.New("its end was not confirmed")
	}
	return err
}

// A finderBackend is a backend that can find its workers.
type finderBackend interface {
	swarm.Backend
	swarm.Finder
}

// findLocal returns the Find of a backend for workers on this machine.
func findLocal(f finderBackend) func(context.Context, swarm.Lookup) (swarm.Handle, error) {
	return func(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
		mark := func(name string) string { return filepath.Join(l.Local.RunDir, name) }
		err := os.Mkdir(mark(sought), 0o700)
		if err == nil || errors.Is(err, fs.ErrExist) {
			err = safefile.AwaitDir(ctx, mark(spawning))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return swarm.Handle{}, err
		}
		h, err := f.Find(ctx, l)
		if _, missing := os.Lstat(mark(undone)); err != nil || missing != nil {
			return h, err
		}
		if err := endSpawned(ctx, f, h); err != nil {
			return swarm.Handle{}, fmt.Errorf("%w: worker %s, whose start was undone, could not be ended: %w", swarm.ErrUnavailable, l.ID, err)
		}
		return swarm.Handle{}, fmt.Errorf("%w: the start of worker %s was undone", swarm.ErrNotFound, l.ID)
	}
}
