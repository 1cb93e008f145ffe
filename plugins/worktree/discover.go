package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is the layout of a repository on the disk. It is examined before git reads it: git
// trusts its files, and waits for a FIFO.
type place struct {
	// top is the directory that has .git, or the git directory if bare is set.
	top string
	// dir is the requested directory relative to top; empty if it is top, or in .git.
	dir string
	// gitDir is the git directory of top, common the one that all working trees
	// share.
	gitDir, common string
	// bare says that top is itself laid out as a git directory, and no .git leads
	// to it.
	bare bool
}

// discover finds the repository that dir is in, as gitrepository-layout(5) says.
func discover(dir string) (place, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return place{}, err
	}
	at := real
	unusable := ""
	for ; ; at = filepath.Dir(at) {
		gitDir, err := dotGit(at)
		if _, there := os.Lstat(filepath.Join(at, ".git")); there == nil && gitDir == "" && unusable == "" {
			unusable = at
		}
		switch {
		case err != nil:
			return place{}, err
		case gitDir != "":
			return open(place{top: at, gitDir: gitDir}, real)
		case isGitDir(at) && filepath.Base(at) != ".git":
			return open(place{top: at, gitDir: at, bare: true}, real)
		case at == filepath.Dir(at) && unusable != "":
			return place{}, invalid("cannot use the git repository %s: its .git is not one", unusable)
		case at == filepath.Dir(at):
			return place{}, errNotRepository
		}
	}
}

// dotGit returns the git directory that the .git in dir is or names, or "".
func dotGit(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || isNotDirectory(err):
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
	line, err := firstLine(path)
	if err != nil {
		return "", err
	}
	gitDir, ok := strings.CutPrefix(line, "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s is damaged", path)
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	return gitDir, nil
}

// isGitDir reports whether git may take a directory for a repository.
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
func open(p place, dir string) (place, error) {
	var err error
	if rel := strings.TrimPrefix(strings.TrimPrefix(dir, p.top), "/"); !p.bare && !contains(".git", rel) {
		p.dir = rel
	}
	if p.gitDir, err = filepath.EvalSymlinks(p.gitDir); err != nil {
		return p, err
	}
	p.common = p.gitDir
	common, err := firstLine(filepath.Join(p.gitDir, "commondir"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return p, err
	default:
		if !filepath.IsAbs(common) {
			common = filepath.Join(p.gitDir, common)
		}
		if p.common, err = filepath.EvalSymlinks(common); err != nil {
			return p, err
		}
	}
	for _, dir := range []string{p.common, p.gitDir} {
		if err := examine(dir); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Files of a git directory that git reads whole, and the limit of their size.
var readWhole = []string{"HEAD", "config", "config.worktree", "commondir", "gitdir", "attributes", "exclude"}

const readWholeLimit = 16 << 20

// examine returns an error if git could wait for a file of a git directory, or could
// not hold it. It skips objects: there are too many, and git checks them.
func examine(gitDir string) error {
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

// examineFiles looks at the files of one directory.
func examineFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
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
		if what := endless(mode); what != "" {
			return fmt.Errorf("%s is %s", path, what)
		}
		if size > readWholeLimit {
			return fmt.Errorf("%s is larger than %d MiB", path, readWholeLimit>>20)
		}
	}
	return nil
}

// endless names the kinds of files whose reading may never end; "" for others.
func endless(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return ""
}
