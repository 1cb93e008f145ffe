package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// submoduleLimit is how long the examination of all submodules of a worktree may take. Their
// configuration may include a file that never ends.
const submoduleLimit = time.Minute

// submoduleWork reports anything in a submodule that its remote does not have.
// The repositories of a linked worktree's submodules go with the worktree.
func (t *tree) submoduleWork(ctx context.Context) (*swarm.Kept, error) {
	limited, cancel := context.WithTimeout(ctx, t.submoduleLimit)
	defer cancel()
	kept, err := t.examineSubmodules(limited)
	if ctx.Err() == nil && limited.Err() != nil {
		return keep("its submodules could not be examined within %s", t.submoduleLimit), nil
	}
	return kept, err
}

func (t *tree) examineSubmodules(ctx context.Context) (*swarm.Kept, error) {
	kept, err := t.populated(ctx, t.index, t.ref.Path, "")
	if kept != nil || err != nil {
		return kept, err
	}
	modules := filepath.Join(t.admin.dir, "modules")
	if _, err := os.Lstat(modules); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	t.submodules = true
	return t.stored(ctx, modules)
}

// examineNested returns an error if git could wait for a file of a repository in the index.
func (t *tree) examineNested() error {
	for _, e := range t.index {
		dir := filepath.Join(t.ref.Path, e.path)
		if !e.submodule() || !isDir(dir) {
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
func (t *tree) populated(ctx context.Context, index []indexEntry, dir, rel string) (*swarm.Kept, error) {
	for _, e := range index {
		if !e.submodule() {
			continue
		}
		t.submodules = true
		if t.shared {
			// Git would examine it with the programs that its configuration names.
			return keep("it has submodules, in a repository that others can write"), nil
		}
		name := filepath.Join(rel, e.path)
		sub := filepath.Join(dir, e.path)
		entries, err := os.ReadDir(sub)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(sub, ".git")); errors.Is(err, fs.ErrNotExist) {
			return keep("submodule %s has files of its own", quote(name)), nil
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

func (t *tree) submodule(ctx context.Context, e indexEntry, dir, name string) (*swarm.Kept, error) {
	p, err := gitdir.Discover(dir)
	if err != nil {
		return nil, err
	}
	if p.Top != dir {
		return keep("submodule %s is damaged", quote(name)), nil
	}
	if err := t.repo.git.owned(ctx, dir, p.GitDir); err != nil {
		return nil, err
	}
	// Whoever worked in the worktree wrote the configuration of its submodules, perhaps in a
	// sandbox: the programs that it names do not run. Git would run them for the status of
	// the worktree too, if that included changes in submodules.
	var kept *swarm.Kept
	err = t.repo.git.isolated(ctx, p, func(g git) (err error) {
		kept, err = t.submoduleIn(ctx, g, e, dir, name, p.GitDir)
		return err
	})
	return kept, err
}

// submoduleIn is submodule for the git of a repository that was examined.
func (t *tree) submoduleIn(ctx context.Context, g git, e indexEntry, dir, name, gitDir string) (*swarm.Kept, error) {
	if kept, err := operationIn(gitDir, "in submodule "+strings.ReplaceAll(quote(name), "%", "%%")+" %s is in progress"); kept != nil || err != nil {
		return kept, err
	}
	head, err := g.line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	if head != e.hash {
		return keep("submodule %s is at another commit", quote(name)), nil
	}
	s, err := readStatus(ctx, g)
	if err != nil {
		return nil, err
	}
	if s.lines > 0 {
		return keep("submodule %s has %d uncommitted change(s)", quote(name), s.lines), nil
	}
	if len(s.ignored) > 0 {
		return keep("submodule %s has ignored files", quote(name)), nil
	}
	index, err := lsFiles(ctx, g)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(index, indexEntry.hidden) {
		return keep("submodule %s has files marked assume-unchanged or skip-worktree", quote(name)), nil
	}
	if kept, err := unpushed(ctx, g, quote(name)); kept != nil || err != nil {
		return kept, err
	}
	return t.populated(ctx, index, dir, name)
}

// stored examines the repositories of submodules, including those that are no longer
// checked out.
func (t *tree) stored(ctx context.Context, modules string) (kept *swarm.Kept, err error) {
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
		g, err := t.repo.git.at(path).with("GIT_DIR="+path, "GIT_WORK_TREE="+path).disarmed(ctx)
		if err != nil {
			return err
		}
		kept, err = unpushed(ctx, g, quote(name))
		if kept != nil {
			return fs.SkipAll
		}
		return err
	})
	return kept, err
}

// unpushed reports commits and stashes that no remote has, as far as is known
// here.
func unpushed(ctx context.Context, g git, name string) (*swarm.Kept, error) {
	stash, err := g.ask(ctx, "show-ref", "--verify", "--quiet", "refs/stash")
	if err != nil {
		return nil, err
	}
	if stash {
		return keep("submodule %s has a stash", name), nil
	}
	commit, err := g.line(ctx, "rev-list", "--max-count=1", "--all", "--reflog", "HEAD", "--not", "--remotes")
	if err != nil || commit == "" {
		return nil, err
	}
	return keep("submodule %s has commits that were not pushed", name), nil
}
