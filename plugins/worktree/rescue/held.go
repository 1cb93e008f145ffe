package rescue

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/shared/safefile"
)

// objectHash returns the hash by which git names an object of that kind and size in a repository
// whose hashes are as long as like.
func objectHash(like, kind string, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see above
	if len(like) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	return h
}

// onDisk reads a file of the worktree.
func onDisk(t *inspect.Tree, path, like string) (git.File, error) {
	full := filepath.Join(t.Ref.Path, path)
	info, err := os.Lstat(full)
	if err != nil {
		return git.File{}, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		return link(target, like), err
	case info.Mode()&fs.ModeNamedPipe != 0:
		return git.File{Mode: git.ModePipe}, nil
	case info.IsDir():
		return git.File{Mode: git.ModeDir}, nil
	}
	f, err := safefile.OpenForeign(full, 0)
	if err != nil {
		return git.File{}, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return git.File{}, err
	}
	h := objectHash(like, "blob", info.Size())
	if n, err := io.Copy(h, f); err != nil || n != info.Size() {
		return git.File{}, errors.Join(err, fmt.Errorf("%s changes while it is read", git.Quote(path)))
	}
	return git.File{Mode: modeOf(info.Mode()), Hash: fmt.Sprintf("%x", h.Sum(nil))}, nil
}

// link is a symbolic link with that target.
func link(target, like string) git.File {
	h := objectHash(like, "blob", int64(len(target)))
	_, _ = io.WriteString(h, target) // never fails
	return git.File{Mode: git.ModeLink, Hash: fmt.Sprintf("%x", h.Sum(nil))}
}

func modeOf(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return git.ModeProgram
	}
	return git.ModeFile
}

// unheld returns the files that go into the archive of a rescue: of those to save the ones
// that its tree does not hold as they are, or that git would not write like that again.
func unheld(ctx context.Context, t *inspect.Tree, work string, saved []string) ([]string, error) {
	held, err := t.Git.LsTree(ctx, work)
	if err != nil {
		return nil, err
	}
	converts, err := t.Converts(ctx, saved)
	if err != nil {
		return nil, err
	}
	var rest []string
	for _, path := range saved {
		now, err := onDisk(t, path, work)
		if err != nil {
			return nil, err
		}
		if held[path].Mode == git.ModeModule && now.Mode == git.ModeDir {
			continue // of a submodule, which was examined
		}
		if held[path] != now || converts(path, now.Mode) {
			rest = append(rest, path)
		}
	}
	return slices.Concat(rest, t.Special), nil
}

// compare returns an error that names what a rescue does not hold as it is in the worktree:
// files, and the index. It reads the rescue from the repository.
func compare(ctx context.Context, t *inspect.Tree, c commit) error {
	held, err := t.Git.LsTree(ctx, c.hash)
	if err != nil {
		return err
	}
	var wrong []string
	other := make(map[string]bool)
	for _, path := range c.deleted {
		other[path] = true
		if _, there := held[path]; there {
			wrong = append(wrong, path)
		}
	}
	if c.archived {
		err := t.Git.Read(ctx, nil, func(r io.Reader) error {
			return eachArchived(r, func(h *tar.Header, content io.Reader) error { return hold(held, h, content, c.hash) })
		}, "cat-file", "blob", c.archive())
		if err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(c.saved, t.Special) {
		other[path] = true
		now, err := onDisk(t, path, c.hash)
		if err != nil {
			return err
		}
		if held[path] != now && (held[path].Mode != git.ModeModule || now.Mode != git.ModeDir) {
			wrong = append(wrong, path)
		}
	}
	for _, e := range t.Index {
		if !other[e.Path] && held[e.Path] != (git.File{Mode: e.Mode, Hash: e.Hash}) {
			wrong = append(wrong, e.Path)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the saved work does not hold %s", quoteSome(wrong))
	}
	return compareIndex(ctx, t, c)
}

func compareIndex(ctx context.Context, t *inspect.Tree, c commit) error {
	return inspect.WithScratch(func(file string) error {
		text, err := t.Git.Run(ctx, "cat-file", "blob", fmt.Sprintf("%s^%d:index", c.hash, c.exact))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		saved, err := t.Git.With("GIT_INDEX_FILE=" + file).LsFiles(ctx)
		if err == nil && !slices.Equal(saved, t.Index) {
			err = errors.New("the saved work does not hold the index")
		}
		return err
	})
}

// eachArchived calls each for the entries of an archive of a rescue.
func eachArchived(r io.Reader, each func(h *tar.Header, content io.Reader) error) error {
	archive := tar.NewReader(bufio.NewReader(r))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(h, archive)
		}
		if err != nil {
			return err
		}
	}
}

// hold adds an entry of an archive to the files that a rescue holds.
func hold(held map[string]git.File, h *tar.Header, content io.Reader, like string) error {
	what := git.File{Mode: modeOf(h.FileInfo().Mode())}
	switch h.Typeflag {
	case tar.TypeReg:
		sum := objectHash(like, "blob", h.Size)
		if _, err := io.Copy(sum, content); err != nil {
			return err
		}
		what.Hash = fmt.Sprintf("%x", sum.Sum(nil))
	case tar.TypeSymlink:
		what = link(h.Linkname, like)
	case tar.TypeFifo:
		what.Mode = git.ModePipe
	case tar.TypeDir:
		what.Mode = git.ModeDir
	default:
		return nil
	}
	held[strings.TrimSuffix(h.Name, "/")] = what
	return nil
}

// quoteSome names the first of some paths.
func quoteSome(paths []string) string {
	const shown = 3
	names := make([]string, 0, shown)
	for _, path := range paths[:min(shown, len(paths))] {
		names = append(names, git.Quote(path))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
