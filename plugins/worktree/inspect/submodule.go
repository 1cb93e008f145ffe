package inspect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// submoduleWork reports anything in a submodule that its remote does not have.
// The repositories of a linked worktree's submodules go with the worktree.
func (t *Tree) submoduleWork(ctx context.Context) (*swarm.Kept, error) {
	limited, cancel := context.WithTimeout(ctx, t.submoduleLimit)
	defer cancel()
	kept, err := t.examineSubmodules(limited)
	if ctx.Err() == nil && limited.Err() != nil {
		return keep("its submodules could not be examined within %s", t.submoduleLimit), nil
	}
	return kept, err
}

func (t *Tree) examineSubmodules(ctx context.Context) (*swarm.Kept, error) {
	kept, err := t.populated(ctx, t.Index, t.Ref.Path, "")
	if kept != nil || err != nil {
		return kept, err
	}
	modules := filepath.Join(t.Admin.Dir, "modules")
	if _, err := os.Lstat(modules); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	t.Submodules = true
	return t.stored(ctx, modules)
}

// ExamineNested returns an error if git could wait for a file of a repository in the index.
func (t *Tree) ExamineNested() error {
	for _, e := range t.Index {
		dir := filepath.Join(t.Ref.Path, e.Path)
		if !e.Submodule() || !isDir(dir) {
			continue
		}
		if _, err := gitdir.Discover(dir); err != nil {
			return err
		}
	}
	return nil
}

// populated examines the submodules in the index of the working tree dir, which is rel in
// the worktree.
func (t *Tree) populated(ctx context.Context, index []git.Entry, dir, rel string) (*swarm.Kept, error) {
	for _, e := range index {
		if !e.Submodule() {
			continue
		}
		t.Submodules = true
		if t.shared {
			// Git would examine it with the programs that its configuration names.
			return keep("it has submodules, in a repository that others can write"), nil
		}
		name := filepath.Join(rel, e.Path)
		sub := filepath.Join(dir, e.Path)
		entries, err := os.ReadDir(sub)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(sub, ".git")); errors.Is(err, fs.ErrNotExist) {
			return keep("submodule %s has files of its own", git.Quote(name)), nil
		} else if err != nil {
			return nil, err
		}
		t.own = append(t.own, filepath.Join(name, ".git"))
		if kept, err := t.submodule(ctx, e, sub, name); kept != nil || err != nil {
			return kept, err
		}
	}
	return nil, nil
}

func (t *Tree) submodule(ctx context.Context, e git.Entry, dir, name string) (*swarm.Kept, error) {
	p, err := gitdir.Discover(dir)
	if err != nil {
		return nil, err
	}
	if p.Top != dir {
		return keep("submodule %s is damaged", git.Quote(name)), nil
	}
	if err := t.Repo.Git.Owned(ctx, dir, p.GitDir); err != nil {
		return nil, err
	}
	// A worker has written the configuration of its submodules, perhaps in a
	// sandbox: the programs that it names do not run. Git would run them for the status of
	// the worktree too, if that included changes in submodules.
	var kept *swarm.Kept
	err = t.Repo.Git.Isolated(ctx, p, func(g git.Git) (err error) {
		kept, err = t.submoduleIn(ctx, g, e, dir, name, p.GitDir)
		return err
	})
	return kept, err
}

// submoduleIn is submodule for the git of a repository that was examined.
func (t *Tree) submoduleIn(ctx context.Context, g git.Git, e git.Entry, dir, name, gitDir string) (*swarm.Kept, error) {
	if kept, err := operationIn(gitDir, "in submodule "+strings.ReplaceAll(git.Quote(name), "%", "%%")+" %s is in progress"); kept != nil || err != nil {
		return kept, err
	}
	head, err := g.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	if head != e.Hash {
		return keep("submodule %s is at another commit", git.Quote(name)), nil
	}
	s, err := g.Status(ctx)
	if err != nil {
		return nil, err
	}
	if s.Lines > 0 {
		return keep("submodule %s has %d uncommitted change(s)", git.Quote(name), s.Lines), nil
	}
	if len(s.Ignored) > 0 {
		return keep("submodule %s has ignored files", git.Quote(name)), nil
	}
	index, err := g.LsFiles(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(index, git.Entry.Hidden) {
		return keep("submodule %s has files marked assume-unchanged or skip-worktree", git.Quote(name)), nil
	}
	if kept, err := unpushed(ctx, g, git.Quote(name)); kept != nil || err != nil {
		return kept, err
	}
	return t.populated(ctx, index, dir, name)
}

// stored examines the repositories of submodules, including those that are no longer
// checked out.
func (t *Tree) stored(ctx context.Context, modules string) (kept *swarm.Kept, err error) {
	err = filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "objects" || d.Name() == "refs" {
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(path, "objects")); errors.Is(err, fs.ErrNotExist) {
			return nil // logs/HEAD
		}
		if err := gitdir.Examine(path); err != nil {
			return err
		}
		name := strings.TrimPrefix(path, modules+"/")
		// Without a working tree git does not mind where core.worktree points.
		g, err := t.Repo.Git.At(path).With("GIT_DIR="+path, "GIT_WORK_TREE="+path).Disarmed(ctx)
		if err != nil {
			return err
		}
		kept, err = unpushed(ctx, g, git.Quote(name))
		if kept != nil {
			return fs.SkipAll
		}
		return err
	})
	return kept, err
}

// unpushed reports commits and stashes that no remote has, as far as is known
// here.
func unpushed(ctx context.Context, g git.Git, name string) (*swarm.Kept, error) {
	stash, err := g.Ask(ctx, "show-ref", "--verify", "--quiet", "refs/stash")
	if err != nil {
		return nil, err
	}
	if stash {
		return keep("submodule %s has a stash", name), nil
	}
	commit, err := g.Line(ctx, "rev-list", "--max-count=1", "--all", "--reflog", "HEAD", "--not", "--remotes")
	if err != nil || commit == "" {
		return nil, err
	}
	return keep("submodule %s has commits that were not pushed", name), nil
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
