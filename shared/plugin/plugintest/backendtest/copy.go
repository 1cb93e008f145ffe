package backendtest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// copied is a file of a stream: its content, "-> " and the target of a link, or "/" for a directory.
type copied struct{ name, is string }

func copyCases() []testCase {
	needs := scope{needs: swarm.CapCopy}
	return []testCase{
		newCase("copy-files", needs,
			"what the program of Copy makes of a stream is what it writes as a stream",
			func(k *kit) {
				w, top := k.copier()
				w.copyIn(".", copied{top, "/"}, copied{top + "/sub", "/"}, copied{top + "/sub/data", "a\x00b\r\n"}, copied{top + "/link", "-> sub/data"})
				w.wantCopy(top, copied{top, "/"}, copied{top + "/sub", "/"}, copied{top + "/sub/data", "a\x00b\r\n"}, copied{top + "/link", "-> sub/data"})
			}),
		newCase("copy-names", needs,
			"the first entry of a stream has the last element of CopyOptions.Path as its name, and the others are below it",
			func(k *kit) {
				w, top := k.copier()
				w.copyIn(".", copied{top, "/"}, copied{top + "/names", "x"})
				w.wantCopy(top+"/names", copied{"names", "x"})
				w.wantCopy(top+"/.", copied{".", "/"}, copied{"names", "x"})
			}),
		newCase("copy-replaces", needs,
			"a file of a stream replaces an existing one, and other files in the directory stay",
			func(k *kit) {
				w, top := k.copier()
				w.copyIn(".", copied{top, "/"}, copied{top + "/old", "old"}, copied{top + "/kept", "kept"})
				w.copyIn(top, copied{"old", "new"})
				w.wantCopy(top, copied{top, "/"}, copied{top + "/old", "new"}, copied{top + "/kept", "kept"})
			}),
		newCase("copy-stays-inside", needs,
			"nothing is made outside of the directory by an entry whose name leads out of it, or leads over a link of the stream",
			func(k *kit) {
				w, top := k.copier()
				w.copyIn(".", copied{top, "/"}, copied{top + "/in", "/"})
				w.copied(swarm.CopyOptions{Path: top + "/in", Into: true}, pack(w, copied{"../escaped", "x"}))
				w.copied(swarm.CopyOptions{Path: top + "/in", Into: true}, pack(w, copied{"out", "-> .."}, copied{"out/escaped", "x"}))
				w.wantNoCopy(top + "/escaped")
			}),
		newCase("copy-relative", needs,
			"a relative CopyOptions.Path does not lead out of the directory of the worker",
			func(k *kit) {
				w, top := k.copier()
				w.copyIn(".", copied{top, "/"})
				w.wantNoCopy(top + "/../..")
			}),
		newCase("copy-fails", needs,
			"if the file does not exist, the program of Copy writes the reason to its standard error and does not exit with 0",
			func(k *kit) {
				w, top := k.copier()
				w.wantNoCopy(top + "-missing")
			}),
		newCase("copy-after-the-end", needs,
			"a worker that has ended is ErrNotFound, unless its files can be copied",
			func(k *kit) {
				w := k.finished(script.True)
				ctx, cancel := w.limited()
				defer cancel()
				if _, err := w.Backend.(swarm.Copier).Copy(ctx, w.handle, swarm.CopyOptions{Path: ".", Dir: w.spec.Dir}); err != nil {
					w.WantErr("Copy", err, swarm.ErrNotFound)
				}
			}),
	}
}

// copier starts a worker, and returns a name for files in its directory.
func (k *kit) copier() (w *worker, top string) {
	k.Helper()
	w = k.ready(script.Sleep)
	return w, "copied-" + w.spec.ID
}

// copied runs the program of Copy, and returns what it wrote.
func (w *worker) copied(o swarm.CopyOptions, stdin []byte) (stdout []byte, stderr string, code int) {
	w.Helper()
	if w.local {
		o.Dir, o.Shim = w.spec.Dir, w.settings.Shim
	}
	ctx, cancel := w.limited()
	defer cancel()
	p, err := w.Backend.(swarm.Copier).Copy(ctx, w.handle, o)
	w.Must("Copy", err)
	cmd := w.command(p)
	cmd.Stdin = bytes.NewReader(stdin)
	out, stderr, code := w.ran(cmd)
	return []byte(out), stderr, code
}

// copyIn makes files in a directory.
func (w *worker) copyIn(dir string, files ...copied) {
	w.Helper()
	if _, errs, code := w.copied(swarm.CopyOptions{Path: dir, Into: true}, pack(w, files...)); code != 0 {
		w.Broken("copy into %s: exit code %d, it wrote %q", dir, code, errs)
	}
}

// wantCopy compares what a path names with files, of which the first one is the first in the stream.
func (w *worker) wantCopy(name string, want ...copied) {
	w.Helper()
	out, errs, code := w.copied(swarm.CopyOptions{Path: name}, nil)
	if code != 0 {
		w.Broken("copy %s: exit code %d, it wrote %q", name, code, errs)
		return
	}
	got, err := unpack(out)
	if err != nil || len(got) == 0 {
		w.Broken("copy %s: %d entries, then %v", name, len(got), err)
		return
	}
	index := func(files []copied) map[string]string {
		m := map[string]string{}
		for _, f := range files {
			m[f.name] = f.is
		}
		return m
	}
	if got[0] != want[0] || !maps.Equal(index(got), index(want)) {
		w.Broken("copy %s: the stream has %q, not %q", name, got, want)
	}
}

func (w *worker) wantNoCopy(name string) {
	w.Helper()
	if _, errs, code := w.copied(swarm.CopyOptions{Path: name}, nil); code == 0 || strings.TrimSpace(errs) == "" {
		w.Broken("copy %s: exit code %d, it wrote %q to its standard error", name, code, errs)
	}
}

func pack(w *worker, files ...copied) []byte {
	w.Helper()
	var b bytes.Buffer
	to := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.is)), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(f.is, "-> "); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		} else if f.is == "/" {
			h.Typeflag, h.Mode, h.Size = tar.TypeDir, 0o755, 0
		}
		err := to.WriteHeader(h)
		if err == nil && h.Typeflag == tar.TypeReg {
			_, err = io.WriteString(to, f.is)
		}
		w.Must("pack", err)
	}
	w.Must("pack", to.Close())
	return b.Bytes()
}

func unpack(stream []byte) ([]copied, error) {
	var files []copied
	from := tar.NewReader(bytes.NewReader(stream))
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return files, err
		}
		f := copied{name: path.Clean(h.Name)}
		switch h.Typeflag {
		case tar.TypeDir:
			f.is = "/"
		case tar.TypeSymlink:
			f.is = "-> " + h.Linkname
		case tar.TypeReg:
			content, err := io.ReadAll(from)
			if err != nil {
				return files, err
			}
			f.is = string(content)
		default:
			return files, fmt.Errorf("%s is an entry of type %q", h.Name, h.Typeflag)
		}
		files = append(files, f)
	}
}
