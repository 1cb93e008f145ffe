package worktree

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

const rescuePrefix = "refs/swarm/rescue/"

const rescueTime = "20060102T150405.000Z"

// Rescue implements [swarm.Rescuer].
func (w *Workspace) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	switch {
	case !filepath.IsAbs(req.Base) || req.Into != "" && !filepath.IsAbs(req.Into):
		return nil, invalid("a rescue needs absolute paths")
	case req.Ref == "" && req.Action != swarm.RescueList:
		return nil, invalid("no saved work is named")
	}
	r, err := openRepo(ctx, w.git, req.Base, true)
	if err != nil {
		return nil, err
	}
	if req.Ref == "" {
		return r.saved(ctx, rescuePrefix)
	}
	if !strings.HasPrefix(req.Ref, rescuePrefix) {
		return nil, fmt.Errorf("saved work '%s': %w", req.Ref, swarm.ErrNotFound)
	}
	unlock, err := r.lock(ctx, w.lockLimit)
	if err != nil {
		return nil, err
	}
	defer unlock()
	works, err := r.saved(ctx, req.Ref)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(works, func(s swarm.SavedWork) bool { return s.Ref == req.Ref })
	if at < 0 {
		return nil, fmt.Errorf("saved work '%s': %w", req.Ref, swarm.ErrNotFound)
	}
	work := works[at]
	c, err := r.rescue(ctx, work.Ref)
	if err != nil {
		return nil, err
	}
	if work.Files, err = r.contents(ctx, c); err != nil {
		return nil, err
	}
	switch req.Action {
	case swarm.RescueList:
	case swarm.RescueDrop:
		err = r.deleteRef(ctx, work.Ref, c.hash)
	case swarm.RescueRestore:
		err = w.restore(ctx, r, c, &work, req.Into)
	default:
		err = fmt.Errorf("%w: action '%s' on saved work", swarm.ErrUnsupported, req.Action)
	}
	return []swarm.SavedWork{work}, err
}

// saved lists the rescues at or below a prefix, the oldest first.
func (r *repo) saved(ctx context.Context, prefix string) ([]swarm.SavedWork, error) {
	const format = "--format=%(refname)%00%(objecttype)%00%(committerdate:unix)%00%(contents:subject)%00"
	out, err := r.git.run(ctx, "for-each-ref", format, prefix)
	if err != nil {
		return nil, err
	}
	var works []swarm.SavedWork
	words := strings.Split(out, "\x00")
	for ; len(words) > 4; words = words[4:] {
		ref := strings.TrimPrefix(words[0], "\n")
		name, stamp, ok := strings.Cut(strings.TrimPrefix(ref, rescuePrefix), "/")
		if !ok || words[1] != "commit" {
			continue // no rescue of ours
		}
		work := swarm.SavedWork{Ref: ref, Name: name, Base: r.main, Title: "commits: " + words[3]}
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

// rescued is the commit of a rescue, see commit.
type rescued struct {
	hash    string
	parents []string
	// work says that it holds uncommitted work, with the index and what a tree can't
	// express as its last parents.
	work bool
	// branch is what was checked out: noBranch for a detached HEAD, empty if that is not known.
	branch string
}

// base returns the commit that was checked out; empty: there was none.
func (c rescued) base() string {
	if c.work && len(c.parents) < 3 || len(c.parents) == 0 {
		return ""
	}
	return c.parents[0]
}

// exact returns the parent with what a tree can't express.
func (c rescued) exact() string { return c.parents[len(c.parents)-1] }

func (r *repo) rescue(ctx context.Context, ref string) (rescued, error) {
	out, err := r.git.run(ctx, "log", "-1", "--no-decorate", "--format=%H%n%P%n%s%n%b", ref, "--")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) < 3 {
		return rescued{}, errors.Join(err, fmt.Errorf("saved work '%s' can't be read", ref))
	}
	c := rescued{hash: lines[0], parents: strings.Fields(lines[1])}
	_, _, ours := rescueTitle(lines[2])
	c.work = ours && (len(c.parents) == 2 || len(c.parents) == 3)
	for _, line := range lines[3:] {
		if branch, ok := strings.CutPrefix(line, branchTrailer); ok && c.work {
			c.branch = branch
		}
	}
	return c, nil
}

// restore makes a worktree of a rescue. It is the user's: no worker is its owner.
func (w *Workspace) restore(ctx context.Context, r *repo, c rescued, work *swarm.SavedWork, into string) (err error) {
	var done undo
	defer func() { err = done.after(ctx, err) }()
	path, err := w.dirFor(ctx, r, work.Name, into, &done)
	if err != nil {
		return err
	}
	if work.Note, err = c.restore(ctx, r, path, &done); err != nil {
		return err
	}
	work.Path = path
	return nil
}

// restore makes a worktree of a rescue at path, which is an empty directory. The note says why
// HEAD is detached.
func (c rescued) restore(ctx context.Context, r *repo, path string, done *undo) (note string, err error) {
	start := c.hash
	if c.work && c.base() != "" {
		start = c.base()
	}
	inside, dir, err := r.addWorktree(ctx, done, path, start, "--detach")
	if err != nil {
		return "", err
	}
	if _, err := inside.run(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", c.hash); err != nil || !c.work {
		return "", err
	}
	if err := restoreExact(ctx, inside, c, path, dir); err != nil {
		return "", err
	}
	return r.takeBranch(ctx, inside, c)
}

func (w *Workspace) dirFor(ctx context.Context, r *repo, name, into string, done *undo) (string, error) {
	if into == "" {
		path, _, err := w.makeDir(ctx, r, swarm.WorkspaceSpec{Name: name, Base: r.main}, done)
		return path, err
	}
	path := filepath.Clean(into)
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", invalid("cannot restore into %s: %w", path, err)
	}
	path = filepath.Join(parent, filepath.Base(path))
	if err := free(path); err != nil {
		return "", err
	}
	_, err = done.mkdirAll(path, 0o700)
	return path, err
}

// restoreExact restores what the tree of a rescue can't express: files that git would
// convert, permissions, and the index.
func restoreExact(ctx context.Context, g git, c rescued, path, dir string) error {
	entries, err := g.list(ctx, "ls-tree", "-z", "--name-only", c.exact())
	if err != nil {
		return err
	}
	if slices.Contains(entries, archiveName) {
		err := g.read(ctx, nil, func(r io.Reader) error { return extract(r, path) }, "cat-file", "blob", c.exact()+":"+archiveName)
		if err != nil {
			return err
		}
	}
	if slices.Contains(entries, modesName) {
		list, err := g.list(ctx, "cat-file", "blob", c.exact()+":"+modesName)
		if err == nil {
			err = restoreModes(list, path)
		}
		if err != nil {
			return err
		}
	}
	if !slices.Contains(entries, "index") {
		return nil
	}
	index, err := g.run(ctx, "cat-file", "blob", c.exact()+":index")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "index")
	if err := os.WriteFile(file, []byte(index), 0o600); err != nil {
		return err
	}
	// Git takes a file with the times and the size in the index for unchanged, which a
	// restored file may have within a second, unless the index is older than the file.
	return os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0))
}

// archiveName is the name of an archive in the tree of what a tree can't express.
const archiveName = "files.tar"

// contents lists the files of a rescue that differ from what was checked out, with those in
// its archive.
func (r *repo) contents(ctx context.Context, c rescued) ([]swarm.FileChange, error) {
	files, err := r.changes(ctx, c.base(), c.hash)
	if err != nil || !c.work {
		return files, err
	}
	entries, err := r.git.list(ctx, "ls-tree", "-z", "--name-only", c.exact())
	if err != nil || !slices.Contains(entries, archiveName) {
		return files, err
	}
	listed := make(map[string]bool)
	for _, f := range files {
		listed[f.Path] = true
	}
	err = r.git.read(ctx, nil, func(in io.Reader) error {
		archive := tar.NewReader(in)
		for {
			h, err := archive.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if h.Typeflag == tar.TypeDir || listed[h.Name] {
				continue
			}
			c := swarm.FileChange{Path: h.Name, Added: -1, Removed: -1}
			switch h.Typeflag {
			case tar.TypeSymlink:
				c.Added, c.Removed = 1, 0
			case tar.TypeReg:
				if n := countLines(archive); n >= 0 {
					c.Added, c.Removed = n, 0
				}
			}
			files = append(files, c)
		}
	}, "cat-file", "blob", c.exact()+":"+archiveName)
	slices.SortFunc(files, func(a, b swarm.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// countLines returns how many lines a file has, or -1 if it is not text.
func countLines(r io.Reader) int {
	text, err := io.ReadAll(io.LimitReader(r, linesLimit+1))
	if err != nil || len(text) > linesLimit {
		return -1
	}
	return linesOf(text)
}

// extract writes the files of an archive over those that were checked out. Nothing is written
// outside of the directory. Links come last, so that no file is written through one.
func extract(from io.Reader, path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	var links []*tar.Header
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeSymlink {
			links = append(links, h)
			continue
		}
		if err := extractOne(root, h, archive); err != nil {
			return err
		}
	}
	for _, h := range links {
		if err := extractOne(root, h, nil); err != nil {
			return err
		}
	}
	return nil
}

func extractOne(root *os.Root, h *tar.Header, content io.Reader) error {
	name := strings.TrimSuffix(h.Name, "/")
	parts := strings.Split(name, "/")
	if slices.Contains(parts, ".git") {
		return nil // no rescue of ours has it
	}
	if h.Typeflag == tar.TypeDir {
		return root.MkdirAll(name, 0o777)
	}
	for n := range parts {
		// This file system may take another name for the .git of the worktree.
		part := strings.Join(parts[:n+1], "/")
		if info, err := root.Lstat(part); err == nil {
			if dotGit, err := root.Lstat(filepath.Join(filepath.Dir(part), ".git")); err == nil && os.SameFile(info, dotGit) {
				return fmt.Errorf("cannot restore %s here: this file system does not distinguish %s from .git", quote(name), quote(parts[n]))
			}
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeFifo:
		return unix.Mkfifo(filepath.Join(root.Name(), name), uint32(h.FileInfo().Mode().Perm()))
	case tar.TypeReg:
	default:
		return nil
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// makesBranch is the way out of a detached HEAD.
const makesBranch = "'git switch -c BRANCH' there makes a branch of it"

// takeBranch checks out the branch of a rescue if it is where it was, and says why not. No
// file changes.
func (r *repo) takeBranch(ctx context.Context, inside git, c rescued) (note string, err error) {
	switch c.branch {
	case noBranch:
		return "", nil
	case "":
		return "an older swarm saved this work without the name of its branch, so HEAD is detached: " + makesBranch, nil
	}
	full, err := r.git.line(ctx, "check-ref-format", "--branch", c.branch)
	if err != nil || full != c.branch {
		return "", ctx.Err()
	}
	detached := func(why string) string {
		return fmt.Sprintf("branch '%s' %s, so HEAD is detached: %s", c.branch, why, makesBranch)
	}
	at, err := r.checkedOutAt(ctx, c.branch)
	if err != nil {
		return "", err
	}
	if at != "" {
		return detached("is checked out at " + at), nil
	}
	tip, err := r.git.line(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+c.branch+"^{commit}")
	if _, missing := errors.AsType[*gitError](err); missing {
		tip, err = "", nil
	}
	switch {
	case err != nil:
		return "", err
	case tip != c.base() && tip == "":
		return detached("is gone"), nil
	case tip != c.base():
		return detached("has moved since then"), nil
	}
	return "", inside.whole(ctx, "symbolic-ref", "HEAD", "refs/heads/"+c.branch)
}

// changes lists the files that differ between two commits or trees; an empty one has no
// files.
func (r *repo) changes(ctx context.Context, from, to string) ([]swarm.FileChange, error) {
	if from == "" {
		var err error
		if from, err = r.emptyTree(ctx); err != nil {
			return nil, err
		}
	}
	return r.git.changes(ctx, "diff-tree", "-r", from, to)
}

// changes runs git, which compares two states, and returns the files that differ.
func (g git) changes(ctx context.Context, command string, args ...string) ([]swarm.FileChange, error) {
	args = append([]string{command, "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-relative", "-O/dev/null"}, args...)
	out, err := g.run(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var files []swarm.FileChange
	for _, line := range fields(out) {
		words := strings.SplitN(line, "\t", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("cannot read git %s: %q", command, line)
		}
		c := swarm.FileChange{Path: words[2], Added: -1, Removed: -1}
		if words[0] != "-" {
			c.Added, _ = strconv.Atoi(words[0])
			c.Removed, _ = strconv.Atoi(words[1])
		}
		files = append(files, c)
	}
	return files, nil
}

// emptyTree returns the hash of a tree without files.
func (r *repo) emptyTree(ctx context.Context) (string, error) {
	if err := r.plainObjects(); err != nil {
		return "", err
	}
	return r.git.line(ctx, "mktree")
}
