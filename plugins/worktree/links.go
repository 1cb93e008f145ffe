package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/plugins/worktree/confine"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
)

// A worker in a sandbox can write the objects, the references and the logs of its repository.
// It could put symbolic links there, and git follows them when it writes: it would append to a
// file outside, or remove one. So nothing is written where there is a link. A worker that lives
// can put one there after this look, in its own worktree or in what all workers of a repository
// share. So the kernel keeps a git that writes there from writing anywhere else, if it can.

// plainRef returns an error if git would follow a symbolic link to change a reference, given by
// its full name, or its log.
func (r *repo) plainRef(name string) error {
	if err := r.plain(name); err != nil {
		return err
	}
	return r.plain("logs/" + name)
}

// plainObjects is like plainRef, for new objects.
func (r *repo) plainObjects() error {
	return plainIn(filepath.Join(r.common, "objects"), func(name string) bool {
		return len(name) == 2 || name == "pack"
	})
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

// plain returns an error if the index of a worktree is a symbolic link, or a part of it that is
// a file of its own: git writes, and changes times, where they lead.
func (a admin) plain() error {
	return plainIn(a.dir, func(name string) bool {
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

// confined returns g for a call that runs no filters, so that it can be confined.
func (g git) confined(ctx context.Context) git {
	g.plain = !g.hasFilters(ctx)
	return g
}

// writes returns where a call may write; nil: it is not confined.
func (g git) writes(args []string) []confine.Dir {
	if g.common == "" || g.open {
		return nil
	}
	in := func(name string) confine.Dir { return confine.Dir{Path: filepath.Join(g.common, name)} }
	switch args[0] {
	case "hash-object", "mktree", "write-tree", "commit-tree", "update-index":
		if args[0] == "update-index" && !g.plain {
			return nil // a filter of the user's may write elsewhere
		}
		where := []confine.Dir{in("objects")}
		for _, entry := range g.env {
			if file, ok := strings.CutPrefix(entry, "GIT_INDEX_FILE="); ok {
				where = append(where, confine.Dir{Path: filepath.Dir(file)})
			}
			if dir, ok := strings.CutPrefix(entry, "GIT_OBJECT_DIRECTORY="); ok {
				where = append(where, confine.Dir{Path: dir})
			}
		}
		return where
	case "update-ref":
		if g.needsTop(args) {
			return []confine.Dir{in(".")}
		}
		return []confine.Dir{in("refs"), in("reftable"), in("logs")}
	case "worktree":
		if args[1] != "remove" || !g.plain && !slices.Contains(args, "--force") {
			return nil // without --force git compares the files, through filters
		}
		path := args[len(args)-1]
		return []confine.Dir{
			{Path: path},
			{Path: filepath.Dir(path), EmptyDirs: true},
			in("worktrees"),
			{Path: g.common, EmptyDirs: true},
		}
	}
	return nil
}

// needsTop reports whether a call of update-ref writes in the common directory itself: a
// deletion locks packed-refs, whether the reference is in there or not, and a change of the
// branch that is checked out locks HEAD.
func (g git) needsTop(args []string) bool {
	head, _ := gitdir.ReadLine(filepath.Join(g.common, "HEAD"))
	_, err := os.Lstat(filepath.Join(g.common, "logs"))
	return err != nil || slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-d" || strings.HasPrefix(arg, "refs/") && head == "ref: "+arg
	})
}

// hasFilters reports whether a filter is configured that git could run for a file. An error
// counts as one.
func (g git) hasFilters(ctx context.Context) bool {
	settings, err := g.list(ctx, "config", "-z", "--get-regexp", `^filter\..*\.(clean|process)$`)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
		return false // there is none
	}
	last := make(map[string]string) // the last value counts
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "\n")
		last[key] = value
	}
	maps.DeleteFunc(last, func(_, value string) bool { return value == "" })
	return err != nil || len(last) > 0
}
