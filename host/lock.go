package host

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/host/lockfile"
)

const locksDir = "locks"

func (h *Host) lockPath(id string) string { return filepath.Join(h.opts.Dir, locksDir, id) }

// lock takes the lock of a worker, waiting for it as long as ctx lasts.
func (h *Host) lock(ctx context.Context, id string) (unlock func(), err error) {
	unlock, err = lockfile.Lock(ctx, h.lockPath(id))
	return unlock, lockError(id, err)
}

// tryLock is as lock, but returns nil if the lock is held.
func (h *Host) tryLock(id string) (unlock func(), err error) {
	unlock, err = lockfile.Try(h.lockPath(id))
	return unlock, lockError(id, err)
}

func lockError(id string, err error) error {
	if err != nil {
		return fmt.Errorf("lock worker %s: %w", id, err)
	}
	return nil
}

// locked reports whether somebody holds the lock of a worker. It writes nothing.
func (h *Host) locked(id string) bool { return lockfile.IsHeld(h.lockPath(id)) }
