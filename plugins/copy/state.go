package copy

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Names in the parent of copies. No worker's name begins with a dot.
const (
	statesDir = ".swarm-copies"
	savedDir  = ".saved"
)

// Names in the directory of a copy's state.
const (
	madeFile     = "made"
	originalsDir = "original"
	// newDir is a copy that is being made.
	newDir = "new"
	// checkedDir is a copy that is looked at a last time, removedDir one that is being removed.
	checkedDir = "checked"
	removedDir = "removed"
)

// stateDir returns the directory for what is known of the copy at path.
func stateDir(path, id string) string { return filepath.Join(filepath.Dir(path), statesDir, id) }

// made is what Create made.
type made struct {
	ID, Name, Path, Base string
	Device, Inode        uint64
	Time                 time.Time
	Exclude              []string
	// Above is how many directories above Path were made with it.
	Above   int
	Entries []entry
}

func (m *made) ref() swarm.WorkspaceRef {
	return swarm.WorkspaceRef{ID: m.ID, Name: m.Name, Path: m.Path, Base: m.Base}
}

// stateLimit bounds what is read of a state: some millions of files.
const stateLimit = 1 << 30

func (m *made) store(dir string) error {
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	if err := errors.Join(gob.NewEncoder(zip).Encode(m), zip.Close()); err != nil {
		return err
	}
	return safefile.Replace(filepath.Join(dir, madeFile), text.Bytes(), 0o600)
}

func load(dir string) (*made, error) {
	f, err := safefile.Open(filepath.Join(dir, madeFile), stateLimit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	var m made
	if err := gob.NewDecoder(io.LimitReader(zip, stateLimit)).Decode(&m); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &m, nil
}

// lock locks the directory of a state until unlock is called.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	type result struct {
		f   *os.File
		err error
	}
	got := make(chan result, 1)
	go func() {
		f, err := safefile.LockDir(dir, safefile.Exclusive)
		got <- result{f, err}
	}()
	select {
	case r := <-got:
		return func() { _ = r.f.Close() }, r.err
	case <-ctx.Done():
		go func() {
			if r := <-got; r.err == nil {
				_ = r.f.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// tree is a copy with what is known of it.
type tree struct {
	*made
	dir  string // of the state
	root *os.Root
	// originals is nil if there are none.
	originals *os.Root
}

func (t *tree) close() {
	_ = t.root.Close()
	if t.originals != nil {
		_ = t.originals.Close()
	}
}

// checkHandle refuses a copy with a handle, which only another version of the plugin writes.
func checkHandle(ref swarm.WorkspaceRef) error {
	if !ref.Handle.IsZero() {
		return fmt.Errorf("%w: copy %s has one of version %d, this plugin knows none", swarm.ErrInvalidHandle, ref.Path, ref.Handle.Version)
	}
	return nil
}

// errNotOurs says that nothing shows that a directory is the one that Create made.
var errNotOurs = errors.New("nothing shows that it is the copy that was made for this worker")

// open returns the copy that ref names, which is at path now: at ref.Path, or renamed. A copy that no
// longer exists is [fs.ErrNotExist].
func open(ref swarm.WorkspaceRef, path string) (*tree, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	t := &tree{dir: stateDir(ref.Path, ref.ID)}
	if t.made, err = load(t.dir); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotOurs, err)
	}
	top := entry{}
	top.addInode(info)
	if !reflect.DeepEqual(t.ref(), ref) || !info.IsDir() || top.Device != t.Device || top.Inode != t.Inode {
		return nil, errNotOurs
	}
	if t.root, err = os.OpenRoot(path); err != nil {
		return nil, err
	}
	t.originals, err = os.OpenRoot(filepath.Join(t.dir, originalsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, t.root.Close())
	}
	return t, nil
}

// change is an entry that differs from what Create made. before is nil for a new one, after for one that
// is gone.
type change struct {
	path          string
	before, after *entry
}

// isDir reports whether it concerns directories alone.
func (c change) isDir() bool {
	return (c.before == nil || c.before.Mode.IsDir()) && (c.after == nil || c.after.Mode.IsDir())
}

// recent is for how long after the beginning of a second a file system may give the same time again.
const recent = 2 * time.Second

// changes compares the copy with what Create made.
func (t *tree) changes(ctx context.Context) ([]change, error) {
	w := walker{oneDevice: true}
	now, err := w.entries(ctx, t.root)
	if err != nil {
		return nil, err
	}
	before := make(map[string]*entry, len(t.Entries))
	for i := range t.Entries {
		before[t.Entries[i].Path] = &t.Entries[i]
	}
	var found []change
	for i := range now {
		after := &now[i]
		old := before[after.Path]
		delete(before, after.Path)
		if old != nil {
			same, err := t.same(ctx, old, after)
			if err != nil {
				return nil, err
			}
			if same {
				continue
			}
		}
		found = append(found, change{after.Path, old, after})
	}
	for path, old := range before {
		found = append(found, change{path, old, nil})
	}
	slices.SortFunc(found, func(a, b change) int { return cmp.Compare(a.path, b.path) })
	return found, nil
}

// same reports whether an entry is as Create made it; its times don't count.
func (t *tree) same(ctx context.Context, old, now *entry) (bool, error) {
	switch {
	case old.Mode != now.Mode:
		return false, nil
	case !old.Mode.IsRegular():
		return old.Target == now.Target, nil
	case old.Size != now.Size:
		return false, nil
	case old.Time == now.Time && old.Change == now.Change && old.Inode == now.Inode && t.Time.Sub(time.Unix(0, old.Time)) > recent:
		return true, nil
	}
	f, err := openFile(t.root, now.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	hash, err := hashOf(ctx, f)
	if err != nil {
		return false, err
	}
	want := old.Hash
	if want == "" {
		if t.originals == nil {
			return false, nil
		}
		original, err := openFile(t.originals, old.Path)
		if err != nil {
			return false, err
		}
		defer original.Close()
		if want, err = hashOf(ctx, original); err != nil {
			return false, err
		}
	}
	return hash == want, nil
}

// original opens the content that a file had when it was copied; [fs.ErrNotExist]: it is not known any
// more.
func (t *tree) original(ctx context.Context, old *entry) (*os.File, error) {
	if old.Hash == "" {
		if t.originals == nil {
			return nil, fs.ErrNotExist
		}
		return openFile(t.originals, old.Path)
	}
	base, err := os.OpenRoot(t.Base)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer base.Close()
	f, err := openFile(base, old.Path)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	hash, err := hashOf(ctx, f)
	if err == nil && hash != old.Hash {
		err = fs.ErrNotExist
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
