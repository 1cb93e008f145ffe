package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

// socketDir is the directory in which each plugin has one of its own for its
// socket. It is outside the state directory, whose path may be too long for a
// unix socket.
type socketDir struct {
	path string
	// empty says that nothing was in it.
	empty bool
	// lock is held if the directory is private to this host and removed with it.
	lock *os.File
}

const (
	// ownPrefix is what go-plugin's names for such directories begin with.
	ownPrefix = "plugin-dir"
	// longest is the longest path of a unix socket that all systems take: darwin
	// has 104 bytes with the terminating zero.
	longest = 103
	// below is the length of what is added to the directory: a separator, a name
	// and a random number of up to ten digits, twice.
	below = len("/plugin-dir0123456789/plugin0123456789")
	// fresh is the age from which an unlocked directory counts as left behind. A new
	// directory is unlocked for a moment.
	fresh = 10 * time.Second
)

// openSocketDir returns the first directory that is private and short enough.
func openSocketDir(env []string, stateDir string) (*socketDir, error) {
	return firstSocketDir([]string{environ.Get(env, "XDG_RUNTIME_DIR"), environ.Get(env, "TMPDIR"), "/tmp"}, stateDir)
}

// firstSocketDir is [openSocketDir] with the directories for temporary files to try. Other
// users can write some of them, and take the name that all hosts of this user share; the
// host then makes a directory of its own with a random name.
func firstSocketDir(parents []string, stateDir string) (*socketDir, error) {
	name := "swarm-" + strconv.Itoa(os.Getuid())
	var tried []string
	var usable []string
	for _, parent := range parents {
		if !filepath.IsAbs(parent) {
			continue
		}
		if err := trust.Path(parent); err != nil {
			tried = append(tried, err.Error())
			continue
		}
		usable = append(usable, parent)
		path := filepath.Join(parent, name)
		empty, err := private(path)
		if err == nil {
			return &socketDir{path: path, empty: empty}, nil
		}
		tried = append(tried, err.Error())
	}
	path := filepath.Join(stateDir, "run")
	empty, err := private(path)
	if err == nil {
		return &socketDir{path: path, empty: empty}, nil
	}
	tried = append(tried, err.Error())
	for _, parent := range usable {
		sweepOwn(parent, name)
		d, err := ownSocketDir(parent, name)
		if err == nil {
			return d, nil
		}
		tried = append(tried, err.Error())
	}
	return nil, fmt.Errorf("no directory for the sockets of plugins: %s", strings.Join(tried, "; "))
}

// ownSocketDir makes a directory for this host alone.
func ownSocketDir(parent, name string) (*socketDir, error) {
	// The random part has up to ten digits.
	if len(filepath.Join(parent, name))+len("-0123456789")+below > longest {
		return nil, fmt.Errorf("%s is too long for a socket", parent)
	}
	path, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &socketDir{path: path, empty: true, lock: lock}, nil
}

// sweepOwn removes what hosts that were killed have left of [ownSocketDir].
func sweepOwn(parent, name string) {
	dirs, err := filepath.Glob(filepath.Join(parent, name+"-*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ownedHere(info) || time.Since(info.ModTime()) < fresh {
			continue
		}
		if lock, err := hold(dir); err == nil {
			(&socketDir{path: dir}).sweep()
			_ = os.Remove(dir)
			_ = lock.Close()
		}
	}
}

// close removes the directory if it is this host's alone. The plugins have ended.
func (d *socketDir) close() {
	if d != nil && d.lock != nil {
		_ = os.Remove(d.path)
		_ = d.lock.Close()
		d.lock = nil
	}
}

// ownedHere reports whether a file belongs to this user, not only to one that is
// trusted.
func ownedHere(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// private makes the directory, or checks that it is ours alone.
func private(path string) (empty bool, err error) {
	if len(path)+below > longest {
		return false, fmt.Errorf("%s is too long for a socket", path)
	}
	if err := os.Mkdir(path, 0o700); err == nil {
		return true, nil
	} else if !os.IsExist(err) {
		return false, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if !info.IsDir() || !ownedHere(info) {
		return false, fmt.Errorf("%s is not a directory of this user", path)
	}
	// Other users can't write trusted files, but may read them.
	if info.Mode().Perm()&0o077 != 0 {
		return false, fmt.Errorf("%s is open to others (chmod 700 %s)", path, path)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	// Most file systems count the directories in it as links, the others say 1.
	return ok && st.Nlink == 2, nil
}

// hold locks the directory of one plugin for the life of this process, which
// shows others that it is in use.
func hold(dir string) (*os.File, error) {
	return safefile.LockDir(dir, safefile.Exclusive|safefile.NoWait)
}

// sweep removes what hosts that were killed have left behind.
func (d *socketDir) sweep() {
	dirs, err := safefile.ReadDir(d.path)
	if err != nil {
		return
	}
	for _, entry := range dirs {
		if info, err := entry.Info(); err == nil && abandoned(info) {
			dir := filepath.Join(d.path, entry.Name())
			if f, err := hold(dir); err == nil {
				_ = os.RemoveAll(dir)
				_ = f.Close()
			}
		}
	}
}

func abandoned(info fs.FileInfo) bool {
	return info.IsDir() && strings.HasPrefix(info.Name(), ownPrefix) && time.Since(info.ModTime()) > fresh
}
