package rescue

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
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
)

// Restore makes a worktree of a rescue at path, which is an empty directory. The note says why
// HEAD is detached.
func (c Saved) Restore(ctx context.Context, r *repo.Repo, path string, done *repo.Undo) (note string, err error) {
	start := c.Hash
	if c.work && c.base() != "" {
		start = c.base()
	}
	inside, dir, err := r.AddWorktree(ctx, done, path, start, "--detach")
	if err != nil {
		return "", err
	}
	if _, err := inside.Run(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", c.Hash); err != nil || !c.work {
		return "", err
	}
	if err := restoreExact(ctx, inside, c, path, dir); err != nil {
		return "", err
	}
	return takeBranch(ctx, r, inside, c)
}

// restoreExact restores what the tree of a rescue can't express: files that git would
// convert, permissions, and the index.
func restoreExact(ctx context.Context, g git.Git, c Saved, path, dir string) error {
	entries, err := g.List(ctx, "ls-tree", "-z", "--name-only", c.exact())
	if err != nil {
		return err
	}
	if slices.Contains(entries, archiveName) {
		err := g.Read(ctx, nil, func(r io.Reader) error { return extract(r, path) }, "cat-file", "blob", c.exact()+":"+archiveName)
		if err != nil {
			return err
		}
	}
	if slices.Contains(entries, modesName) {
		list, err := g.List(ctx, "cat-file", "blob", c.exact()+":"+modesName)
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
	index, err := g.Run(ctx, "cat-file", "blob", c.exact()+":index")
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

// extract writes the files of an archive over those that were checked out. Nothing is written
// outside of the directory. Links come last, so that no file is written through one.
func extract(from io.Reader, path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	var links []*tar.Header
	err = eachArchived(from, func(h *tar.Header, content io.Reader) error {
		if h.Typeflag == tar.TypeSymlink {
			links = append(links, h)
			return nil
		}
		return extractOne(root, h, content)
	})
	if err != nil {
		return err
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
				return fmt.Errorf("cannot restore %s here: this file system does not distinguish %s from .git", git.Quote(name), git.Quote(parts[n]))
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
func takeBranch(ctx context.Context, r *repo.Repo, inside git.Git, c Saved) (note string, err error) {
	if c.branch == noBranch {
		return "", nil
	}
	full, err := r.Git.Line(ctx, "check-ref-format", "--branch", c.branch)
	if err != nil || full != c.branch {
		return "", ctx.Err()
	}
	detached := func(why string) string {
		return fmt.Sprintf("branch '%s' %s, so HEAD is detached: %s", c.branch, why, makesBranch)
	}
	at, err := r.CheckedOutAt(ctx, c.branch)
	if err != nil {
		return "", err
	}
	if at != "" {
		return detached("is checked out at " + at), nil
	}
	tip, err := r.Git.Line(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+c.branch+"^{commit}")
	if _, missing := errors.AsType[*git.Error](err); missing {
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
	return "", inside.RunWhole(ctx, "symbolic-ref", "HEAD", "refs/heads/"+c.branch)
}
