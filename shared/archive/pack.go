package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Result says what was copied.
type Result struct {
	// Files is the number of files and links, Bytes the size of the files.
	Files, Bytes int64
	// Skipped are the names of files that were left out, each with the reason, the first MaxSkipped of them.
	Skipped []string
	// More is how many others were left out.
	More int
}

// MaxSkipped is how many names of skipped files a [Result] holds.
const MaxSkipped = 20

func (r *Result) skip(name, why string) {
	if len(r.Skipped) == MaxSkipped {
		r.More++
		return
	}
	r.Skipped = append(r.Skipped, name+": "+why)
}

// Pack writes the file or directory of that name in root as a tar stream, in which its name is as; "."
// stands for a directory whose entries have names of their own. It follows no symbolic link but
// in the directory of name, and none out of root. Entries belong to the user 0 of the group 0.
func Pack(w io.Writer, root *os.Root, name, as string) (Result, error) {
	p := packer{root: root, tar: tar.NewWriter(w)}
	info, err := root.Lstat(name)
	if err != nil {
		return Result{}, err
	}
	if kindOf(info.Mode()) == "" {
		return Result{}, fmt.Errorf("%s is a %s, which can't be copied", name, special(info.Mode()))
	}
	if err = p.add(name, as, info); err == nil {
		err = p.tar.Close()
	}
	return p.result, err
}

type packer struct {
	root   *os.Root
	tar    *tar.Writer
	begun  bool // an entry was written
	result Result
}

func (p *packer) add(name, as string, info fs.FileInfo) error {
	switch kindOf(info.Mode()) {
	case kindFile:
		return p.file(name, as)
	case kindLink:
		target, err := p.root.Readlink(name)
		if err == nil {
			p.result.Files++
			err = p.header(info, as, target)
		}
		return p.unlessGone(as, err)
	case kindDir:
		return p.dir(name, as)
	}
	p.result.skip(as, "a "+special(info.Mode()))
	return nil
}

// unlessGone returns no error for a file below the first one that was removed meanwhile.
func (p *packer) unlessGone(as string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && p.begun {
		p.result.skip(as, "it was removed meanwhile")
		return nil
	}
	return err
}

func (p *packer) header(info fs.FileInfo, as, target string) error {
	h, err := tar.FileInfoHeader(bare{info}, target)
	if err != nil {
		return err
	}
	h.Name = as
	if info.IsDir() {
		h.Name += "/"
	}
	p.begun = true
	return p.tar.WriteHeader(h)
}

// bare is a file without the facts of its system: no owner, no device.
type bare struct{ fs.FileInfo }

func (bare) Sys() any { return nil }

func (p *packer) file(name, as string) error {
	// A FIFO that lies there now is not waited for.
	f, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return p.unlessGone(as, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		p.result.skip(as, "it was replaced meanwhile")
		return nil
	}
	if err := p.header(info, as, ""); err != nil {
		return err
	}
	p.result.Files++
	n, err := io.Copy(p.tar, io.LimitReader(f, info.Size()))
	p.result.Bytes += n
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%s became shorter while it was copied", as)
	}
	return err
}

func (p *packer) dir(name, as string) error {
	f, err := p.root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return p.unlessGone(as, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = p.header(info, as, "")
	}
	if err != nil {
		return err
	}
	for {
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			below := path.Join(as, e.Name())
			info, err := p.root.Lstat(filepath.Join(name, e.Name()))
			if err == nil {
				err = p.add(filepath.Join(name, e.Name()), below, info)
			}
			if err = p.unlessGone(below, err); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

const (
	kindFile = "file"
	kindLink = "link"
	kindDir  = "directory"
)

// kindOf returns what kind of file can be copied, "" for one that can't.
func kindOf(m fs.FileMode) string {
	if m.IsRegular() {
		return kindFile
	}
	if m.IsDir() {
		return kindDir
	}
	if m.Type() == fs.ModeSymlink {
		return kindLink
	}
	return ""
}

func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeNamedPipe != 0:
		return "FIFO"
	default:
		return "device"
	}
}

// Base returns the name under which a stream holds what a path names, see
// [github.com/swarmhost/swarm/shared/swarm.Copier]: "." for a path that ends so.
func Base(name string) string {
	if strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..") {
		return "."
	}
	if base := path.Base(name); base != ".." && base != "/" {
		return base
	}
	return "."
}
