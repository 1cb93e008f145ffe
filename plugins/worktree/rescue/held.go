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

// blobHash returns the hash by which git names a blob of that size in a repository whose
// hashes are as long as like.
func blobHash(like string, size int64) hash.Hash { return objectHash(like, "blob", size) }

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
		h := blobHash(like, int64(len(target)))
		_, _ = io.WriteString(h, target)
		return git.File{Mode: git.ModeLink, Hash: fmt.Sprintf("%x", h.Sum(nil))}, err
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
	h := blobHash(like, info.Size())
	if n, err := io.Copy(h, f); err != nil || n != info.Size() {
		return git.File{}, errors.Join(err, fmt.Errorf("%s changes while it is read", git.Quote(path)))
	}
	return git.File{Mode: modeOf(info.Mode()), Hash: fmt.Sprintf("%x", h.Sum(nil))}, nil
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
			return eachArchived(r, c.hash, func(path string, what git.File) { held[path] = what })
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

// eachArchived reads an archive of a rescue.
func eachArchived(r io.Reader, like string, each func(path string, what git.File)) error {
	archive := tar.NewReader(bufio.NewReader(r))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		what := git.File{Mode: modeOf(h.FileInfo().Mode())}
		sum := blobHash(like, h.Size)
		switch h.Typeflag {
		case tar.TypeReg:
			_, err = io.Copy(sum, archive)
		case tar.TypeSymlink:
			what.Mode, sum = git.ModeLink, blobHash(like, int64(len(h.Linkname)))
			_, err = io.WriteString(sum, h.Linkname)
		case tar.TypeFifo:
			what.Mode, sum = git.ModePipe, nil
		case tar.TypeDir:
			what.Mode, sum = git.ModeDir, nil
		default:
			continue
		}
		if err != nil {
			return err
		}
		if sum != nil {
			what.Hash = fmt.Sprintf("%x", sum.Sum(nil))
		}
		each(strings.TrimSuffix(h.Name, "/"), what)
	}
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
