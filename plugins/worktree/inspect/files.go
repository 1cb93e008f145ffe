package inspect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/swarmhost/swarm/plugins/worktree/git"
)

// portable makes git refuse the names that it refuses on other systems, whatever is
// configured. Such files are archived: a tree with them could not be checked out everywhere.
var portable = []string{"core.protectNTFS=true", "core.protectHFS=true"}

// WorkTree makes a tree of the files as they are, but for those that git refuses to hold, and
// returns the files that exist nowhere else and those that are deleted.
func (t *Tree) WorkTree(ctx context.Context) (hash string, saved, deleted []string, err error) {
	err = t.WithIndex(ctx, func(g git.Git, _ string) error {
		var changed []string
		if changed, deleted, err = t.unhide(ctx, g); err != nil {
			return err
		}
		saved = git.Unique(slices.Concat(changed, t.Untracked, t.Ignored))
		// First, since a file may have taken the place of a directory.
		if _, err := g.Feed(ctx, git.Input(deleted), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
		adding := g.Confined(ctx)
		for _, s := range portable {
			adding = adding.Set(s)
		}
		if err := t.addTo(ctx, adding, saved); err != nil {
			return err
		}
		hash, err = g.Line(ctx, "write-tree")
		return err
	})
	return hash, saved, deleted, err
}

// addTo adds files to an index. If git fails at a file, as it does if a filter fails, addTo
// adds only the files that git need not convert, and no file if git fails at one of those.
// Files that are not in the index are archived.
func (t *Tree) addTo(ctx context.Context, g git.Git, paths []string) error {
	_, err := g.Feed(ctx, git.Input(paths), "update-index", "--add", "-z", "--stdin")
	if _, failed := errors.AsType[*git.Error](err); !failed {
		return err
	}
	converts, err := t.Converts(ctx, paths)
	if err != nil {
		return err
	}
	plain := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return converts(path, git.ModeFile) })
	_, err = g.Feed(ctx, git.Input(plain), "update-index", "--add", "-z", "--stdin")
	if _, failed := errors.AsType[*git.Error](err); failed {
		return nil
	}
	return err
}

// conversions are the attributes that make a file in the working tree differ
// from its blob, see gitattributes(5).
var conversions = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// Converts returns a function that reports whether git may write a file of some mode with
// other contents than it has.
func (t *Tree) Converts(ctx context.Context, paths []string) (func(path, mode string) bool, error) {
	autocrlf, err := t.Git.Line(ctx, "config", "--default=false", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	links, err := t.Git.Line(ctx, "config", "--type=bool", "--default=true", "--get", "core.symlinks")
	if err != nil {
		return nil, err
	}
	args := append([]string{"check-attr", "-z", "--stdin"}, conversions...)
	out, err := t.Git.Feed(ctx, git.Input(paths), args...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	attrs := git.Fields(out)
	for i := 0; i+2 < len(attrs); i += 3 {
		if v := attrs[i+2]; v != "unspecified" && v != "unset" {
			found[attrs[i]] = true
		}
	}
	return func(path, mode string) bool {
		switch mode {
		case git.ModeFile, git.ModeProgram:
			return found[path] || autocrlf != "false"
		case git.ModeLink:
			return links != "true"
		}
		return false
	}, nil
}

// unhide makes git check all files again, in a copy of the index, and returns those that
// differ from it. A file outside of a sparse checkout is not missing.
func (t *Tree) unhide(ctx context.Context, g git.Git) (changed, deleted []string, err error) {
	var skipped, assumed []string
	for _, e := range t.Index {
		if e.Hidden() && !e.Skipped() {
			assumed = append(assumed, e.Path)
		}
		if !e.Skipped() {
			continue
		}
		_, err := os.Lstat(filepath.Join(t.Ref.Path, e.Path))
		switch {
		case err == nil:
			skipped, assumed = append(skipped, e.Path), append(assumed, e.Path)
		case errors.Is(err, syscall.ENOTDIR): // a file has the place of its directory
			deleted = append(deleted, e.Path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		}
	}
	if _, err := g.Feed(ctx, git.Input(skipped), "update-index", "--no-skip-worktree", "-z", "--stdin"); err != nil {
		return nil, nil, err
	}
	if len(assumed) > 0 {
		// Git would not even look whether such a file is there.
		if _, err := g.Feed(ctx, git.Input(assumed), "update-index", "--no-assume-unchanged", "-z", "--stdin"); err != nil {
			return nil, nil, err
		}
	}
	// Exit code 1: some files differ.
	if _, err := g.Ask(ctx, "update-index", "-q", "--unmerged", "--really-refresh"); err != nil {
		return nil, nil, err
	}
	out, err := g.List(ctx, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty")
	for i := 0; i+1 < len(out); i += 2 {
		gone := out[i] == "D"
		if !gone {
			// A conflict may be about a file that is gone, and git can't store a FIFO.
			info, err := os.Lstat(filepath.Join(t.Ref.Path, out[i+1]))
			gone = errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
				err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
		}
		if gone {
			deleted = append(deleted, out[i+1])
		} else {
			changed = append(changed, out[i+1])
		}
	}
	return git.Unique(changed), git.Unique(deleted), err
}
