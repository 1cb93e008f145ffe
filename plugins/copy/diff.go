package copy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// textLimit is how large a file may be whose lines are counted, and summaryLimit how much is
	// read for the figures of a whole copy.
	textLimit, summaryLimit = 1 << 20, 16 << 20
	// shownLimit is how large a file may be whose difference is shown.
	shownLimit = 64 << 20
	// shownFor is for how long the files of a difference stay that a command shows.
	shownFor = time.Hour
)

func (w *Workspace) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.Diff{}, err
	}
	t, err := open(ref, ref.Path)
	switch {
	case errors.Is(err, errNotOurs):
		return swarm.Diff{}, fmt.Errorf("%w: %s: %w", swarm.ErrUnavailable, ref.Path, err)
	case errors.Is(err, fs.ErrNotExist):
		return swarm.Diff{}, fmt.Errorf("copy %s: %w", ref.Path, swarm.ErrNotFound)
	case err != nil:
		return swarm.Diff{}, err
	}
	defer t.close()
	changes, err := t.changes(ctx)
	if err != nil {
		return swarm.Diff{}, err
	}
	var d swarm.Diff
	if d.Files, err = t.files(ctx, changes); err != nil || o.Summary {
		return d, err
	}
	dir, err := t.snapshot(ctx, changes)
	if err != nil {
		return swarm.Diff{}, err
	}
	d.Command, d.Env, d.Unset = show(dir, o.Colour)
	return d, nil
}

// files returns the changed files with their changed lines.
func (t *tree) files(ctx context.Context, changes []change) ([]swarm.FileChange, error) {
	left := int64(summaryLimit)
	var files []swarm.FileChange
	for _, c := range changes {
		if c.isDir() {
			continue
		}
		f := swarm.FileChange{Path: c.path, Added: -1, Removed: -1}
		before, known, err := t.textBefore(ctx, c, &left)
		if err != nil {
			return nil, err
		}
		after, isText, err := t.textAfter(c, &left)
		if err != nil {
			return nil, err
		}
		if known && isText {
			f.Added, f.Removed = changedLines(before, after)
		}
		files = append(files, f)
	}
	return files, nil
}

// textBefore returns the text of a file when it was copied, if it is text and that is known.
func (t *tree) textBefore(ctx context.Context, c change, left *int64) (string, bool, error) {
	switch old := c.before; {
	case old == nil || old.Mode.IsDir():
		return "", true, nil
	case old.Mode&fs.ModeSymlink != 0:
		return old.Target + "\n", true, nil
	case old.Size > min(textLimit, *left):
		return "", false, nil
	default:
		f, err := t.original(ctx, old)
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		return textOf(f, err, left)
	}
}

// textAfter returns the text of a file as it is now, if it is text.
func (t *tree) textAfter(c change, left *int64) (string, bool, error) {
	switch now := c.after; {
	case now == nil || now.Mode.IsDir():
		return "", true, nil
	case now.Mode&fs.ModeSymlink != 0:
		return now.Target + "\n", true, nil
	case now.Size > min(textLimit, *left):
		return "", false, nil
	}
	f, err := openFile(t.root, c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", true, nil // it was removed just now
	}
	return textOf(f, err, left)
}

func textOf(f *os.File, err error, left *int64) (string, bool, error) {
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, textLimit))
	*left -= int64(len(text))
	const looked = 8000 // as git does
	isText := bytes.IndexByte(text[:min(len(text), looked)], 0) < 0
	return string(text), isText && err == nil, err
}

// changedLines counts the lines that differ between two texts.
func changedLines(before, after string) (added, removed int) {
	const heading = 2 // lines that name the files
	n := 0
	for line := range strings.Lines(udiff.Unified("", "", before, after)) {
		switch n++; {
		case n <= heading:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// snapshot writes the changed files into two directories, a and b, as they were and as they are.
func (t *tree) snapshot(ctx context.Context, changes []change) (dir string, err error) {
	t.dropOld()
	if dir, err = os.MkdirTemp(t.dir, "diff-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = removeTree(dir) // a later call removes it
		}
	}()
	var sides [2]*os.Root
	for i, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return "", err
		}
		if sides[i], err = os.OpenRoot(filepath.Join(dir, name)); err != nil {
			return "", err
		}
		defer sides[i].Close()
	}
	for _, c := range changes {
		if c.before != nil {
			from, err := t.original(ctx, c.before)
			if err := put(sides[0], c.before, from, err, "the content at the beginning is gone: "+filepath.Join(t.Base, c.path)+" has changed since"); err != nil {
				return "", err
			}
		}
		if c.after != nil {
			from, err := openFile(t.root, c.path)
			if err := put(sides[1], c.after, from, err, "it was removed just now"); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}

// put writes a file or link into one side of a difference. from and err are what opening it returned;
// gone stands for a file that does not exist.
func put(side *os.Root, e *entry, from *os.File, err error, gone string) error {
	if from != nil {
		defer from.Close()
	}
	if e.Mode.IsDir() {
		return nil
	}
	if err := side.MkdirAll(path.Dir(e.Path), 0o700); err != nil {
		return err
	}
	var content io.Reader = from
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		return side.Symlink(e.Target, e.Path)
	case errors.Is(err, fs.ErrNotExist):
		content = strings.NewReader("(" + gone + ")\n")
	case err != nil:
		return err
	case e.Size > shownLimit:
		content = strings.NewReader("(a file of " + humane.Bytes(e.Size) + ")\n")
	}
	to, err := side.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|e.Mode.Perm()&0o100)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	return errors.Join(err, to.Close())
}

// dropOld removes the files of differences that were shown long ago.
func (t *tree) dropOld() {
	found, _ := filepath.Glob(filepath.Join(t.dir, "diff-*"))
	for _, dir := range found {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > shownFor {
			_ = removeTree(dir) // the removal of the copy tries it again
		}
	}
}

// show returns the command that prints a difference: git, or without it diff. Neither reads the
// configuration of a repository, nor runs a program that one names.
func show(dir string, colour swarm.Colour) (command, env, unset []string) {
	// Both exit with 1 if there are differences.
	command = []string{"sh", "-c", `cd "$1" && shift && { "$@"; [ $? -le 1 ]; }`, "sh", dir}
	if _, err := exec.LookPath("git"); err != nil {
		return append(command, "diff", "-ruN", "a", "b"), nil, nil
	}
	command = append(command, "git", "-c", "pager.diff=true", "diff", "--no-index", "--no-prefix", "--no-ext-diff", "--no-textconv")
	switch {
	case colour == swarm.ColourAlways:
		command = append(command, "--color=always")
	case colour == swarm.ColourNever || os.Getenv("NO_COLOR") != "":
		command = append(command, "--no-color")
	}
	return append(command, "a", "b"), []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}, []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
}
