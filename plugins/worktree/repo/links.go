package repo

// Git follows symbolic links when it writes, and a worker in a sandbox can put some where git writes:
// see package git.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// PlainRef returns an error if git would follow a symbolic link to change a reference, given by
// its full name, or its log.
func (r *Repo) PlainRef(name string) error {
	if err := r.plain(name); err != nil {
		return err
	}
	return r.plain("logs/" + name)
}

// PlainObjects is like PlainRef, for new objects.
func (r *Repo) PlainObjects() error {
	return plainIn(filepath.Join(r.Common, "objects"), func(name string) bool {
		return len(name) == 2 || name == "pack"
	})
}

// plain looks at the parts of a path in the repository, but for the first one: no worker can
// replace that, and some tools link it.
func (r *Repo) plain(name string) error {
	parts := strings.Split(name, "/")
	at := filepath.Join(r.Common, parts[0])
	for _, part := range parts[1:] {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return linked(at)
		}
	}
	return nil
}

// Plain returns an error if the index of a worktree is a symbolic link, or a part of it that is
// a file of its own: git writes, and changes times, where they lead.
func (a Admin) Plain() error {
	return plainIn(a.Dir, func(name string) bool {
		return name == "index" || strings.HasPrefix(name, "sharedindex.")
	})
}

// plainIn returns an error for a symbolic link of such a name in a directory.
func plainIn(dir string, written func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && written(e.Name()) {
			return linked(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

func linked(path string) error {
	return fmt.Errorf("%s is a symbolic link, which git would follow to write there: remove it", path)
}
