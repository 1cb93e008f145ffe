package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A worker in a sandbox can write the objects, the references and the logs of its repository.
// It could put symbolic links there, and git follows them when it writes: it would append to a
// file outside, or remove one. So nothing is written where there is a link. A link that appears
// after this look is the kernel's to stop, see confine.go.

// plainRefs returns an error if git would follow a symbolic link to change references, which
// are full names, or their logs.
func (r *repo) plainRefs(names ...string) error {
	for _, name := range names {
		for _, path := range []string{name, "logs/" + name} {
			if err := r.plain(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainObjects is like plainRefs, for new objects.
func (r *repo) plainObjects() error {
	entries, err := os.ReadDir(filepath.Join(r.common, "objects"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && (len(e.Name()) == 2 || e.Name() == "pack") {
			return linked(filepath.Join(r.common, "objects", e.Name()))
		}
	}
	return nil
}

// plain looks at the parts of a path in the repository, but for the first one: no worker can
// replace that, and some tools link it.
func (r *repo) plain(name string) error {
	parts := strings.Split(name, "/")
	at := filepath.Join(r.common, parts[0])
	for _, part := range parts[1:] {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) || isNotDirectory(err):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return linked(at)
		}
	}
	return nil
}

// plain returns an error if the index of a worktree is a symbolic link, or a part of it that is
// a file of its own: git writes, and changes times, where they lead.
func (a admin) plain() error {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && (e.Name() == "index" || strings.HasPrefix(e.Name(), "sharedindex.")) {
			return linked(filepath.Join(a.dir, e.Name()))
		}
	}
	return nil
}

func linked(path string) error {
	return fmt.Errorf("%s is a symbolic link, which git would follow to write there: remove it", path)
}
