package worktree

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
)

// conversions are the attributes that make a file in the working tree differ
// from its blob, see gitattributes(5).
var conversions = []string{"text", "crlf", "eol", "filter", "ident", "working-tree-encoding"}

// converted returns the regular files that git may convert.
func (t *tree) converted(ctx context.Context, paths []string) ([]string, error) {
	autocrlf, err := t.git.line(ctx, "config", "--default=false", "--get", "core.autocrlf")
	if err != nil {
		return nil, err
	}
	args := append([]string{"check-attr", "-z", "--stdin"}, conversions...)
	out, err := t.git.feed(ctx, input(paths), args...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool)
	attrs := fields(out)
	for i := 0; i+2 < len(attrs); i += 3 {
		if v := attrs[i+2]; v != "unspecified" && v != "unset" {
			found[attrs[i]] = true
		}
	}
	var converted []string
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(t.ref.Path, path))
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && (found[path] || autocrlf != "false") {
			converted = append(converted, path)
		}
	}
	return converted, nil
}

// archive stores files as they are and returns the blob.
func (t *tree) archive(ctx context.Context, paths []string) (string, error) {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := t.writeTar(w, paths)
		w.CloseWithError(err)
		written <- err
	}()
	hash, err := t.git.feed(ctx, r, "hash-object", "-w", "--no-filters", "--stdin")
	_ = r.Close()
	return strings.TrimSpace(hash), errors.Join(<-written, err)
}

func (t *tree) writeTar(to io.Writer, paths []string) error {
	w := tar.NewWriter(to)
	for _, path := range paths {
		if err := t.addTar(w, path); err != nil {
			return err
		}
	}
	return w.Close()
}

func (t *tree) addTar(w *tar.Writer, path string) error {
	f, err := safefile.OpenForeign(filepath.Join(t.ref.Path, path), 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	h.Name = path
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
