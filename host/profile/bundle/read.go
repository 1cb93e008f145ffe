package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
)

// FromFS returns the bundle in a file system, such as an embedded one.
func FromFS(fsys fs.FS) (*Bundle, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(fsys, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return FromFiles("built in", files)
}

// ReadDir returns the bundle in a directory. It reads regular files of the effective user or
// root, and follows no link in the directory.
func ReadDir(dir string) (*Bundle, error) {
	files, err := DirFiles(dir)
	if err != nil {
		return nil, err
	}
	return FromFiles(dir, files)
}

// DirFiles returns the profiles and recorded screens in a directory, by their paths in it,
// whether or not it is a bundle.
func DirFiles(dir string) (map[string][]byte, error) {
	c := collector{files: map[string][]byte{}}
	entries, err := safefile.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := c.readFile(dir, entry.Name(), entry); err != nil {
			return nil, err
		}
	}
	clients, err := readDir(filepath.Join(dir, Screens))
	if err != nil {
		return nil, err
	}
	for _, client := range clients {
		if !client.IsDir() {
			continue
		}
		recorded, err := readDir(filepath.Join(dir, Screens, client.Name()))
		if err != nil {
			return nil, err
		}
		for _, entry := range recorded {
			if err := c.readFile(dir, path.Join(Screens, client.Name(), entry.Name()), entry); err != nil {
				return nil, err
			}
		}
	}
	return c.files, nil
}

// readDir returns the entries of a directory, which need not exist.
func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := safefile.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// collector holds the files of a bundle that is read, within its limits.
type collector struct {
	files map[string][]byte
	total int64
}

// reserve counts a file of that size, and refuses one that is too large.
func (c *collector) reserve(name string, size int64) error {
	c.total += size
	switch {
	case size > maxFile:
		return fmt.Errorf("%q is larger than %d KiB", name, maxFile>>10)
	case c.total > maxTotal:
		return fmt.Errorf("more than %d MiB of profiles and screens", maxTotal>>20)
	case len(c.files) == maxFiles:
		return fmt.Errorf("more than %d profiles and screens", maxFiles)
	}
	return nil
}

// wanted reports whether a file may belong to a bundle, by its name alone.
func wanted(name string) bool {
	return slices.Contains([]string{".toml", ".txt"}, path.Ext(name)) || name == originFile
}

// readFile reads the file with a path in dir if it belongs to a bundle.
func (c *collector) readFile(dir, name string, entry fs.DirEntry) error {
	if entry.IsDir() || !wanted(name) {
		return nil
	}
	text, err := safefile.Read(filepath.Join(dir, filepath.FromSlash(name)), maxFile)
	if err != nil {
		return err // it names the file
	}
	if err := c.reserve(name, int64(len(text))); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	c.files[name] = text
	return nil
}

// ReadArchive returns the bundle in an archive .tar.gz, whose files may be in one directory. It
// refuses links, and paths that lead out of the archive. Errors name where it is from.
func ReadArchive(from string, archive []byte) (*Bundle, error) {
	files, err := unzip(archive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return FromFiles(from, below(files))
}

func unzip(archive []byte) (map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("not an archive .tar.gz: %w", err)
	}
	// One byte more than may be, to see that there was more.
	plain := &io.LimitedReader{R: zipped, N: maxTotal + 1}
	files, err := untar(plain, func(string) bool { return false })
	if err == nil {
		_, err = io.Copy(io.Discard, plain) // the checksum is behind the last byte
	}
	if plain.N <= 0 {
		return nil, fmt.Errorf("larger than %d MiB when unpacked", maxTotal>>20)
	}
	return files, err
}

// below returns the files below the directory that has the manifest.
func below(files map[string][]byte) map[string][]byte {
	if _, ok := files[ManifestFile]; ok {
		return files
	}
	for name := range files {
		dir, base := path.Split(name)
		if base != ManifestFile || strings.Count(dir, "/") != 1 {
			continue
		}
		inner := map[string][]byte{}
		for name, text := range files {
			if rest, ok := strings.CutPrefix(name, dir); ok {
				inner[rest] = text
			}
		}
		return inner
	}
	return files
}

// untar returns the files of an archive, up to the first one with a name for which enough returns
// true.
func untar(from io.Reader, enough func(name string) bool) (map[string][]byte, error) {
	c := collector{files: map[string][]byte{}}
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return c.files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("not a tar file: %w", err)
		}
		name := path.Clean(h.Name)
		switch {
		case enough(name):
			return c.files, nil
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case path.IsAbs(h.Name) || strings.Contains(h.Name, `\`) || !filepath.IsLocal(filepath.FromSlash(name)):
			return nil, fmt.Errorf("refused: the path %q leads out of the archive", h.Name)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag == tar.TypeSymlink, h.Typeflag == tar.TypeLink:
			return nil, fmt.Errorf("refused: %q is a link to %q", h.Name, h.Linkname)
		case h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("refused: %q is neither a file nor a directory", h.Name)
		case c.files[name] != nil:
			return nil, fmt.Errorf("refused: the archive holds %q twice", h.Name)
		case !wanted(name):
			continue
		}
		if err := c.reserve(h.Name, h.Size); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(archive, maxFile+1))
		if err != nil {
			return nil, fmt.Errorf("not a tar file: %w", err)
		}
		c.files[name] = text
	}
}
