package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Summary is Compare for a list of workers: four git processes, three of them at the same time,
// no lock and no new objects.
func Summary(ctx context.Context, g git.Git, ref swarm.WorkspaceRef) (swarm.Diff, error) {
	a, common, err := own(ref)
	if err != nil {
		return swarm.Diff{}, err
	}
	if err := g.At(common).Owned(ctx, ref.Path, a.Dir); err != nil {
		return swarm.Diff{}, err
	}
	g, err = g.Within(ref.Path, a.Dir, common).Disarmed(ctx)
	if err != nil {
		return swarm.Diff{}, err
	}
	from := a.FirstHead()
	if from == "" {
		return swarm.Diff{}, fmt.Errorf("%w: the beginning of worktree %s is not known", swarm.ErrUnavailable, ref.Path)
	}
	var d swarm.Diff
	var others []string
	var errs [2]error
	var all sync.WaitGroup
	all.Go(func() { d.Files, errs[0] = g.Changes(ctx, "diff", from) })
	all.Go(func() { others, errs[1] = g.List(ctx, "ls-files", "-z", "--others", "--exclude-standard") })
	all.Go(func() { d.Ahead, d.Behind = distance(ctx, g) })
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return swarm.Diff{}, err
	}
	left := int64(git.LinesLimit)
	for _, path := range others {
		c := swarm.FileChange{Path: path, Added: -1, Removed: -1}
		info, err := os.Lstat(filepath.Join(ref.Path, path))
		if err != nil || !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0 {
			continue // it is gone, or a repository of its own
		}
		if info.Mode()&os.ModeSymlink != 0 {
			c.Added, c.Removed = 1, 0 // its target is a line
		} else if info.Size() <= left {
			left -= info.Size()
			if n := lines(filepath.Join(ref.Path, path)); n >= 0 {
				c.Added, c.Removed = n, 0
			}
		}
		d.Files = append(d.Files, c)
	}
	slices.SortFunc(d.Files, func(a, b swarm.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return d, nil
}

// own returns the administrative directory of the worktree that ref names, and the directory
// that all working trees share, without git.
func own(ref swarm.WorkspaceRef) (repo.Admin, string, error) {
	if info, err := os.Lstat(ref.Path); err != nil || !info.IsDir() {
		return repo.Admin{}, "", fmt.Errorf("worktree %s: %w", ref.Path, swarm.ErrNotFound)
	}
	p, err := gitdir.Discover(ref.Path)
	if err != nil {
		return repo.Admin{}, "", err
	}
	base, err := gitdir.Discover(ref.Base)
	if err != nil {
		return repo.Admin{}, "", err
	}
	all, err := repo.Admins(base.Common)
	if err != nil {
		return repo.Admin{}, "", err
	}
	for _, a := range all {
		if a.Dir == p.GitDir && a.Worktree == ref.Path && a.ID == ref.ID && ref.ID != "" {
			return a, base.Common, a.Plain()
		}
	}
	return repo.Admin{}, "", fmt.Errorf("%w: %s is not this worker's worktree any more", swarm.ErrUnavailable, ref.Path)
}

// distance returns how many commits HEAD of a worktree has that HEAD of the main working tree
// has not, and the other way round; nil: that is not known.
func distance(ctx context.Context, g git.Git) (ahead, behind *int) {
	out, err := g.Line(ctx, "rev-list", "--left-right", "--count", "HEAD...main-worktree/HEAD", "--")
	words := strings.Fields(out)
	if err != nil || len(words) != 2 {
		return nil, nil
	}
	left, err := strconv.Atoi(words[0])
	right, err2 := strconv.Atoi(words[1])
	if errors.Join(err, err2) != nil {
		return nil, nil
	}
	return &left, &right
}

// lines returns how many lines a file has, or -1 if it is not text or can't be read.
func lines(path string) int {
	text, err := safefile.ReadForeign(path, git.LinesLimit)
	if err != nil {
		return -1
	}
	return git.Lines(text)
}
