package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestLockFile is about what may lie where the lock is to be.
func TestLockFile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(f *fixture, path string) error
		want string // in the error; empty: it is used
	}{
		{name: "nothing", make: func(*fixture, string) error { return nil }},
		{name: "file", make: func(_ *fixture, path string) error { return os.WriteFile(path, nil, 0o600) }},
		{
			name: "dangling link", want: "is a symbolic link",
			make: func(f *fixture, path string) error { return os.Symlink(f.top+"/elsewhere", path) },
		},
		{
			name: "link", want: "is a symbolic link",
			make: func(f *fixture, path string) error { return os.Symlink(filepath.Join(f.repo, "tracked"), path) },
		},
		{
			name: "FIFO", want: "is a FIFO",
			make: func(_ *fixture, path string) error { return unix.Mkfifo(path, 0o600) },
		},
		{
			name: "directory", want: "is a directory",
			make: func(_ *fixture, path string) error { return os.Mkdir(path, 0o700) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.must(tt.make(f, filepath.Join(f.repo, ".git", "swarm.lock")))
			_, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Create: %v, want %q", err, tt.want)
			}
			if f.exists(f.top + "/elsewhere") {
				t.Error("a file was made at the end of the link")
			}
		})
	}
}

// TestLockIsShared is about a repository that several users write.
func TestLockIsShared(t *testing.T) {
	t.Parallel()
	for shared, want := range map[string]fs.FileMode{"umask": 0o600, "group": 0o660, "0660": 0o660, "world": 0o664} {
		f := newFixture(t)
		repo := filepath.Join(f.top, "shared")
		f.git(f.top, "init", "-q", "--shared="+shared, repo)
		f.write(repo, "file", "one\n")
		f.git(repo, "add", "file")
		f.git(repo, "commit", "-qm", "first")
		path := filepath.Join(repo, ".git", "swarm.lock")
		for _, left := range []bool{false, true} {
			if left {
				// By a process that ended before it had set the mode.
				f.must(os.Chmod(path, 0o600))
			}
			f.create(swarm.WorkspaceSpec{ID: "id-" + strconv.FormatBool(left), Name: "w" + strconv.FormatBool(left), Base: repo})
			info, err := os.Stat(path)
			f.must(err)
			git, err := os.Stat(filepath.Join(repo, ".git", "HEAD"))
			f.must(err)
			// The umask may add to what the setting asks for.
			if got := info.Mode().Perm(); got != git.Mode().Perm() || got&want != want {
				t.Errorf("--shared=%s: the mode of the lock is %04o, that of HEAD is %04o", shared, got, git.Mode().Perm())
			}
		}
	}
}

// TestLockIsBounded is about a lock that does not become free.
func TestLockIsBounded(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	held, err := os.OpenFile(filepath.Join(f.repo, ".git", "swarm.lock"), os.O_RDWR, 0)
	f.must(err)
	defer held.Close()
	f.must(unix.Flock(int(held.Fd()), unix.LOCK_EX))
	w := newWorkspace()
	w.lockLimit = 50 * time.Millisecond
	_, err = w.Create(t.Context(), swarm.WorkspaceSpec{ID: "id-v", Name: "v", Base: f.repo})
	if !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("Create: %v", err)
	}
	if pid := "(pid " + strconv.Itoa(os.Getpid()) + ")"; !strings.Contains(err.Error(), pid) && !strings.Contains(err.Error(), "another process") {
		t.Errorf("the error does not name the holder, %s: %v", pid, err)
	}
	res, err := w.Remove(t.Context(), f.ref, swarm.RemoveOptions{})
	if err != nil || res.Kept == nil || !strings.Contains(res.Kept.Reason, "locked by") {
		t.Errorf("Remove: %+v, %v", res, err)
	}
	if !f.exists(f.ref.Path) {
		t.Error("the worktree was removed")
	}
}
