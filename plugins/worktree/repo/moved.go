package repo

import (
	"path/filepath"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/safefile"
)

const (
	// movedDepth is how many directories below a place a worktree is looked for that was
	// moved, and movedLimit how many directories are looked at.
	movedDepth, movedLimit = 2, 4096
)

// MovedByHand returns where a worktree is that was moved without git's knowledge: near its old
// place, or near the repository. It is empty if it is not found: then it was probably removed.
func (r *Repo) MovedByHand(a Admin) string {
	left := movedLimit
	near := filepath.Dir(a.Worktree)
	for _, top := range []string{near, filepath.Dir(near), filepath.Dir(r.Main)} {
		if at := a.search(top, movedDepth, &left); at != "" {
			return at
		}
	}
	return ""
}

// search looks for the worktree in a directory and in those below.
func (a Admin) search(dir string, depth int, left *int) string {
	entries, err := safefile.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || path == a.Worktree {
			continue
		}
		if *left--; *left < 0 {
			return ""
		}
		if a.leadsHere(path) {
			return path
		}
		if depth > 1 {
			if at := a.search(path, depth-1, left); at != "" {
				return at
			}
		}
	}
	return ""
}

// leadsHere reports whether the .git of a directory leads to the administrative directory.
func (a Admin) leadsHere(dir string) bool {
	path, err := gitdir.Named(filepath.Join(dir, ".git"), dir)
	return err == nil && path != "" && filepath.Clean(path) == a.Dir
}
