package launch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socketDir is the directory in which each plugin has one of its own for its
// socket. It is outside the state directory, whose path may be too long for a
// unix socket.
type socketDir struct {
	path string
	// empty says that nothing was in it.
	empty bool
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
	// fresh is the age from which on a directory that nobody holds was left
	// behind. Between its making and its locking nobody holds it.
	fresh = 10 * time.Second
)

// openSocketDir returns the first directory that is private and short enough.
func openSocketDir(env []string, stateDir string) (*socketDir, error) {
	uid := strconv.Itoa(os.Getuid())
	var tried []string
	for _, parent := range []string{getenv(env, "XDG_RUNTIME_DIR"), getenv(env, "TMPDIR"), "/tmp", stateDir} {
		if !filepath.IsAbs(parent) {
			continue
		}
		path := filepath.Join(parent, "swarm-"+uid)
		if parent == stateDir {
			path = filepath.Join(parent, "run")
		}
		empty, err := private(path)
		if err == nil {
			return &socketDir{path, empty}, nil
		}
		tried = append(tried, err.Error())
	}
	return nil, fmt.Errorf("no directory for the sockets of plugins: %s", strings.Join(tried, "; "))
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
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Getuid() {
		return false, fmt.Errorf("%s is not a directory of this user", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return false, fmt.Errorf("%s is open to others (chmod 700 %s)", path, path)
	}
	// Most file systems count the directories in it as links, the others say 1.
	return st.Nlink == 2, nil
}

// hold locks the directory of one plugin for the life of this process, which
// tells others that it is in use.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

// sweep removes what hosts that were killed have left behind.
func (d *socketDir) sweep() {
	dirs, err := os.ReadDir(d.path)
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

func getenv(env []string, key string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, key+"="); ok {
			return value
		}
	}
	return ""
}
