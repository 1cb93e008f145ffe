package inspect

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
)

// snapshot is the state of the files of a worktree, for finding changes between two
// moments.
type snapshot struct {
	sum [sha256.Size]byte
	// repositories are the .git of all repositories in the worktree but its own,
	// relative to it. A bare repository counts as if it had one.
	repositories []string
	// fixed are the directories whose files can't be removed.
	fixed []string
	// files are its regular files and links, pipes its FIFOs, devices its devices, and empty
	// the directories in which nothing is; relative to it, without its own .git.
	files, pipes, devices, empty []string
}

// readByGit are files in a working tree that git opens, and would wait for.
var readByGit = []string{".gitignore", ".gitattributes", ".gitmodules"}

// take records every file of a worktree and of its administrative directory. It reads
// no contents: the kernel changes the ctime of a file with every write.
func take(t *Tree) (snapshot, error) {
	var s snapshot
	sum := sha256.New()
	if err := s.addTree(sum, t.Ref.Path); err != nil {
		return s, err
	}
	// Submodules keep their repositories here, on no other device.
	if err := new(snapshot).addTree(sum, t.Admin.Dir); err != nil {
		return s, err
	}
	sum.Sum(s.sum[:0])
	return s, nil
}

func (s *snapshot) addTree(sum hash.Hash, dir string) error {
	st, err := lstat(dir)
	if err != nil {
		return err
	}
	return s.add(sum, st.Dev, dir, "")
}

// add adds the contents of the directory rel of root.
func (s *snapshot) add(sum hash.Hash, dev any, root, rel string) error {
	entries, err := os.ReadDir(filepath.Join(root, rel))
	if err != nil {
		return err
	}
	if len(entries) > 0 && !writable(filepath.Join(root, rel)) {
		s.fixed = append(s.fixed, filepath.Join(root, rel))
	}
	bare := 0
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		st, err := lstat(filepath.Join(root, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %o %d %d %d.%d %d.%d\n", name, st.Mode, st.Ino, st.Size,
			st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec)
		if rel != "" && isDotGit(e.Name()) {
			s.repositories = append(s.repositories, name)
		}
		switch e.Name() {
		case "HEAD", "objects", "refs":
			bare++
		}
		s.list(name, e.Type())
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			if opened := slices.Contains(readByGit, e.Name()); opened && st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFLNK {
				return fmt.Errorf("%s is not a regular file", git.Quote(name))
			}
			continue
		}
		if any(st.Dev) != dev {
			return fmt.Errorf("something is mounted on %s", git.Quote(name))
		}
		if err := s.add(sum, dev, root, name); err != nil {
			return err
		}
	}
	if len(entries) == 0 && rel != "" {
		s.empty = append(s.empty, rel)
	}
	// The three without which git does not take a directory for a repository.
	if bare == 3 && filepath.Base(rel) != ".git" {
		s.repositories = append(s.repositories, filepath.Join(rel, ".git"))
	}
	return nil
}

// list adds a file to those of its kind. A socket is in none: only the process that made it
// gives it a meaning, and that has ended.
func (s *snapshot) list(name string, mode fs.FileMode) {
	switch {
	case mode.IsRegular() || mode&fs.ModeSymlink != 0:
		if name != ".git" {
			s.files = append(s.files, name)
		}
	case mode&fs.ModeNamedPipe != 0:
		s.pipes = append(s.pipes, name)
	case mode&fs.ModeDevice != 0:
		s.devices = append(s.devices, name)
	}
}

// listed adds to the untracked files those that git's status leaves out, whatever hides them.
func (t *Tree) listed() {
	known := make(map[string]bool, len(t.Index)+len(t.Untracked)+len(t.Ignored))
	// The contents of ignored directories go, and those of submodules were examined.
	skip := make(map[string]bool)
	for _, e := range t.Index {
		known[e.Path] = true
		if e.Submodule() {
			skip[e.Path] = true
		}
	}
	for _, path := range slices.Concat(t.Untracked, t.Ignored) {
		known[path] = true
	}
	for _, dir := range t.ignoredDirs {
		skip[strings.TrimSuffix(dir, "/")] = true
	}
	within := func(path string) bool {
		for ; path != "."; path = filepath.Dir(path) {
			if skip[path] {
				return true
			}
		}
		return false
	}
	var unknown []string
	for _, path := range t.snapshot.files {
		if !known[path] && !within(path) {
			unknown = append(unknown, path)
		}
	}
	for _, path := range t.otherNames(unknown, known) {
		t.Untracked = append(t.Untracked, path)
		t.hidden++
	}
	for _, path := range slices.Concat(t.snapshot.pipes, t.snapshot.empty) {
		if !within(path) {
			t.Special = append(t.Special, path)
		}
	}
	t.snapshot.devices = slices.DeleteFunc(t.snapshot.devices, within)
}

// otherNames removes the names that this file system gives to files which git knows by another
// one: it does not distinguish upper case, or stores letters in another form.
func (t *Tree) otherNames(paths []string, known map[string]bool) []string {
	if len(paths) == 0 {
		return nil
	}
	type inode struct{ dev, ino uint64 }
	inodeOf := func(path string) (inode, bool) {
		st, err := lstat(filepath.Join(t.Ref.Path, path))
		// A file with two names is in the list of all files by each of them.
		return inode{uint64(st.Dev), st.Ino}, err == nil && st.Nlink == 1 //nolint:unconvert // darwin has other types
	}
	seen := make(map[inode]bool)
	for path := range known {
		if i, ok := inodeOf(path); ok {
			seen[i] = true
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		i, ok := inodeOf(path)
		return ok && seen[i]
	})
}

// isDotGit reports whether git takes a file of that name for the .git of a repository.
func isDotGit(name string) bool {
	// The usual file systems of darwin do not distinguish upper case.
	return name == ".git" || runtime.GOOS == "darwin" && strings.EqualFold(name, ".git")
}

// writable reports whether entries of a directory can be removed.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

func lstat(path string) (unix.Stat_t, error) {
	var st unix.Stat_t
	for {
		err := unix.Lstat(path, &st)
		if err == nil {
			return st, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return st, &os.PathError{Op: "lstat", Path: path, Err: err}
		}
	}
}
