// Package gitdir finds the git directories of a repository on the disk, and examines them,
// without running git: git trusts the files in them, and waits for a FIFO. So this is done
// before git reads a directory that others can write, a worker in a sandbox for instance.
//
// It is imported by the packages of plugins/worktree alone.
package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/safefile"
)

var ErrNotFound = errors.New("not in a git repository")

// Layout says where the parts of a repository are, see gitrepository-layout(5). All paths but
// Dir are absolute and free of symbolic links.
type Layout struct {
	// Top is the directory that has .git, or the git directory if Bare is set.
	Top string
	// Dir is the directory that was asked about, relative to Top; empty if it is Top, or in
	// .git.
	Dir string
	// GitDir is the git directory of Top, Common the one that all working trees share.
	GitDir, Common string
	// Bare says that Top is itself laid out as a git directory, and no .git leads to it.
	Bare bool
}

// Discover finds the repository that dir is in, as git does, and examines its git
// directories. The error is [ErrNotFound] if there is none.
func Discover(dir string) (Layout, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Layout{}, err
	}
	unusable := ""
	for at := real; ; at = filepath.Dir(at) {
		gitDir, err := dotGit(at)
		if _, there := os.Lstat(filepath.Join(at, ".git")); there == nil && gitDir == "" && unusable == "" {
			unusable = filepath.Join(at, ".git")
		}
		switch {
		case err != nil:
			return Layout{}, err
		case gitDir != "":
			return open(Layout{Top: at, GitDir: gitDir}, real)
		case isGitDir(at) && filepath.Base(at) != ".git":
			return open(Layout{Top: at, GitDir: at, Bare: true}, real)
		case at == filepath.Dir(at) && unusable != "":
			return Layout{}, fmt.Errorf("%s is not a git directory", unusable)
		case at == filepath.Dir(at):
			return Layout{}, ErrNotFound
		}
	}
}

// dotGit returns the git directory that the .git in dir is or names, or "".
func dotGit(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir() && isGitDir(path):
		return path, nil
	case info.IsDir():
		return "", nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	gitDir, err := Named(path, dir)
	if err == nil && gitDir == "" {
		err = fmt.Errorf("%s is damaged", path)
	}
	return gitDir, err
}

// Named returns the git directory that the file .git of dir names, or "" if it names none.
func Named(file, dir string) (string, error) {
	line, err := ReadLine(file)
	gitDir, ok := strings.CutPrefix(line, "gitdir: ")
	if err != nil || !ok {
		return "", err
	}
	return From(dir, gitDir), nil
}

// From returns a path that a file of git names, which may be relative to dir.
func From(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// open finds the common directory and examines both.
func open(l Layout, dir string) (Layout, error) {
	var err error
	if rel := strings.TrimPrefix(strings.TrimPrefix(dir, l.Top), "/"); !l.Bare && rel != ".git" && !strings.HasPrefix(rel, ".git/") {
		l.Dir = rel
	}
	if l.GitDir, err = filepath.EvalSymlinks(l.GitDir); err != nil {
		return l, err
	}
	l.Common = l.GitDir
	common, err := ReadLine(filepath.Join(l.GitDir, "commondir"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return l, err
	default:
		if l.Common, err = filepath.EvalSymlinks(From(l.GitDir, common)); err != nil {
			return l, err
		}
	}
	for _, dir := range []string{l.Common, l.GitDir} {
		if err := Examine(dir); err != nil {
			return l, err
		}
	}
	return l, nil
}

// Files of a git directory that git reads whole, and the limit of their size.
var readWhole = []string{"HEAD", "config", "config.worktree", "commondir", "gitdir", "attributes", "exclude"}

const readWholeLimit = 16 << 20

// Examine returns an error if git could wait for a file of a git directory, or could
// not hold it. It skips objects: there are too many, and git checks them.
func Examine(gitDir string) error {
	for _, sub := range []string{".", "info", "objects/info", "objects/pack"} {
		if err := examineFiles(filepath.Join(gitDir, sub)); err != nil {
			return err
		}
	}
	for _, sub := range []string{"refs", "logs", "worktrees", "reftable"} {
		err := filepath.WalkDir(filepath.Join(gitDir, sub), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "modules" {
				return fs.SkipDir
			}
			return examineFiles(path)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func examineFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		mode := e.Type()
		size := int64(0)
		if whole := slices.Contains(readWhole, e.Name()); whole || mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a link that leads nowhere, or a file that is gone by now
			}
			if err != nil {
				return err
			}
			if mode = info.Mode(); whole && mode.IsRegular() {
				size = info.Size()
			}
		}
		switch {
		case mode&fs.ModeNamedPipe != 0:
			return fmt.Errorf("%s is a FIFO", path)
		case mode&fs.ModeDevice != 0:
			return fmt.Errorf("%s is a device", path)
		case size > readWholeLimit:
			return fmt.Errorf("%s is larger than %d MiB", path, readWholeLimit>>20)
		}
	}
	return nil
}

// lineLimit is more than the longest path.
const lineLimit = 64 << 10

// ReadLine returns the content of a file of one line, such as most files of a git directory
// are.
func ReadLine(path string) (string, error) {
	b, err := safefile.ReadForeign(path, lineLimit)
	return strings.TrimSuffix(string(b), "\n"), err
}
