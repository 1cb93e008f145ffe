// Package lockfile locks files that serve only as locks and are removed when the lock is
// released.
//
// One process may hold a removed file while another creates a new one at its path. So a
// process that has locked a file checks that it is still the one at its path, and begins
// again if it is not; and only an exclusive holder removes it. A process that is killed leaves
// the file, until another one takes the lock or [Sweep] removes it.
package lockfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
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

// Try is like [Lock], but returns nil if the lock is held. [IsHeld] and [Sweep] hold a lock for
// a moment only, so they do not count.
func Try(path string) (unlock func(), err error) {
	for attempt := 1; ; attempt++ {
		unlock, err = take(path, (*flock.Flock).TryLock)
		if unlock != nil || err != nil || attempt == attempts {
			return unlock, err
		}
		time.Sleep(time.Millisecond)
	}
}

// attempts is how often Try looks at a lock that is held.
const attempts = 3

// Sweep removes the files of locks in a directory that no process holds: those whose holders
// were killed before they released them. It leaves files that are younger than age, since a
// process may be about to lock them. It returns how many it removed.
//
// It takes each lock like any other process, and removes the file as its exclusive holder. A
// process that opened the file before finds it replaced, and begins again.
func Sweep(dir string, age time.Duration) (removed int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		info, ierr := e.Info()
		if ierr != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < age {
			continue // another process has removed it, or it is not a lock
		}
		path := filepath.Join(dir, e.Name())
		// Without O_CREATE, since the file of a released lock is gone.
		l := flock.New(path, flock.SetFlag(os.O_RDONLY))
		ok, lerr := l.TryLock()
		if lerr == nil && ok && isInPlace(l) {
			if lerr = os.Remove(path); lerr == nil {
				removed++
			}
		}
		_ = l.Close()
		if lerr != nil && !errors.Is(lerr, fs.ErrNotExist) {
			err = errors.Join(err, lerr)
		}
	}
	return removed, err
}

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

// Holder is the process that holds a lock, as it has written itself into the file of the lock.
type Holder struct {
	Process proc.Identity `json:"process"`
	Since   time.Time     `json:"since"`
}

// Sign writes the calling process into the file of a lock that it holds.
func Sign(path string) error {
	self, err := proc.Self()
	if err != nil {
		return err
	}
	b, err := json.Marshal(Holder{self.Identity, time.Now()})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// HolderOf returns the process that has signed the lock; ok is false if there is none, or if it
// has only just taken the lock.
func HolderOf(path string) (h Holder, ok bool) {
	b, err := safefile.Read(path, 4096)
	return h, err == nil && json.Unmarshal(b, &h) == nil
}
