package statedir

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/host/lockfile"
)

// LocksDir is the directory of the locks.
const LocksDir = "locks"

// LockPath returns the path of a lock.
func (d Dir) LockPath(id string) string { return filepath.Join(string(d), LocksDir, id) }

// Lock takes the lock of a worker, waiting for it as long as ctx lasts.
func (d Dir) Lock(ctx context.Context, id string) (unlock func(), err error) {
	unlock, err = lockfile.Lock(ctx, d.LockPath(id))
	return unlock, lockError(id, err)
}

// TryLock is as lock, but returns nil if the lock is held.
func (d Dir) TryLock(id string) (unlock func(), err error) {
	unlock, err = lockfile.Try(d.LockPath(id))
	return unlock, lockError(id, err)
}

func lockError(id string, err error) error {
	if err != nil {
		return fmt.Errorf("lock worker %s: %w", id, err)
	}
	return nil
}

// Locked reports whether somebody holds the lock of a worker. It writes nothing.
func (d Dir) Locked(id string) bool { return lockfile.IsHeld(d.LockPath(id)) }
