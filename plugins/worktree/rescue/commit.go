package rescue

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/shared/safefile"
)

// commit is a rescue of uncommitted work. Its tree is the working tree, with the
// untracked and the saved ignored files. Its parents are
//
//	head   what was checked out, unless that was before the first commit
//	index  a commit of the index, without conflicts
//	exact  a commit of what those two can't express: as index the index itself,
//	       with conflicts and marks; as stage1 to stage3 what its conflicts refer
//	       to; as files.tar what git refuses to hold, such as a file in a directory
//	       .GIT, and the saved files that it converts when it checks them out, byte
//	       for byte; as modes the permissions of the saved files
type commit struct {
	hash string
	// exact is the number of that parent, counted from 1.
	exact               int
	conflicts, archived bool
	// listed says that there is a list of permissions.
	listed bool
	// saved are the files in the worktree that exist nowhere else, deleted those that are
	// only in the index.
	saved, deleted []string
}

// archive names the blob of files.tar.
func (c commit) archive() string { return fmt.Sprintf("%s^%d:files.tar", c.hash, c.exact) }

var ident = []string{
	"GIT_AUTHOR_NAME=swarm", "GIT_AUTHOR_EMAIL=swarm@localhost",
	"GIT_COMMITTER_NAME=swarm", "GIT_COMMITTER_EMAIL=swarm@localhost",
}

// saveWork saves index, working tree, untracked and ignored files.
func saveWork(ctx context.Context, t *inspect.Tree) (c commit, err error) {
	var parents []string
	if t.Head != "" {
		parents = append(parents, t.Head)
	}
	index, err := indexTree(ctx, t)
	if err != nil {
		return c, err
	}
	if parents, err = addParent(ctx, t, parents, index, "index"); err != nil {
		return c, err
	}

	work, saved, deleted, err := t.WorkTree(ctx)
	if err != nil {
		return c, err
	}
	c.saved, c.deleted = saved, deleted
	exact, err := exactIndex(ctx, t)
	if err != nil {
		return c, err
	}
	c.conflicts = len(exact) > 1
	rest, err := unheld(ctx, t, work, saved)
	if err != nil {
		return c, err
	}
	if c.archived = len(rest) > 0; c.archived {
		blob, err := archive(ctx, t, rest)
		if err != nil {
			return c, err
		}
		exact = append(exact, "100644 blob "+blob+"\t"+archiveName)
	}
	if exact, c.listed, err = addModes(ctx, t, exact, slices.Concat(saved, rest)); err != nil {
		return c, err
	}
	made, err := t.Git.Feed(ctx, git.Input(exact), "mktree", "-z")
	if err != nil {
		return c, err
	}
	if parents, err = addParent(ctx, t, parents, strings.TrimSpace(made), "what a tree cannot express"); err != nil {
		return c, err
	}
	c.exact = len(parents)
	what := "working tree\n\n" + branchTrailer + cmp.Or(t.Branch, noBranch)
	c.hash, err = commitTree(ctx, t, work, parents, what)
	return c, err
}

// branchTrailer begins the line of a rescue that names the branch that was checked out.
const branchTrailer = "Swarm-Branch: "

// noBranch stands there for a detached HEAD: no branch can be called that.
const noBranch = "HEAD"

func addParent(ctx context.Context, t *inspect.Tree, parents []string, tree, what string) ([]string, error) {
	hash, err := commitTree(ctx, t, tree, parents[:min(1, len(parents))], what)
	return append(parents, hash), err
}

func commitTree(ctx context.Context, t *inspect.Tree, tree string, parents []string, what string) (string, error) {
	args := []string{"commit-tree", tree, "-m", fmt.Sprintf("swarm: rescue of worktree '%s': %s", t.Ref.Name, what)}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return t.Git.With(ident...).Line(ctx, args...)
}

// indexTree makes a tree of what is in the index without conflicts.
func indexTree(ctx context.Context, t *inspect.Tree) (hash string, err error) {
	err = t.WithIndex(ctx, func(g git.Git, _ string) error {
		var conflicts []string
		for _, e := range t.Index {
			if e.Stage != "0" {
				conflicts = append(conflicts, e.Path)
			}
		}
		if _, err := g.Feed(ctx, git.Input(conflicts), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
		hash, err = g.Line(ctx, "write-tree")
		return err
	})
	return hash, err
}

// exactIndex returns the entries of a tree that holds the index itself and, in
// more entries, what its conflicts refer to.
func exactIndex(ctx context.Context, t *inspect.Tree) ([]string, error) {
	var entries []string
	err := t.WithIndex(ctx, func(_ git.Git, file string) error {
		hash, err := t.Git.Line(ctx, "hash-object", "-w", "--no-filters", file)
		entries = append(entries, "100644 blob "+hash+"\tindex")
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, stage := range []string{"1", "2", "3"} {
		var info []string
		for _, e := range t.Index {
			if e.Stage == stage {
				info = append(info, e.Mode+" "+e.Hash+" 0\t"+e.Path)
			}
		}
		if len(info) == 0 {
			continue
		}
		err := inspect.WithScratch(func(file string) error {
			g := t.Git.With("GIT_INDEX_FILE=" + file)
			if _, err := g.Feed(ctx, git.Input(info), "update-index", "-z", "--index-info"); err != nil {
				return err
			}
			hash, err := g.Line(ctx, "write-tree")
			entries = append(entries, "040000 tree "+hash+"\tstage"+stage)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// archive stores files as they are and returns the blob.
func archive(ctx context.Context, t *inspect.Tree, paths []string) (string, error) {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := writeTar(t, w, paths)
		w.CloseWithError(err)
		written <- err
	}()
	hash, err := t.Git.Feed(ctx, r, "hash-object", "-w", "--no-filters", "--stdin")
	_ = r.Close()
	return strings.TrimSpace(hash), errors.Join(<-written, err)
}

func writeTar(t *inspect.Tree, to io.Writer, paths []string) error {
	w := tar.NewWriter(to)
	for _, path := range paths {
		if err := addTar(t, w, path); err != nil {
			return err
		}
	}
	return w.Close()
}

func addTar(t *inspect.Tree, w *tar.Writer, path string) error {
	full := filepath.Join(t.Ref.Path, path)
	info, err := os.Lstat(full)
	if err != nil {
		return err
	}
	var f *os.File // of a regular file
	target := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		if f, err = safefile.OpenForeign(full, 0); err == nil {
			defer func() { _ = f.Close() }()
			info, err = f.Stat()
		}
	case mode&os.ModeSymlink != 0:
		target, err = os.Readlink(full)
	}
	if err != nil {
		return err
	}
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	if h.Name = path; info.IsDir() {
		h.Name += "/"
	}
	if err := w.WriteHeader(h); err != nil || f == nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
