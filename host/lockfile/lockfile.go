// Package lockfile locks files that are there for nothing else and that go when their
// lock is given back.
//
// A file that goes may be taken by one process and found by another that makes it anew.
// So who has locked a file looks whether it is still the one at its path, and begins
// again if it is not; and only who holds it alone removes it.
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

// retry is how often a lock that is held is tried again: the system has no lock that can
// be waited for and given up.
const retry = 5 * time.Millisecond

// Lock takes a lock, alone, and waits for it as long as ctx lasts.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return take(path, func(l *flock.Flock) (bool, error) { return l.TryLockContext(ctx, retry) })
}

// Share is as [Lock], but any number may hold a lock that they share.
func Share(ctx context.Context, path string) (unlock func(), err error) {
	return take(path, func(l *flock.Flock) (bool, error) { return l.TryRLockContext(ctx, retry) })
}

// Try is as [Lock], but returns nil if the lock is held.
func Try(path string) (unlock func(), err error) { return take(path, (*flock.Flock).TryLock) }

// IsHeld reports whether somebody holds a lock alone. It writes nothing.
func IsHeld(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	// Shared, so that those who look do not take each other for the holder.
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

// isInPlace reports whether the file that was locked is the one that others find.
func isInPlace(l *flock.Flock) bool {
	locked, err := l.Stat()
	if err != nil {
		return false
	}
	found, err := os.Lstat(l.Path())
	return err == nil && os.SameFile(locked, found)
}

// release removes the file of a lock and gives the lock back, in this order: nobody else
// can hold the file then. One that is shared is left to its last holder. The system may
// let go of a lock to make it another one, so the file may be another one then too.
func release(l *flock.Flock) {
	if ok, err := l.TryLock(); ok && err == nil && isInPlace(l) {
		_ = os.Remove(l.Path()) // one that stays is taken by the next
	}
	_ = l.Close()
}
