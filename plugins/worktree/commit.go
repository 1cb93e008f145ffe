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

	work, saved, deleted, err := t.workTree(ctx)
	if err != nil {
		return c, err
	}
	c.saved, c.deleted = saved, deleted
	exact, err := t.exactIndex(ctx)
	if err != nil {
		return c, err
	}
	c.conflicts = len(exact) > 1
	unheld, err := t.unheld(ctx, work, saved)
	if err != nil {
		return c, err
	}
	if c.archived = len(unheld) > 0; c.archived {
		blob, err := t.archive(ctx, unheld)
		if err != nil {
			return c, err
		}
		exact = append(exact, "100644 blob "+blob+"\tfiles.tar")
	}
	if exact, c.listed, err = t.addModes(ctx, exact, slices.Concat(saved, unheld)); err != nil {
		return c, err
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
	err = t.withIndex(ctx, func(g git, _ string) error {
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

// portable makes git refuse the names that it refuses on other systems, whatever is
// configured. Such files are archived: a tree with them could not be checked out everywhere.
var portable = []string{"core.protectNTFS=true", "core.protectHFS=true"}

// workTree makes a tree of the files as they are, but for those that git refuses to hold, and
// returns the files that exist nowhere else and those that are deleted.
func (t *tree) workTree(ctx context.Context) (hash string, saved, deleted []string, err error) {
	err = t.withIndex(ctx, func(g git, _ string) error {
		var changed []string
		if changed, deleted, err = t.unhide(ctx, g); err != nil {
			return err
		}
		saved = unique(slices.Concat(changed, t.untracked, t.ignored))
		// First, since a file may have taken the place of a directory.
		if _, err := g.feed(ctx, input(deleted), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
		adding := g.confined(ctx)
		for _, s := range portable {
			adding = adding.set(s)
		}
		if err := t.addTo(ctx, adding, saved); err != nil {
			return err
		}
		hash, err = g.line(ctx, "write-tree")
		return err
	})
	return hash, saved, deleted, err
}

// addTo adds files to an index. If git fails at one, as it does if a filter fails, it adds
// those that it need not convert, and if it fails at one of them, none. Whatever is not in the
// index is archived.
func (t *tree) addTo(ctx context.Context, g git, paths []string) error {
	_, err := g.feed(ctx, input(paths), "update-index", "--add", "-z", "--stdin")
	if _, failed := errors.AsType[*gitError](err); !failed {
		return err
	}
	converts, err := t.converts(ctx, paths)
	if err != nil {
		return err
	}
	plain := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return converts(path, modeFile) })
	_, err = g.feed(ctx, input(plain), "update-index", "--add", "-z", "--stdin")
	if _, failed := errors.AsType[*gitError](err); failed {
		return nil
	}
	return err
}

// unique removes the repetitions of paths.
func unique(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// exactIndex returns the entries of a tree that holds the index itself and, in
// more entries, what its conflicts refer to.
func (t *tree) exactIndex(ctx context.Context) ([]string, error) {
	var entries []string
	err := t.withIndex(ctx, func(_ git, file string) error {
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

// converts returns a function that reports whether git may write a file of some mode with
// other contents than it has.
func (t *tree) converts(ctx context.Context, paths []string) (func(path, mode string) bool, error) {
	autocrlf, err := t.git.line(ctx, "config", "--default=false", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	links, err := t.git.line(ctx, "config", "--type=bool", "--default=true", "--get", "core.symlinks")
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
	return func(path, mode string) bool {
		switch mode {
		case modeFile, modeProgram:
			return found[path] || autocrlf != "false"
		case modeLink:
			return links != "true"
		}
		return false
	}, nil
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
	full := filepath.Join(t.ref.Path, path)
	info, err := os.Lstat(full)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		target := ""
		if info.Mode()&os.ModeSymlink != 0 {
			if target, err = os.Readlink(full); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		if h.Name = path; info.IsDir() {
			h.Name += "/"
		}
		return w.WriteHeader(h)
	}
	f, err := safefile.OpenForeign(full, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
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
