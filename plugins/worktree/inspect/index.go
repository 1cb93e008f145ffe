package inspect

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ReadIndex reads the index, which is not a reason to keep anything.
func (t *Tree) ReadIndex(ctx context.Context) (_ *swarm.Kept, err error) {
	t.Index, err = t.Git.LsFiles(ctx)
	return nil, err
}

// WithIndex calls use with a git that works on a copy of the index.
func (t *Tree) WithIndex(ctx context.Context, use func(g git.Git, file string) error) error {
	return WithScratch(func(file string) error {
		if err := copyFile(filepath.Join(t.Admin.Dir, "index"), file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		g := t.Git.With("GIT_INDEX_FILE=" + file)
		// Written anew, so that it has no part in a file that goes with the worktree
		// and trusts neither fsmonitor nor the cache of untracked files.
		if _, err := g.Run(ctx, "update-index", "--no-split-index", "--force-write-index"); err != nil {
			return err
		}
		return use(g, file)
	})
}

// WithScratch calls use with the path of an index that does not exist yet.
func WithScratch(use func(file string) error) (err error) {
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
