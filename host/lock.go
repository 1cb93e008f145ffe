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

// lock takes the lock of a worker, waiting for it as long as ctx lasts. The file
// is never removed: who waits for a removed one would get a lock of its own.
func (h *Host) lock(ctx context.Context, id string) (unlock func(), err error) {
	l, err := h.lockFile(id)
	if err != nil {
		return nil, err
	}
	if _, err := l.TryLockContext(ctx, lockRetry); err != nil {
		return nil, errors.Join(fmt.Errorf("lock worker %s: %w", id, err), l.Close())
	}
	return func() { _ = l.Close() }, nil
}

// tryLock is as lock, but returns nil if the lock is held.
func (h *Host) tryLock(id string) (unlock func(), err error) {
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
	return func() { _ = l.Close() }, nil
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
