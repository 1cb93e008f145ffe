// Package lockfile locks files that serve only as locks and are removed when the lock is
// released.
//
// One process may hold a removed file while another creates a new one at its path. So a
// process that has locked a file checks that it is still the one at its path, and begins
// again if it is not; and only an exclusive holder removes it.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// retry is the pause between two attempts to take a held lock: the system has no call that
// waits for a lock and can be cancelled.
const retry = 5 * time.Millisecond

// Lock takes an exclusive lock, and waits for it until ctx ends.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return take(path, func(l *flock.Flock) (bool, error) { return l.TryLockContext(ctx, retry) })
}

// Share takes a shared lock, which any number of processes may hold.
func Share(ctx context.Context, path string) (unlock func(), err error) {
	return take(path, func(l *flock.Flock) (bool, error) { return l.TryRLockContext(ctx, retry) })
}

// Try is like [Lock], but returns nil if the lock is held.
func Try(path string) (unlock func(), err error) { return take(path, (*flock.Flock).TryLock) }

// IsHeld reports whether a process holds the exclusive lock. It writes nothing.
func IsHeld(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	// It takes a shared lock, so that concurrent checks do not take each other for the
	// holder.
	ok, err := l.TryRLock()
	_ = l.Close() // it only drops the lock
	return err == nil && !ok
}

func take(path string, try func(*flock.Flock) (bool, error)) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of locks: %w", err)
	}
	for {
		l := flock.New(path, flock.SetPermissions(0o600))
		ok, err := try(l)
		switch {
		case err != nil:
			return nil, errors.Join(err, l.Close())
		case !ok:
			return nil, l.Close()
		case isInPlace(l):
			return func() { release(l) }, nil
		}
		_ = l.Close() // it locked nothing
	}
}

func isInPlace(l *flock.Flock) bool {
	locked, err := l.Stat()
	if err != nil {
		return false
	}
	found, err := os.Lstat(l.Path())
	return err == nil && os.SameFile(locked, found)
}

// release removes the file of a lock and then releases the lock: no other process can hold
// the file in between. A shared file is left to its last holder. The system may drop a lock
// while it converts it, so the file may be a different one by then.
func release(l *flock.Flock) {
	if ok, err := l.TryLock(); ok && err == nil && isInPlace(l) {
		_ = os.Remove(l.Path()) // the next holder reuses a file that stays
	}
	_ = l.Close()
}
