package git

// A worker in a sandbox can write the objects, the references and the logs of its repository. It
// could put symbolic links there, and git follows them when it writes: it would append to a file
// outside, or remove one. So nothing is written where there is a link, see package repo. A worker
// that lives can put one there after that look, in its own worktree or in what all workers of a
// repository share. So the kernel keeps a git that writes there from writing anywhere else, if it can.

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/confine"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
)

// Confined returns g for a call that runs no filters, so that it can be confined.
func (g Git) Confined(ctx context.Context) Git {
	g.unfiltered = !g.hasFilters(ctx)
	return g
}

// writes returns where a call may write; nil: it is not confined.
func (g Git) writes(args []string) []confine.Dir {
	if g.Common == "" || g.Unconfined {
		return nil
	}
	in := func(name string) confine.Dir { return confine.Dir{Path: filepath.Join(g.Common, name)} }
	switch args[0] {
	case "hash-object", "mktree", "write-tree", "commit-tree", "update-index":
		if args[0] == "update-index" && !g.unfiltered {
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
		if args[1] != "remove" || !g.unfiltered && !slices.Contains(args, "--force") {
			return nil // without --force git compares the files, through filters
		}
		path := args[len(args)-1]
		return []confine.Dir{
			{Path: path},
			{Path: filepath.Dir(path), EmptyDirs: true},
			in("worktrees"),
			{Path: g.Common, EmptyDirs: true},
		}
	}
	return nil
}

// needsTop reports whether a call of update-ref writes in the common directory itself: a
// deletion locks packed-refs, whether the reference is in there or not, and a change of the
// branch that is checked out locks HEAD.
func (g Git) needsTop(args []string) bool {
	head, _ := gitdir.ReadLine(filepath.Join(g.Common, "HEAD"))
	_, err := os.Lstat(filepath.Join(g.Common, "logs"))
	return err != nil || slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-d" || strings.HasPrefix(arg, "refs/") && head == "ref: "+arg
	})
}

// hasFilters reports whether a filter is configured that git could run for a file. An error
// counts as one.
func (g Git) hasFilters(ctx context.Context) bool {
	settings, err := g.List(ctx, "config", "-z", "--get-regexp", `^filter\..*\.(clean|process)$`)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Code == 1 {
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
