package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/confine"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
)

// A worker in a sandbox that lives can put a symbolic link where git is about to write, after
// the look at it (see plain.go), in its own worktree or in what all workers of a repository
// share. So the kernel keeps a git that writes there from writing anywhere else, if it can.

// within returns g for a repository, to whose directories its writing calls are confined.
func (g git) within(common string) git {
	g.common = common
	return g
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
	name := ""
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "refs/") }); i >= 0 {
		name = args[i]
	}
	head, _ := gitdir.ReadLine(filepath.Join(g.common, "HEAD"))
	_, err := os.Lstat(filepath.Join(g.common, "logs"))
	return slices.Contains(args, "-d") || head == "ref: "+name || err != nil
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
	for _, value := range last {
		if value != "" {
			return true
		}
	}
	return err != nil
}
