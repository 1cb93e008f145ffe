package install

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
)

const maxEntries = 10000

// unpack unpacks an archive into dir, which is empty, and returns the directory in it that
// has the plugin: dir, or the only one in it. It accepts only files and directories, none
// of them outside of dir.
func unpack(ctx context.Context, archive, dir, name string) (top string, err error) {
	f, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer f.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	zipped, err := gzip.NewReader(reader{ctx, f})
	if err != nil {
		return "", fmt.Errorf("not a gzip file: %w", err)
	}
	// One byte more than may be, to see that there was more.
	plain := &io.LimitedReader{R: zipped, N: MaxSize + 1}
	err = unpackAll(tar.NewReader(plain), root)
	if err == nil {
		// The checksum is behind the last byte.
		_, err = io.Copy(io.Discard, plain)
	}
	switch {
	case plain.N <= 0:
		return "", fmt.Errorf("larger than %d GiB when unpacked", MaxSize>>30)
	case err != nil:
		return "", err
	}
	return findTop(dir, name)
}

func unpackAll(files *tar.Reader, root *os.Root) error {
	left := int64(MaxSize)
	for n := 0; ; n++ {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not a tar file: %w", err)
		}
		if n == maxEntries {
			return fmt.Errorf("more than %d files", maxEntries)
		}
		// At most the size in the header is written.
		if left -= h.Size; !isSparse(h) && left < 0 {
			return fmt.Errorf("larger than %d GiB when unpacked", MaxSize>>30)
		}
		if err := unpackOne(files, h, root); err != nil {
			return err
		}
	}
}

// isSparse reports whether an entry is a file with holes. A few bytes of an archive
// describe holes of any size, which are written as zeros.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func unpackOne(files *tar.Reader, h *tar.Header, root *os.Root) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name := path.Clean(h.Name)
	if path.IsAbs(h.Name) || strings.Contains(h.Name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("refused: the path %q escapes the folder", h.Name)
	}
	if isSparse(h) {
		return fmt.Errorf("refused: %q is a sparse file; make the archive without --sparse", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(filepath.FromSlash(name), 0o700)
	case tar.TypeReg:
		return unpackFile(files, filepath.FromSlash(name), h.FileInfo().Mode(), root)
	case tar.TypeSymlink, tar.TypeLink:
		return fmt.Errorf("refused: %q is a link to %q", h.Name, h.Linkname)
	default:
		return fmt.Errorf("refused: %q is neither a file nor a directory", h.Name)
	}
}

func unpackFile(content io.Reader, name string, mode fs.FileMode, root *os.Root) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	// The files are private, whatever their mode in the archive.
	perm := fs.FileMode(0o600)
	if mode&0o111 != 0 {
		perm = 0o700
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("refused: the archive holds %q twice", name)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Sync(), out.Close())
}

// findTop returns the directory with the plugin. Many archives have all in one
// directory.
func findTop(dir, name string) (string, error) {
	program := catalog.Program(name)
	candidates := []string{dir}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].IsDir() {
		candidates = append(candidates, filepath.Join(dir, entries[0].Name()))
	}
	for _, top := range candidates {
		info, err := os.Lstat(filepath.Join(top, program))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(top, catalog.ManifestFile)); err == nil {
			return "", fmt.Errorf("refused: swarm writes %s itself", catalog.ManifestFile)
		}
		return top, os.Chmod(filepath.Join(top, program), 0o700)
	}
	return "", fmt.Errorf("the archive has no file %s", program)
}
