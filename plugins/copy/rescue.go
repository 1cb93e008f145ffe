package copy

import (
	"archive/tar"
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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
)

// An archive begins with a file that says what it holds; the changed files follow below filesDir.
const (
	workFile   = "work"
	filesDir   = "files/"
	archiveExt = ".tar.gz"
	// timeFormat is the name of an archive, in UTC.
	timeFormat = "20060102T150405.000Z"
)

// work is what an archive holds.
type work struct {
	Name, Base string
	Time       time.Time
	Exclude    []string
	Files      []swarm.FileChange
	// Removed are the paths that the worker has removed.
	Removed []string
}

// save writes the changes of a copy into a new archive, which is on the disk when it returns.
func (w *Workspace) save(ctx context.Context, t *tree, changes []change) (r swarm.Rescue, err error) {
	files, err := t.files(ctx, changes)
	if err != nil {
		return r, err
	}
	now := work{Name: t.Name, Base: t.Base, Time: time.Now().UTC(), Exclude: t.Exclude, Files: files}
	dir := filepath.Join(copiesOf(t.Base), savedDir, t.Name)
	top, err := present(dir)
	if err == nil {
		err = trust.Path(top)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return r, err
	}
	for _, c := range changes {
		if c.after == nil {
			now.Removed = append(now.Removed, c.path)
		}
	}
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return r, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it may have its name by now
		}
	}()
	if err := errors.Join(t.pack(ctx, f, now, changes), f.Sync(), f.Close()); err != nil {
		return r, err
	}
	for {
		stamp := now.Time.Format(timeFormat)
		err := os.Link(f.Name(), filepath.Join(dir, stamp+archiveExt))
		if errors.Is(err, fs.ErrExist) {
			now.Time = now.Time.Add(time.Millisecond) // another worker of that name was saved just now
			continue
		}
		r.Ref = t.Name + "/" + stamp
		if err := errors.Join(err, os.Remove(f.Name())); err != nil {
			return r, err
		}
		break
	}
	for at := dir; len(at) >= len(filepath.Dir(copiesOf(t.Base))); at = filepath.Dir(at) {
		if err := safefile.SyncDir(at); err != nil {
			return r, err
		}
	}
	r.Command = fmt.Sprintf("mkdir restored && tar -xzf %s -C restored --strip-components=1 %s", humane.Word(archiveOf(t.Base, r.Ref)), strings.TrimSuffix(filesDir, "/"))
	return r, nil
}

func archiveOf(base, ref string) string {
	return filepath.Join(copiesOf(base), savedDir, filepath.FromSlash(ref)+archiveExt)
}

// pack writes an archive.
func (t *tree) pack(ctx context.Context, to io.Writer, now work, changes []change) error {
	zip := gzip.NewWriter(to)
	archive := tar.NewWriter(zip)
	var about bytes.Buffer
	if err := gob.NewEncoder(&about).Encode(now); err != nil {
		return err
	}
	err := archive.WriteHeader(&tar.Header{Name: workFile, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(about.Len()), ModTime: now.Time})
	if err == nil {
		_, err = about.WriteTo(archive)
	}
	if err == nil {
		err = archive.WriteHeader(&tar.Header{Name: filesDir, Typeflag: tar.TypeDir, Mode: 0o700, ModTime: now.Time})
	}
	for _, c := range changes {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && c.after != nil {
			err = t.packOne(ctx, archive, c.after)
		}
	}
	return errors.Join(err, archive.Close(), zip.Close())
}

func (t *tree) packOne(ctx context.Context, archive *tar.Writer, e *entry) error {
	h := &tar.Header{Name: filesDir + e.Path, Mode: int64(e.Mode.Perm()), ModTime: time.Unix(0, e.Time), Format: tar.FormatPAX}
	switch {
	case e.Mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return archive.WriteHeader(h)
	case e.Mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Target
		return archive.WriteHeader(h)
	}
	f, err := openFile(t.root, e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	h.Typeflag, h.Size = tar.TypeReg, e.Size
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	// A file that has grown is an error here, and one that has shrunk when the archive is closed.
	_, err = io.Copy(archive, reader{ctx, f})
	return err
}

// unpack opens an archive and reads what it holds.
func unpack(at string) (now work, archive *tar.Reader, closer io.Closer, err error) {
	f, err := safefile.Open(at, 1<<62)
	if err != nil {
		return now, nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("read %s: %w", at, err), f.Close())
		}
	}()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return now, nil, nil, err
	}
	archive = tar.NewReader(zip)
	h, err := archive.Next()
	if err != nil {
		return now, nil, nil, err
	}
	if h.Name != workFile {
		return now, nil, nil, fmt.Errorf("it begins with %s", h.Name)
	}
	return now, archive, f, gob.NewDecoder(io.LimitReader(archive, stateLimit)).Decode(&now)
}

func (w *Workspace) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	switch {
	case !filepath.IsAbs(req.Base) || req.Into != "" && !filepath.IsAbs(req.Into):
		return nil, invalid("a rescue needs absolute paths")
	case req.Ref == "" && req.Action != swarm.RescueList:
		return nil, invalid("no saved work is named")
	}
	base := filepath.Clean(req.Base)
	if real, err := realBase(base); err == nil {
		base = real
	} else if !exists(filepath.Join(copiesOf(base), savedDir)) {
		return nil, err
	}
	if req.Ref == "" {
		return list(base)
	}
	none := fmt.Errorf("saved work '%s': %w", req.Ref, swarm.ErrNotFound)
	name, stamp, _ := strings.Cut(req.Ref, "/")
	if _, err := time.Parse(timeFormat, stamp); err != nil || !swarm.ValidName(name) || !exists(archiveOf(base, req.Ref)) {
		return nil, none
	}
	one := describe(base, name, stamp)
	now, archive, f, err := unpack(archiveOf(base, req.Ref))
	if err == nil {
		defer func() { _ = f.Close() }()
		one.Files = now.Files
	}
	switch {
	case req.Action == swarm.RescueDrop:
		err = drop(base, req.Ref)
	case err != nil:
	case req.Action == swarm.RescueRestore:
		err = w.restore(ctx, &one, now, archive, req.Into)
	case req.Action != swarm.RescueList:
		err = fmt.Errorf("%w: action '%s' on saved work", swarm.ErrUnsupported, req.Action)
	}
	return []swarm.SavedWork{one}, err
}

// list returns all saved work of a base, the oldest first.
func list(base string) ([]swarm.SavedWork, error) {
	var works []swarm.SavedWork
	names, err := safefile.ReadDir(filepath.Join(copiesOf(base), savedDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range names {
		archives, err := safefile.ReadDir(filepath.Join(copiesOf(base), savedDir, name.Name()))
		if err != nil {
			return nil, err
		}
		for _, a := range archives {
			stamp, is := strings.CutSuffix(a.Name(), archiveExt)
			if _, err := time.Parse(timeFormat, stamp); is && err == nil {
				works = append(works, describe(base, name.Name(), stamp))
			}
		}
	}
	slices.SortStableFunc(works, func(a, b swarm.SavedWork) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Ref, b.Ref)) })
	return works, nil
}

// describe returns saved work without its files.
func describe(base, name, stamp string) swarm.SavedWork {
	one := swarm.SavedWork{Ref: name + "/" + stamp, Name: name, Base: base}
	one.Time, _ = time.Parse(timeFormat, stamp) // it was parsed before
	now, _, f, err := unpack(archiveOf(base, one.Ref))
	if err != nil {
		one.Title = "cannot be read: " + err.Error()
		return one
	}
	_ = f.Close()
	one.Title = fmt.Sprintf("%d changed file(s) of a copy", len(now.Files))
	return one
}

// drop deletes saved work.
func drop(base, ref string) error {
	at := archiveOf(base, ref)
	if err := os.Remove(at); err != nil {
		return err
	}
	for range 3 { // the worker's directory, that of all saved work, that of all copies
		at = filepath.Dir(at)
		_ = unix.Rmdir(at) // it may hold others
	}
	return nil
}

// restore makes a directory of the base as it is now and the saved work. It is the user's: no worker
// owns it.
func (w *Workspace) restore(ctx context.Context, one *swarm.SavedWork, now work, archive *tar.Reader, into string) (err error) {
	if into == "" {
		into = filepath.Join(copiesOf(one.Base), one.Name)
	}
	if isWithin(into, one.Base) {
		return invalid("cannot restore into %s, which is in %s", into, one.Base)
	}
	if err := os.Mkdir(into, 0o700); err != nil {
		inside, rerr := os.ReadDir(into)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return invalid("cannot restore into %s: %w", into, err)
		case rerr != nil || len(inside) > 0:
			return invalid("%s already exists", into)
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeTree(into))
		}
	}()
	to, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer to.Close()
	one.Note = "files that the work did not change have the content that they have now in " + one.Base
	from, err := os.OpenRoot(one.Base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		one.Note = "only the changed files are there: " + one.Base + " is gone"
	case err != nil:
		return err
	default:
		defer from.Close()
		look := walker{skip: options{Exclude: now.Exclude}.excludes}
		entries, err := look.entries(ctx, from)
		if err != nil {
			return err
		}
		c := &copier{from: from, to: to, toPath: into, clone: w.clone}
		if _, err := c.all(ctx, entries); err != nil {
			return err
		}
		if err := c.settleTop(); err != nil {
			return err
		}
	}
	for _, at := range slices.Backward(now.Removed) {
		_ = to.Remove(at) // the base may have new files in a directory that was removed
	}
	if err := lay(ctx, to, archive); err != nil {
		return err
	}
	one.Path = into
	return nil
}

// lay puts the files of an archive into a directory, in the place of what is there.
func lay(ctx context.Context, to *os.Root, archive *tar.Reader) error {
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		at := path.Clean(strings.TrimPrefix(h.Name, filesDir))
		if h.Name == filesDir {
			continue
		}
		if !filepath.IsLocal(at) {
			return fmt.Errorf("the archive has a path that leads out of it: %s", h.Name)
		}
		if err := layOne(ctx, to, at, h, archive); err != nil {
			return err
		}
	}
}

func layOne(ctx context.Context, to *os.Root, at string, h *tar.Header, content io.Reader) error {
	mode := h.FileInfo().Mode()
	if info, err := to.Lstat(at); err == nil && (!info.IsDir() || !mode.IsDir()) {
		if err := to.RemoveAll(at); err != nil {
			return err
		}
	}
	if err := to.MkdirAll(path.Dir(at), 0o700); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		return to.Symlink(h.Linkname, at)
	case tar.TypeDir:
		if err := to.MkdirAll(at, 0o700); err != nil {
			return err
		}
	default:
		f, err := to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, reader{ctx, content})
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if err := to.Chmod(at, mode.Perm()); err != nil {
		return err
	}
	return to.Chtimes(at, h.ModTime, h.ModTime)
}
