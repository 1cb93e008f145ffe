package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
)

// ParentOf returns the directory for a new worktree.
func (r *Repo) ParentOf(spec swarm.WorkspaceSpec) string {
	dir, name := r.name()
	switch {
	case filepath.IsAbs(spec.Parent):
		return filepath.Clean(spec.Parent)
	case spec.Parent != "":
		return filepath.Join(dir, spec.Parent)
	default:
		return filepath.Join(dir, name+"-worktrees")
	}
}

// Trusted returns nil if worktrees of the repository may be made in the directory
// parent, which exists. A user who can exchange a worktree, or owns what is above
// it, decides what its worker runs.
//
// The rule is relaxed for the directories that the repository itself lies in: they
// may belong to others, or to a group. A user who can write them can exchange the
// repository just as well, and the user chose to work there.
func (r *Repo) Trusted(parent string) error {
	err := trust.Path(parent)
	broken, ok := errors.AsType[*trust.Error](err)
	if !ok || !contains(broken.At, r.Main) || broken.At == r.Main {
		return err
	}
	info, err := os.Stat(broken.At)
	if err != nil {
		return err
	}
	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return broken
	}
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return err
	}
	for _, path := range []string{parent, real} {
		for ; !contains(path, r.Main); path = filepath.Dir(path) {
			info, err := os.Lstat(path)
			if err == nil {
				err = trust.Info(path, info)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ParentMode returns the mode of directories for worktrees: what is in them is as
// private as the repository. No other user may write it, see Trusted.
func (r *Repo) ParentMode() (fs.FileMode, error) {
	const private, usual = 0o700, 0o755
	for _, dir := range []string{r.Main, r.Common} {
		want := fs.FileMode(0o005)
		for {
			info, err := os.Stat(dir)
			if err != nil {
				return 0, err
			}
			if info.Mode()&want != want {
				return private, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
			dir, want = filepath.Dir(dir), 0o001
		}
	}
	return usual, nil
}

// contains reports whether path is the directory dir or below it. Both are clean.
func contains(dir, path string) bool {
	return dir == path || dir == "/" || strings.HasPrefix(path, dir+"/")
}
