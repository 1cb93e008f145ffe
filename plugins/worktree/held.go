package worktree

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // git names objects by it
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

	"github.com/swarmhost/swarm/shared/safefile"
)

// content is what a file is, as git writes it: the mode, and the hash of the bytes as they
// are. A link has the hash of its target. A FIFO and an empty directory have only a mode.
type content struct{ mode, hash string }

const (
	modeFile, modeProgram, modeLink, modeModule = "100644", "100755", "120000", "160000"
	// modePipe and modeDir are those of a FIFO and of an empty directory in an archive.
	modePipe, modeDir = "010000", "040000"
)

// lsTree returns the files of a tree or a commit by their paths.
func lsTree(ctx context.Context, g git, tree string) (map[string]content, error) {
	lines, err := g.list(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	files := make(map[string]content, len(lines))
	for _, line := range lines {
		what, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(what)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("cannot read git ls-tree: %q", line)
		}
		files[path] = content{mode: words[0], hash: words[2]}
	}
	return files, nil
}

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
func (t *tree) onDisk(path, like string) (content, error) {
	full := filepath.Join(t.ref.Path, path)
	info, err := os.Lstat(full)
	if err != nil {
		return content{}, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		h := blobHash(like, int64(len(target)))
		_, _ = io.WriteString(h, target)
		return content{modeLink, fmt.Sprintf("%x", h.Sum(nil))}, err
	case info.Mode()&fs.ModeNamedPipe != 0:
		return content{mode: modePipe}, nil
	case info.IsDir():
		return content{mode: modeDir}, nil
	}
	f, err := safefile.OpenForeign(full, 0)
	if err != nil {
		return content{}, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return content{}, err
	}
	h := blobHash(like, info.Size())
	if n, err := io.Copy(h, f); err != nil || n != info.Size() {
		return content{}, errors.Join(err, fmt.Errorf("%s changes while it is read", quote(path)))
	}
	return content{modeOf(info.Mode()), fmt.Sprintf("%x", h.Sum(nil))}, nil
}

func modeOf(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return modeProgram
	}
	return modeFile
}

// listed adds to the untracked files those that git's status leaves out, whatever hides them.
func (t *tree) listed() {
	known := make(map[string]bool, len(t.index)+len(t.untracked)+len(t.ignored))
	// The contents of ignored directories go, and those of submodules were examined.
	skip := make(map[string]bool)
	for _, e := range t.index {
		known[e.path] = true
		if e.submodule() {
			skip[e.path] = true
		}
	}
	for _, path := range slices.Concat(t.untracked, t.ignored) {
		known[path] = true
	}
	for _, dir := range t.ignoredDirs {
		skip[strings.TrimSuffix(dir, "/")] = true
	}
	within := func(path string) bool {
		for ; path != "."; path = filepath.Dir(path) {
			if skip[path] {
				return true
			}
		}
		return false
	}
	var unknown []string
	for _, path := range t.snapshot.files {
		if !known[path] && !within(path) {
			unknown = append(unknown, path)
		}
	}
	for _, path := range t.otherNames(unknown, known) {
		t.untracked = append(t.untracked, path)
		t.hidden++
	}
	for _, path := range slices.Concat(t.snapshot.pipes, t.snapshot.empty) {
		if !within(path) {
			t.special = append(t.special, path)
		}
	}
	t.snapshot.devices = slices.DeleteFunc(t.snapshot.devices, within)
}

// otherNames removes the names that this file system gives to files which git knows by another
// one: it does not distinguish upper case, or stores letters in another form.
func (t *tree) otherNames(paths []string, known map[string]bool) []string {
	if len(paths) == 0 {
		return nil
	}
	type inode struct{ dev, ino uint64 }
	inodeOf := func(path string) (inode, bool) {
		st, err := lstat(filepath.Join(t.ref.Path, path))
		// A file with two names is in the list of all files by each of them.
		return inode{uint64(st.Dev), st.Ino}, err == nil && st.Nlink == 1 //nolint:unconvert // darwin has other types
	}
	seen := make(map[inode]bool)
	for path := range known {
		if i, ok := inodeOf(path); ok {
			seen[i] = true
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		i, ok := inodeOf(path)
		return ok && seen[i]
	})
}

// unheld returns the files that go into the archive of a rescue: of those to save the ones
// that its tree does not hold as they are, or that git would not write like that again.
func (t *tree) unheld(ctx context.Context, work string, saved []string) ([]string, error) {
	held, err := lsTree(ctx, t.git, work)
	if err != nil {
		return nil, err
	}
	converts, err := t.converts(ctx, saved)
	if err != nil {
		return nil, err
	}
	var rest []string
	for _, path := range saved {
		now, err := t.onDisk(path, work)
		if err != nil {
			return nil, err
		}
		if held[path].mode == modeModule && now.mode == modeDir {
			continue // of a submodule, which was examined
		}
		if held[path] != now || converts(path, now.mode) {
			rest = append(rest, path)
		}
	}
	return slices.Concat(rest, t.special), nil
}

// compare returns an error that names what a rescue does not hold as it is in the worktree:
// files, and the index. It reads the rescue from the repository.
func (t *tree) compare(ctx context.Context, c commit) error {
	held, err := lsTree(ctx, t.git, c.hash)
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
		err := t.git.read(ctx, nil, func(r io.Reader) error {
			return eachArchived(r, c.hash, func(path string, what content) { held[path] = what })
		}, "cat-file", "blob", c.archive())
		if err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(c.saved, t.special) {
		other[path] = true
		now, err := t.onDisk(path, c.hash)
		if err != nil {
			return err
		}
		if held[path] != now && (held[path].mode != modeModule || now.mode != modeDir) {
			wrong = append(wrong, path)
		}
	}
	for _, e := range t.index {
		if !other[e.path] && held[e.path] != (content{e.mode, e.hash}) {
			wrong = append(wrong, e.path)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the saved work does not hold %s", quoteSome(wrong))
	}
	return t.compareIndex(ctx, c)
}

func (t *tree) compareIndex(ctx context.Context, c commit) error {
	return withScratch(func(file string) error {
		text, err := t.git.run(ctx, "cat-file", "blob", fmt.Sprintf("%s^%d:index", c.hash, c.exact))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		saved, err := lsFiles(ctx, t.git.with("GIT_INDEX_FILE="+file))
		if err == nil && !slices.Equal(saved, t.index) {
			err = errors.New("the saved work does not hold the index")
		}
		return err
	})
}

// eachArchived reads an archive of a rescue.
func eachArchived(r io.Reader, like string, each func(path string, what content)) error {
	archive := tar.NewReader(bufio.NewReader(r))
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		what := content{mode: modeOf(h.FileInfo().Mode())}
		sum := blobHash(like, h.Size)
		switch h.Typeflag {
		case tar.TypeReg:
			_, err = io.Copy(sum, archive)
		case tar.TypeSymlink:
			what.mode, sum = modeLink, blobHash(like, int64(len(h.Linkname)))
			_, err = io.WriteString(sum, h.Linkname)
		case tar.TypeFifo:
			what.mode, sum = modePipe, nil
		case tar.TypeDir:
			what.mode, sum = modeDir, nil
		default:
			continue
		}
		if err != nil {
			return err
		}
		if sum != nil {
			what.hash = fmt.Sprintf("%x", sum.Sum(nil))
		}
		each(strings.TrimSuffix(h.Name, "/"), what)
	}
}

// quoteSome names the first of some paths.
func quoteSome(paths []string) string {
	const shown = 3
	names := make([]string, 0, shown)
	for _, path := range paths[:min(shown, len(paths))] {
		names = append(names, quote(path))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
