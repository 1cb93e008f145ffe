// Package durable puts files of git directories on the disk. Git leaves that to the kernel for
// loose objects, unless it is asked, and some of its commands ignore the request; for the
// directories that name a file it never does it. After a power cut such a file is empty or gone.
//
// It is imported by the packages of plugins/worktree alone.
package durable

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/safefile"
)

// writers is how many files are written at the same time: a journal commits several at once.
const writers = 8

// maxAlternates is how many object directories git follows one after the other.
const maxAlternates = 5

// alternatesLimit bounds the list of alternates of an object directory.
const alternatesLimit = 1 << 20

// Objects returns when the objects of those names are on the disk, with the directories that
// name them: loose ones one by one, and all packs if an object has no file of its own. It
// returns the names of the loose ones. common is the git directory that all working trees
// share. An object that does not exist at all is not an error: the caller has seen them with
// git.
func Objects(common string, names []string) (loose []string, err error) {
	dirs := objectDirs(filepath.Join(common, "objects"), maxAlternates)
	var d disk
	packed := false
	var mu sync.Mutex
	err = each(names, func(name string) error {
		if len(name) < 3 {
			return nil
		}
		for _, dir := range dirs {
			path := filepath.Join(dir, name[:2], name[2:])
			err := file(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			d.named(path, dir)
			mu.Lock()
			defer mu.Unlock()
			loose = append(loose, name)
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		packed = true
		return nil
	})
	if err == nil && packed {
		for _, dir := range dirs {
			if err = d.all(filepath.Join(dir, "pack"), dir); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return loose, d.directories()
}

// Refs returns when the references of those full names are on the disk, with their logs and
// the directories that name them. A name without a reference is not an error.
func Refs(common string, names ...string) error {
	var d disk
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(common, name), filepath.Join(common, "logs", name))
	}
	// A reference without a file of its own is in packed-refs or in reftable.
	for _, path := range append(paths, filepath.Join(common, "packed-refs")) {
		if err := file(path); err == nil {
			d.named(path, common)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := d.all(filepath.Join(common, "reftable"), common); err != nil {
		return err
	}
	return d.directories()
}

// objectDirs returns an object directory and those that it borrows objects from.
func objectDirs(dir string, depth int) []string {
	dirs := []string{dir}
	text, err := safefile.ReadForeign(filepath.Join(dir, "info", "alternates"), alternatesLimit)
	if err != nil || depth == 0 {
		return dirs
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		for _, other := range objectDirs(gitdir.From(dir, line), depth-1) {
			if !slices.Contains(dirs, other) {
				dirs = append(dirs, other)
			}
		}
	}
	return dirs
}

// disk collects the directories that name the written files.
type disk struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// named adds the directories above a path, up to top.
func (d *disk) named(path, top string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs == nil {
		d.dirs = make(map[string]bool)
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		d.dirs[dir] = true
		if dir == top || dir == filepath.Dir(dir) {
			return
		}
	}
}

// all writes all files of a directory, if it exists.
func (d *disk) all(dir, top string) error {
	entries, err := safefile.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	d.named(filepath.Join(dir, "any"), top)
	return each(entries, func(e fs.DirEntry) error {
		if !e.Type().IsRegular() {
			return nil
		}
		err := file(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// directories writes the directories, the deepest first.
func (d *disk) directories() error {
	for _, path := range slices.SortedFunc(maps.Keys(d.dirs), func(a, b string) int { return len(b) - len(a) }) {
		dir, err := safefile.OpenDir(path)
		if err != nil {
			return err
		}
		if err := errors.Join(flush(dir), dir.Close()); err != nil {
			return err
		}
	}
	return nil
}

// file writes one file to the disk.
func file(path string) error {
	f, err := safefile.OpenForeign(path, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	return errors.Join(flush(f), f.Close())
}

// flush is [os.File.Sync]. Some file systems of a network can't do it, and need not.
func flush(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// each calls do for every item, some at the same time, and returns the first error.
func each[T any](items []T, do func(T) error) error {
	errs := make([]error, min(writers, len(items)))
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			for i := n; i < len(items) && errs[n] == nil; i += len(errs) {
				errs[n] = do(items[i])
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
