package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const locksDir = "locks"

// lockRetry is how often a lock that is held is tried again: a lock that can be
// waited for and given up is not to be had of the system.
const lockRetry = 5 * time.Millisecond

func (h *Host) lockPath(id string) string { return filepath.Join(h.opts.Dir, locksDir, id) }

// lock takes the lock of a worker, waiting for it as long as ctx lasts. Unlocking it
// removes its file. Who has waited for a file that was removed meanwhile, or that
// somebody else has made anew, begins again.
func (h *Host) lock(ctx context.Context, id string) (unlock func(), err error) {
	for {
		l, err := h.lockFile(id)
		if err != nil {
			return nil, err
		}
		_, err = l.TryLockContext(ctx, lockRetry)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock worker %s: %w", id, err), l.Close())
		}
		if isInPlace(l) {
			return unlocker(l), nil
		}
		_ = l.Close() // it locked nothing
	}
}

// tryLock is as lock, but returns nil if the lock is held.
func (h *Host) tryLock(id string) (unlock func(), err error) {
	for {
		l, err := h.lockFile(id)
		if err != nil {
			return nil, err
		}
		ok, err := l.TryLock()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock worker %s: %w", id, err), l.Close())
		}
		if !ok {
			return nil, l.Close()
		}
		if isInPlace(l) {
			return unlocker(l), nil
		}
		_ = l.Close() // it locked nothing
	}
}

// isInPlace reports whether the file that was locked is the one that others find.
func isInPlace(l *flock.Flock) bool {
	locked, err := l.Stat()
	if err != nil {
		return false
	}
	found, err := os.Lstat(l.Path())
	return err == nil && os.SameFile(locked, found)
}

// unlocker returns what removes the file of a lock that is held, and gives the lock
// back, in this order: nobody else can hold the file then.
func unlocker(l *flock.Flock) func() {
	return func() {
		_ = os.Remove(l.Path()) // one that stays is taken by the next
		_ = l.Close()
	}
}

func (h *Host) lockFile(id string) (*flock.Flock, error) {
	path := h.lockPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of locks: %w", err)
	}
	return flock.New(path, flock.SetPermissions(0o600)), nil
}

// locked reports whether somebody holds the lock of a worker. It writes nothing.
func (h *Host) locked(id string) bool {
	l := flock.New(h.lockPath(id), flock.SetFlag(os.O_RDONLY))
	// Shared, so that those who look are not taken for a spawn by each other.
	ok, err := l.TryRLock()
	_ = l.Close() // it only drops the lock
	return err == nil && !ok
}
