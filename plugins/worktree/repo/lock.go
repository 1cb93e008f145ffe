package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lockFile is in the common git directory.
const lockFile = "swarm.lock"

// Lock keeps all other swarm processes from making or removing worktrees of this
// repository. The file is never removed: another process may be waiting for it.
func (r *Repo) Lock(ctx context.Context, limit time.Duration) (unlock func(), err error) {
	path := filepath.Join(r.Common, lockFile)
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("lock repository: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	// No system call waits for a free lock and for the end of a context at once.
	const shortest, longest = 5 * time.Millisecond, 50 * time.Millisecond
	for pause := shortest; ; pause = min(2*pause, longest) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return nil, fmt.Errorf("lock repository: %w", &os.PathError{Op: "flock", Path: path, Err: err})
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock repository: %w", ctx.Err())
		case <-deadline.C:
			return nil, fmt.Errorf("%w: %s is locked by %s, and was not free within %s", swarm.ErrUnavailable, path, holder(f), limit)
		case <-time.After(pause):
		}
	}
}

// openLock opens the lock's file, or creates it. Everyone who can write the repository can
// replace it by anything.
func openLock(path string) (*os.File, error) {
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	// core.sharedRepository has set the mode of the directory.
	mode := dir.Mode().Perm() & 0o666
	for {
		f, err := safefile.OpenForeign(path, 0)
		if errors.Is(err, fs.ErrNotExist) {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_CLOEXEC, mode)
		}
		if errors.Is(err, fs.ErrExist) {
			continue // another process was faster
		}
		if err != nil {
			return nil, err
		}
		share(f, mode)
		return f, nil
	}
}

// share corrects the mode of this user's lock: the umask may have reduced it, and earlier
// versions made it private. A file with a second name, or one that is not empty, may be
// something else.
func share(f *os.File, mode fs.FileMode) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err == nil &&
		int(st.Uid) == os.Geteuid() && st.Nlink == 1 && st.Size == 0 && fs.FileMode(st.Mode)&0o777 != mode {
		_ = f.Chmod(mode) // without it others get "permission denied"
	}
}
