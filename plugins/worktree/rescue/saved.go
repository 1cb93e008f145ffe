package rescue

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

const Prefix = "refs/swarm/rescue/"

const rescueTime = "20060102T150405.000Z"

// List lists the rescues at or below a prefix, the oldest first.
func List(ctx context.Context, r *repo.Repo, prefix string) ([]swarm.SavedWork, error) {
	const format = "--format=%(refname)%00%(objecttype)%00%(committerdate:unix)%00%(contents:subject)%00"
	out, err := r.Git.Run(ctx, "for-each-ref", format, prefix)
	if err != nil {
		return nil, err
	}
	var works []swarm.SavedWork
	words := strings.Split(out, "\x00")
	for ; len(words) > 4; words = words[4:] {
		ref := strings.TrimPrefix(words[0], "\n")
		name, stamp, ok := strings.Cut(strings.TrimPrefix(ref, Prefix), "/")
		if !ok || words[1] != "commit" {
			continue // no rescue of ours
		}
		work := swarm.SavedWork{Ref: ref, Name: name, Base: r.Main, Title: "commits: " + words[3]}
		if owner, what, ok := rescueTitle(words[3]); ok {
			work.Name, work.Title = owner, what
		}
		stamp, _, _ = strings.Cut(stamp, "-")
		if work.Time, err = time.Parse(rescueTime, stamp); err != nil {
			if seconds, err := strconv.ParseInt(words[2], 10, 64); err == nil {
				work.Time = time.Unix(seconds, 0)
			}
		}
		works = append(works, work)
	}
	slices.SortStableFunc(works, func(a, b swarm.SavedWork) int { return a.Time.Compare(b.Time) })
	return works, nil
}

// rescueTitle reads the subject of a rescue of uncommitted work, see commitTree.
func rescueTitle(subject string) (name, what string, ok bool) {
	rest, ok := strings.CutPrefix(subject, "swarm: rescue of worktree '")
	if !ok {
		return "", "", false
	}
	name, what, ok = strings.Cut(rest, "': ")
	return name, what, ok && swarm.ValidName(name)
}

// Saved is the commit of a rescue, read back: see commit.
type Saved struct {
	Hash    string
	parents []string
	// work says that it holds uncommitted work, with the index and what a tree can't
	// express as its last parents.
	work bool
	// branch is what was checked out: noBranch for a detached HEAD.
	branch string
}

// base returns the commit that was checked out; empty: there was none.
func (c Saved) base() string {
	if c.work && len(c.parents) < 3 || len(c.parents) == 0 {
		return ""
	}
	return c.parents[0]
}

// exact returns the parent with what a tree can't express.
func (c Saved) exact() string { return c.parents[len(c.parents)-1] }

// Open reads the commit of a rescue.
func Open(ctx context.Context, r *repo.Repo, ref string) (Saved, error) {
	out, err := r.Git.Run(ctx, "log", "-1", "--no-decorate", "--format=%H%n%P%n%s%n%b", ref, "--")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) < 3 {
		return Saved{}, errors.Join(err, fmt.Errorf("saved work '%s' can't be read", ref))
	}
	c := Saved{Hash: lines[0], parents: strings.Fields(lines[1])}
	_, _, ours := rescueTitle(lines[2])
	c.work = ours && (len(c.parents) == 2 || len(c.parents) == 3)
	for _, line := range lines[3:] {
		if branch, ok := strings.CutPrefix(line, branchTrailer); ok && c.work {
			c.branch = branch
		}
	}
	return c, nil
}

// archiveName is the name of an archive in the tree of what a tree can't express.
const archiveName = "files.tar"

// Contents lists the files of a rescue that differ from what was checked out, with those in
// its archive.
func Contents(ctx context.Context, r *repo.Repo, c Saved) ([]swarm.FileChange, error) {
	files, err := r.Changes(ctx, c.base(), c.Hash)
	if err != nil || !c.work {
		return files, err
	}
	entries, err := r.Git.List(ctx, "ls-tree", "-z", "--name-only", c.exact())
	if err != nil || !slices.Contains(entries, archiveName) {
		return files, err
	}
	listed := make(map[string]bool)
	for _, f := range files {
		listed[f.Path] = true
	}
	add := func(h *tar.Header, content io.Reader) error {
		if h.Typeflag == tar.TypeDir || listed[h.Name] {
			return nil
		}
		c := swarm.FileChange{Path: h.Name, Added: -1, Removed: -1}
		switch h.Typeflag {
		case tar.TypeSymlink:
			c.Added, c.Removed = 1, 0
		case tar.TypeReg:
			if n := countLines(content); n >= 0 {
				c.Added, c.Removed = n, 0
			}
		}
		files = append(files, c)
		return nil
	}
	err = r.Git.Read(ctx, nil, func(in io.Reader) error { return eachArchived(in, add) }, "cat-file", "blob", c.exact()+":"+archiveName)
	slices.SortFunc(files, func(a, b swarm.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// countLines returns how many lines a file has, or -1 if it is not text.
func countLines(r io.Reader) int {
	text, err := io.ReadAll(io.LimitReader(r, git.LinesLimit+1))
	if err != nil || len(text) > git.LinesLimit {
		return -1
	}
	return git.Lines(text)
}
