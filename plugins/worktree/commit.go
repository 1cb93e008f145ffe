package worktree

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

	"github.com/swarmhost/swarm/shared/safefile"
)

// commit is a rescue of uncommitted work. Its tree is the working tree, with the
// untracked and the saved ignored files. Its parents are
//
//	head   what was checked out, unless that was before the first commit
//	index  a commit of the index, without conflicts
//	exact  a commit of what those two can't express: as index the index itself,
//	       with conflicts and marks; as stage1 to stage3 what its conflicts refer
//	       to; as files.tar the saved files that git converts when it checks them
//	       out, byte for byte
type commit struct {
	hash string
	// exact is the number of that parent, counted from 1.
	exact               int
	conflicts, archived bool
}

var ident = []string{
	"GIT_AUTHOR_NAME=swarm", "GIT_AUTHOR_EMAIL=swarm@localhost",
	"GIT_COMMITTER_NAME=swarm", "GIT_COMMITTER_EMAIL=swarm@localhost",
}

// commit saves index, working tree, untracked and ignored files.
func (t *tree) commit(ctx context.Context) (c commit, err error) {
	var parents []string
	if t.head != "" {
		parents = append(parents, t.head)
	}
	index, err := t.indexTree(ctx)
	if err != nil {
		return c, err
	}
	if parents, err = t.addParent(ctx, parents, index, "index"); err != nil {
		return c, err
	}

	work, saved, err := t.workTree(ctx)
	if err != nil {
		return c, err
	}
	exact, err := t.exactIndex(ctx)
	if err != nil {
		return c, err
	}
	c.conflicts = len(exact) > 1
	converted, err := t.converted(ctx, saved)
	if err != nil {
		return c, err
	}
	if c.archived = len(converted) > 0; c.archived {
		blob, err := t.archive(ctx, converted)
		if err != nil {
			return c, err
		}
		exact = append(exact, "100644 blob "+blob+"\tfiles.tar")
	}
	made, err := t.git.feed(ctx, input(exact), "mktree", "-z")
	if err != nil {
		return c, err
	}
	if parents, err = t.addParent(ctx, parents, strings.TrimSpace(made), "what a tree cannot express"); err != nil {
		return c, err
	}
	c.exact = len(parents)
	what := "working tree\n\n" + branchTrailer + cmp.Or(t.branch, noBranch)
	c.hash, err = t.commitTree(ctx, work, parents, what)
	return c, err
}

// branchTrailer begins the line of a rescue that names the branch that was checked out.
// A rescue without this line was made by an older swarm.
const branchTrailer = "Swarm-Branch: "

// noBranch stands there for a detached HEAD: no branch can be called that.
const noBranch = "HEAD"

func (t *tree) addParent(ctx context.Context, parents []string, tree, what string) ([]string, error) {
	hash, err := t.commitTree(ctx, tree, parents[:min(1, len(parents))], what)
	return append(parents, hash), err
}

func (t *tree) commitTree(ctx context.Context, tree string, parents []string, what string) (string, error) {
	args := []string{"commit-tree", tree, "-m", fmt.Sprintf("swarm: rescue of worktree '%s': %s", t.ref.Name, what)}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return t.git.with(ident...).line(ctx, args...)
}

// indexTree makes a tree of what is in the index without conflicts.
func (t *tree) indexTree(ctx context.Context) (hash string, err error) {
	err = t.withIndex(ctx, func(g git) error {
		var conflicts []string
		for _, e := range t.index {
			if e.stage != "0" {
				conflicts = append(conflicts, e.path)
			}
		}
		if _, err := g.feed(ctx, input(conflicts), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
		hash, err = g.line(ctx, "write-tree")
		return err
	})
	return hash, err
}

// workTree makes a tree of the files as they are, and returns those of them that
// exist nowhere else.
func (t *tree) workTree(ctx context.Context) (hash string, saved []string, err error) {
	err = t.withIndex(ctx, func(g git) error {
		changed, deleted, err := t.unhide(ctx, g)
		if err != nil {
			return err
		}
		saved = slices.Concat(changed, t.untracked, t.ignored)
		// First, since a file may have taken the place of a directory.
		if _, err := g.feed(ctx, input(deleted), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
		if _, err := g.confined(ctx).feed(ctx, input(saved), "update-index", "--add", "-z", "--stdin"); err != nil {
			return err
		}
		hash, err = g.line(ctx, "write-tree")
		return err
	})
	return hash, saved, err
}

// exactIndex returns the entries of a tree that holds the index itself and, in
// more entries, what its conflicts refer to.
func (t *tree) exactIndex(ctx context.Context) ([]string, error) {
	var entries []string
	err := t.withIndex(ctx, func(g git) error {
		file, _ := strings.CutPrefix(g.env[len(g.env)-1], "GIT_INDEX_FILE=")
		hash, err := t.git.line(ctx, "hash-object", "-w", "--no-filters", file)
		entries = append(entries, "100644 blob "+hash+"\tindex")
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, stage := range []string{"1", "2", "3"} {
		var info []string
		for _, e := range t.index {
			if e.stage == stage {
				info = append(info, e.mode+" "+e.hash+" 0\t"+e.path)
			}
		}
		if len(info) == 0 {
			continue
		}
		err := withScratch(func(file string) error {
			g := t.git.with("GIT_INDEX_FILE=" + file)
			if _, err := g.feed(ctx, input(info), "update-index", "-z", "--index-info"); err != nil {
				return err
			}
			hash, err := g.line(ctx, "write-tree")
			entries = append(entries, "040000 tree "+hash+"\tstage"+stage)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// conversions are the attributes that make a file in the working tree differ
// from its blob, see gitattributes(5).
var conversions = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// converted returns the regular files that git may convert.
func (t *tree) converted(ctx context.Context, paths []string) ([]string, error) {
	autocrlf, err := t.git.line(ctx, "config", "--default=false", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	args := append([]string{"check-attr", "-z", "--stdin"}, conversions...)
	out, err := t.git.feed(ctx, input(paths), args...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	attrs := fields(out)
	for i := 0; i+2 < len(attrs); i += 3 {
		if v := attrs[i+2]; v != "unspecified" && v != "unset" {
			found[attrs[i]] = true
		}
	}
	var converted []string
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(t.ref.Path, path))
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && (found[path] || autocrlf != "false") {
			converted = append(converted, path)
		}
	}
	return converted, nil
}

// archive stores files as they are and returns the blob.
func (t *tree) archive(ctx context.Context, paths []string) (string, error) {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := t.writeTar(w, paths)
		w.CloseWithError(err)
		written <- err
	}()
	hash, err := t.git.feed(ctx, r, "hash-object", "-w", "--no-filters", "--stdin")
	_ = r.Close()
	return strings.TrimSpace(hash), errors.Join(<-written, err)
}

func (t *tree) writeTar(to io.Writer, paths []string) error {
	w := tar.NewWriter(to)
	for _, path := range paths {
		if err := t.addTar(w, path); err != nil {
			return err
		}
	}
	return w.Close()
}

func (t *tree) addTar(w *tar.Writer, path string) error {
	f, err := safefile.OpenForeign(filepath.Join(t.ref.Path, path), 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	h.Name = path
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
