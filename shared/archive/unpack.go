package archive

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrEmpty is the error about a stream without an entry.
var ErrEmpty = errors.New("there is nothing in the stream")

// ErrNotDir says that what is copied is not a directory, and has to be one.
var ErrNotDir = errors.New("not a directory")

// First reads the first entry of a tar stream: its name, and whether it is a directory.
func First(r io.Reader) (name string, isDir bool, err error) {
	h, err := tar.NewReader(bufio.NewReader(r)).Next()
	switch {
	case errors.Is(err, io.EOF):
		return "", false, ErrEmpty
	case err != nil:
		return "", false, err
	}
	return strings.TrimSuffix(h.Name, "/"), h.Typeflag == tar.TypeDir, nil
}

// Unpack makes files in root of a tar stream. If as is not empty, the first entry gets that name, "."
// for root itself, and all others must be below it in the stream; otherwise entries keep their names. With a
// slash at the end of as the first entry has to be a directory.
//
// It follows no symbolic link in the directory of an entry, and makes nothing outside of root. A file or a link that
// exists is replaced, if the new one is not a directory, and a directory is kept. A symbolic link that leads
// out of what is copied, or may do so, is left out, and so are devices, FIFOs and sockets. Files belong
// to the caller and have permissions and times of the stream, without set-user-id and the like.
func Unpack(r io.Reader, root *os.Root, as string) (Result, error) {
	u := unpacker{root: root, as: as, made: make(map[string]bool)}
	from := tar.NewReader(bufio.NewReaderSize(r, 1<<16))
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.entry(h, from)
		}
		if err != nil {
			return u.result, err
		}
	}
	if !u.begun {
		return u.result, ErrEmpty
	}
	// The rest after the last entry is read too: a writer that can't write it fails.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return u.result, err
	}
	return u.result, u.finish()
}

type unpacker struct {
	root   *os.Root
	as     string
	first  string // the name of the first entry in the stream
	begun  bool
	result Result
	// dirs are the directories of the stream. They get their permissions last, which may forbid to write to them.
	dirs []dirEntry
	// made are the regular files of the stream, to which hard links may lead.
	made map[string]bool
}

type dirEntry struct {
	name string
	mode fs.FileMode
	time time.Time
}

// place returns the name that an entry has in root.
func (u *unpacker) place(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	if strings.HasPrefix(name, "/") && clean != "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(name, "\x00") {
		return "", fmt.Errorf("the entry %q leads out of what is copied", name)
	}
	if u.as == "" {
		return clean, nil
	}
	if clean == u.first {
		return path.Clean(u.as), nil
	}
	below := clean
	if u.first != "." {
		var ok bool
		if below, ok = strings.CutPrefix(clean, u.first+"/"); !ok {
			return "", fmt.Errorf("the entry %q is not below the first one, %q", name, u.first)
		}
	}
	return path.Join(u.as, below), nil
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if !u.begun {
		u.begun, u.first = true, path.Clean(strings.TrimLeft(h.Name, "/"))
	}
	name, err := u.place(h.Name)
	if err != nil {
		return err
	}
	if err := u.parents(path.Dir(name)); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(name, h, content)
	case tar.TypeDir:
		return u.dir(name, h)
	case tar.TypeSymlink:
		return u.link(name, h.Linkname)
	case tar.TypeLink:
		return u.hardLink(name, h.Linkname)
	}
	u.result.skip(name, "neither a file nor a directory nor a link")
	return nil
}

// parents makes the directories above an entry, none of which may be a link.
func (u *unpacker) parents(dir string) error {
	if dir == "." {
		return nil
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		switch info, err := u.root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			if err := u.root.Mkdir(at, 0o777); err != nil {
				return err
			}
		case err != nil:
			return err
		case !info.IsDir():
			return notDir(at, info)
		}
	}
	return nil
}

func notDir(name string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link, which is not followed", name)
	}
	return fmt.Errorf("%s exists and is not a directory", name)
}

func (u *unpacker) dir(name string, h *tar.Header) error {
	switch info, err := u.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		// Entries can be made in it until it has its permissions.
		if err := u.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		u.dirs = append(u.dirs, dirEntry{name, permissions(h), h.ModTime})
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return notDir(name, info)
	}
	return nil
}

func permissions(h *tar.Header) fs.FileMode { return fs.FileMode(h.Mode) & fs.ModePerm } //nolint:gosec // the mask leaves nine bits

// replace makes a new file by make under a name that does not exist, and gives it its name.
func (u *unpacker) replace(name string, make func(temporary string) error) error {
	switch info, err := u.root.Lstat(name); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory, which a file does not replace", name)
	case err == nil && kindOf(info.Mode()) == "":
		return fmt.Errorf("%s is a %s, which a file does not replace", name, special(info.Mode()))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temporary := path.Join(path.Dir(name), ".swarm-cp-"+strconv.FormatUint(rand.Uint64(), 36))
	err := make(temporary)
	if err == nil {
		err = u.root.Rename(temporary, name)
	}
	if err != nil {
		_ = u.root.Remove(temporary)
	}
	return err
}

func (u *unpacker) file(name string, h *tar.Header, content io.Reader) error {
	if err := u.notDirectory(name); err != nil {
		return err
	}
	err := u.replace(name, func(temporary string) error {
		f, err := u.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		n, err := io.Copy(f, content)
		u.result.Bytes += n
		err = errors.Join(err, f.Chmod(permissions(h)), f.Close())
		if err == nil && !h.ModTime.IsZero() {
			err = u.root.Chtimes(temporary, time.Time{}, h.ModTime)
		}
		return err
	})
	if err == nil {
		u.result.Files++
		u.made[name] = true
	}
	return err
}

// notDirectory returns an error for the name of something that has to be a directory.
func (u *unpacker) notDirectory(name string) error {
	if name == "." || strings.HasSuffix(u.as, "/") && name == path.Clean(u.as) {
		return fmt.Errorf("%w: %s", ErrNotDir, path.Base(u.first))
	}
	return nil
}

func (u *unpacker) link(name, target string) error {
	if err := u.notDirectory(name); err != nil {
		return err
	}
	if !u.staysInside(name, target) {
		u.result.skip(name, "a link to "+target+", which leads out of what is copied")
		return nil
	}
	err := u.replace(name, func(temporary string) error { return u.root.Symlink(target, temporary) })
	if err == nil {
		u.result.Files++
		delete(u.made, name)
	}
	return err
}

// staysInside reports whether a link certainly leads to something in what is copied. ".." after
// another name may lead further than it seems, since that may be a link.
func (u *unpacker) staysInside(name, target string) bool {
	if target == "" || strings.HasPrefix(target, "/") {
		return false
	}
	rest := target
	for strings.HasPrefix(rest, "../") || strings.HasPrefix(rest, "./") {
		_, rest, _ = strings.Cut(rest, "/")
	}
	if rest != ".." && strings.Contains("/"+rest+"/", "/../") {
		return false
	}
	top := path.Clean(u.as)
	if u.as == "" {
		top = "."
	}
	leads := path.Join(path.Dir(name), target)
	return leads != ".." && !strings.HasPrefix(leads, "../") && (top == "." || leads == top || strings.HasPrefix(leads, top+"/"))
}

// hardLink makes a link to a file of the same stream.
func (u *unpacker) hardLink(name, target string) error {
	to, err := u.place(target)
	if err != nil {
		return err
	}
	if !u.made[to] {
		return fmt.Errorf("%s is a link to %s, which is no file of the stream", name, target)
	}
	err = u.replace(name, func(temporary string) error { return u.root.Link(to, temporary) })
	if err == nil {
		u.result.Files++
		u.made[name] = true
	}
	return err
}

// finish gives the new directories their permissions and times, the inner ones first.
func (u *unpacker) finish() error {
	for _, d := range slices.Backward(u.dirs) {
		err := u.root.Chtimes(d.name, time.Time{}, d.time)
		if err == nil {
			err = u.root.Chmod(d.name, d.mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
