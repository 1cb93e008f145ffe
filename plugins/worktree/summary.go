package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// summary is compare for a list of workers: four git processes, three of them at the same time,
// no lock and no new objects.
func summary(ctx context.Context, g git, ref swarm.WorkspaceRef) (swarm.Diff, error) {
	a, common, err := own(ref)
	if err != nil {
		return swarm.Diff{}, err
	}
	if err := g.at(common).owned(ctx, ref.Path, a.dir); err != nil {
		return swarm.Diff{}, err
	}
	g, err = g.within(ref.Path, a.dir, common).disarmed(ctx)
	if err != nil {
		return swarm.Diff{}, err
	}
	from := a.firstHead()
	if from == "" {
		return swarm.Diff{}, fmt.Errorf("%w: the beginning of worktree %s is not known", swarm.ErrUnavailable, ref.Path)
	}
	var d swarm.Diff
	var others []string
	var errs [2]error
	var all sync.WaitGroup
	all.Go(func() { d.Files, errs[0] = g.changes(ctx, "diff", from) })
	all.Go(func() { others, errs[1] = g.list(ctx, "ls-files", "-z", "--others", "--exclude-standard") })
	all.Go(func() { d.Ahead, d.Behind = g.distance(ctx) })
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return swarm.Diff{}, err
	}
	left := int64(linesLimit)
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
func own(ref swarm.WorkspaceRef) (admin, string, error) {
	if info, err := os.Lstat(ref.Path); err != nil || !info.IsDir() {
		return admin{}, "", fmt.Errorf("worktree %s: %w", ref.Path, swarm.ErrNotFound)
	}
	p, err := gitdir.Discover(ref.Path)
	if err != nil {
		return admin{}, "", err
	}
	base, err := gitdir.Discover(ref.Base)
	if err != nil {
		return admin{}, "", err
	}
	all, err := admins(base.Common)
	if err != nil {
		return admin{}, "", err
	}
	for _, a := range all {
		if a.dir == p.GitDir && a.worktree == ref.Path && a.id == ref.ID && ref.ID != "" {
			return a, base.Common, a.plain()
		}
	}
	return admin{}, "", fmt.Errorf("%w: %s is not this worker's worktree any more", swarm.ErrUnavailable, ref.Path)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// firstHead returns the commit that was checked out when the worktree was made: the first one
// in the log of its HEAD; empty without that log.
func (a admin) firstHead() string {
	log, err := safefile.ReadForeign(filepath.Join(a.dir, "logs", "HEAD"), logLimit)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(log), "\n")
	words := strings.Fields(first)
	if len(words) < 2 || strings.Trim(words[1], "0123456789abcdef") != "" {
		return ""
	}
	return words[1]
}

// distance returns how many commits HEAD of a worktree has that HEAD of the main working tree
// has not, and the other way round; nil: that is not known.
func (g git) distance(ctx context.Context) (ahead, behind *int) {
	out, err := g.line(ctx, "rev-list", "--left-right", "--count", "HEAD...main-worktree/HEAD", "--")
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

// linesLimit is how many bytes of new files a summary reads.
const linesLimit = 8 << 20

// lines returns how many lines a file has, or -1 if it is not text or can't be read.
func lines(path string) int {
	text, err := safefile.ReadForeign(path, linesLimit)
	if err != nil {
		return -1
	}
	return linesOf(text)
}

func linesOf(text []byte) int {
	if bytes.IndexByte(text[:min(len(text), textLimit)], 0) >= 0 {
		return -1
	}
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// textLimit is how many bytes git looks at to tell text from other files.
const textLimit = 8000
