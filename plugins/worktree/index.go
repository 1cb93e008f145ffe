package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

type indexEntry struct {
	tag               byte
	mode, hash, stage string
	path              string
}

// hidden reports whether git was told to ignore changes of the file. ls-files writes S
// for skip-worktree, and lower case for assume-unchanged.
func (e indexEntry) hidden() bool { return e.skipped() || e.tag >= 'a' && e.tag <= 'z' }

func (e indexEntry) skipped() bool { return e.tag == 'S' || e.tag == 's' }

func (e indexEntry) submodule() bool { return e.mode == "160000" }

// readIndex reads the index, which is not a reason to keep anything.
func (t *tree) readIndex(ctx context.Context) (_ *swarm.Kept, err error) {
	t.index, err = lsFiles(ctx, t.git)
	return nil, err
}

func lsFiles(ctx context.Context, g git) ([]indexEntry, error) {
	lines, err := g.list(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, len(lines))
	for _, line := range lines {
		what, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(what)
		if !ok || len(words) != 4 || len(words[0]) != 1 {
			return nil, fmt.Errorf("cannot read git ls-files: %q", line)
		}
		entries = append(entries, indexEntry{tag: words[0][0], mode: words[1], hash: words[2], stage: words[3], path: path})
	}
	return entries, nil
}

// withIndex calls use with a git that works on a copy of the index.
func (t *tree) withIndex(ctx context.Context, use func(g git, file string) error) error {
	return withScratch(func(file string) error {
		if err := copyFile(filepath.Join(t.admin.dir, "index"), file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		g := t.git.with("GIT_INDEX_FILE=" + file)
		// Written anew, so that it has no part in a file that goes with the worktree
		// and trusts neither fsmonitor nor the cache of untracked files.
		if _, err := g.run(ctx, "update-index", "--no-split-index", "--force-write-index"); err != nil {
			return err
		}
		return use(g, file)
	})
}

// withScratch calls use with the path of an index that does not exist yet.
func withScratch(use func(file string) error) (err error) {
	dir, err := os.MkdirTemp("", "swarm-worktree-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return use(filepath.Join(dir, "index"))
}

// indexLimit is an index of millions of files.
const indexLimit = 1 << 30

// copyFile copies an index with its time: git compares the contents of a file that is not
// older than the index, since such a file may have changed without another time or size.
func copyFile(from, to string) error {
	in, err := safefile.OpenForeign(from, indexLimit)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// unhide makes git check all files again, in a copy of the index, and returns those that
// differ from it. A file outside of a sparse checkout is not missing.
func (t *tree) unhide(ctx context.Context, g git) (changed, deleted []string, err error) {
	var skipped, assumed []string
	for _, e := range t.index {
		if e.hidden() && !e.skipped() {
			assumed = append(assumed, e.path)
		}
		if !e.skipped() {
			continue
		}
		_, err := os.Lstat(filepath.Join(t.ref.Path, e.path))
		switch {
		case err == nil:
			skipped, assumed = append(skipped, e.path), append(assumed, e.path)
		case errors.Is(err, syscall.ENOTDIR): // a file has the place of its directory
			deleted = append(deleted, e.path)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, err
		}
	}
	if _, err := g.feed(ctx, input(skipped), "update-index", "--no-skip-worktree", "-z", "--stdin"); err != nil {
		return nil, nil, err
	}
	if len(assumed) > 0 {
		// Git would not even look whether such a file is there.
		if _, err := g.feed(ctx, input(assumed), "update-index", "--no-assume-unchanged", "-z", "--stdin"); err != nil {
			return nil, nil, err
		}
	}
	// Exit code 1: some files differ.
	if _, err := g.ask(ctx, "update-index", "-q", "--unmerged", "--really-refresh"); err != nil {
		return nil, nil, err
	}
	out, err := g.list(ctx, "diff-files", "-z", "--name-status", "--no-renames", "--ignore-submodules=dirty")
	for i := 0; i+1 < len(out); i += 2 {
		gone := out[i] == "D"
		if !gone {
			// A conflict may be about a file that is gone, and git can't store a FIFO.
			info, err := os.Lstat(filepath.Join(t.ref.Path, out[i+1]))
			gone = errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
				err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0
		}
		if gone {
			deleted = append(deleted, out[i+1])
		} else {
			changed = append(changed, out[i+1])
		}
	}
	return unique(changed), unique(deleted), err
}
