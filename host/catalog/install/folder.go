package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/safefile"
)

// stagingPrefix begins the names of directories in which something is prepared or
// taken apart. No plugin has such a name.
const stagingPrefix = ".staging-"

// downloadPrefix begins the names of directories of downloads, each of which is locked as long as it is
// used: no other call waits for a download.
const downloadPrefix = ".download-"

// lockRetry is the pause between two attempts to take a held lock, see package host.
const lockRetry = 20 * time.Millisecond

type folder struct {
	path string
	lock *flock.Flock
}

// open locks the folder of a state directory, and makes it if need be. Files
// left by calls that were killed are removed.
func open(ctx context.Context, state string) (*folder, error) {
	f := &folder{path: filepath.Join(state, catalog.Folder)}
	if err := catalog.CheckFolder(state); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return nil, err
	}
	f.lock = flock.New(filepath.Join(f.path, ".lock"), flock.SetPermissions(0o600))
	if _, err := f.lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.path, err), f.lock.Close())
	}
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		path := filepath.Join(f.path, e.Name())
		if strings.HasPrefix(e.Name(), stagingPrefix) || strings.HasPrefix(e.Name(), downloadPrefix) && !isLocked(path) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// DownloadDir makes a private directory for a download into a state directory; remove removes it. If the
// process is killed before that, the next installation does it.
func DownloadDir(ctx context.Context, state string) (dir string, remove func() error, err error) {
	f, err := open(ctx, state)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if dir, err = os.MkdirTemp(f.path, downloadPrefix+"*"); err != nil {
		return "", nil, err
	}
	lock, err := safefile.LockDir(dir, safefile.Exclusive)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// isLocked reports whether another process uses a directory of a download.
func isLocked(path string) bool {
	lock, err := safefile.LockDir(path, safefile.Exclusive|safefile.NoWait)
	if err == nil {
		_ = lock.Close()
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

func (f *folder) close() error { return f.lock.Close() }

// stagingDir makes a private directory; remove removes it.
func (f *folder) stagingDir() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp(f.path, stagingPrefix+"*")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// dir returns the directory of a version of a plugin, which need not exist.
func (f *folder) dir(name, version string) string { return filepath.Join(f.path, name, version) }

// checkNoLink refuses a plugin's folder that was replaced by a link.
func (f *folder) checkNoLink(name string) error {
	path := filepath.Join(f.path, name)
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return &catalog.LinkError{Path: path, Link: path}
	}
	return nil
}

// put renames a directory to that of a version. The previous directory moves to old, or
// takes the place of from. Where two directories can be exchanged in one step, a version
// exists at every moment: a crash in between loses none.
func (f *folder) put(from, name, version, old string) error {
	if err := f.checkNoLink(name); err != nil {
		return err
	}
	to := f.dir(name, version)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if exchange(from, to) == nil {
		return syncDir(filepath.Dir(to))
	}
	moved := os.Rename(to, old) == nil
	if err := os.Rename(from, to); err != nil {
		if moved {
			err = errors.Join(err, os.Rename(old, to))
		}
		return err
	}
	return syncDir(filepath.Dir(to))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Remove removes versions of a plugin from a state directory, whatever state they are in,
// each by one rename. Errors: [catalog.VersionError], [catalog.LinkError].
func Remove(ctx context.Context, state, name string, versions []string) (err error) {
	there := catalog.New(catalog.Options{Dir: state}).Versions(name)
	for _, v := range versions {
		if !slices.Contains(there, v) {
			return &catalog.VersionError{Name: name, Version: v, Installed: there}
		}
	}
	f, err := open(ctx, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.checkNoLink(name); err != nil {
		return err
	}
	staging, remove, err := f.stagingDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, v := range versions {
		if err := os.Rename(f.dir(name, v), filepath.Join(staging, v)); err != nil {
			return err
		}
	}
	// It stays if it is not empty, for example because of another version.
	_ = os.Remove(filepath.Join(f.path, name))
	return nil
}
