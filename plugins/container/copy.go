package container

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CopyVerb is the first argument of the program that [Backend.Copy] returns, the plugin's own, which then calls
// [CopyMain].
const CopyVerb = "copy-files"

const (
	copyIn  = "in"
	copyOut = "out"
)

// Copy returns the plugin itself, which asks the engine for the files. The engine has those of a container that has
// ended too, until it is removed.
func (b *Backend) Copy(ctx context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.Program{}, err
	}
	if _, err := e.inspect(ctx, r); err != nil {
		return swarm.Program{}, err
	}
	own, err := os.Executable()
	if err != nil {
		return swarm.Program{}, err
	}
	way := copyOut
	if o.Into {
		way = copyIn
	}
	return swarm.Program{Command: []string{own, CopyVerb, way, r.Socket, r.Container, o.Path}}, nil
}

// CopyMain copies files out of a container or into it, and returns the exit code. Its arguments are those of
// the program that [Backend.Copy] returns.
func CopyMain(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := copyFiles(ctx, args, in, out); err != nil {
		fmt.Fprintln(safetext.Writer(errs), err)
		return 1
	}
	return 0
}

func copyFiles(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 4 || args[0] != copyIn && args[0] != copyOut {
		return errors.New("expected in or out, a socket, a container and a path")
	}
	way, container, name := args[0], args[2], args[3]
	b := &Backend{engines: make(map[string]*engine), log: slog.New(slog.DiscardHandler)}
	e, err := b.at(args[1])
	if err != nil {
		return err
	}
	c, err := e.look(ctx, container)
	if err != nil {
		return e.explain(ctx, "look at the worker", err)
	}
	f := &files{e: e, container: container, dirs: map[string]bool{}}
	if c.Config != nil {
		f.home, f.user = path.Clean("/"+c.Config.WorkingDir), c.Config.User
	}
	absolute, err := f.resolve(ctx, name)
	switch {
	case err != nil:
		return err
	case way == copyIn:
		return f.in(ctx, absolute, in)
	default:
		return f.out(ctx, absolute, archive.Base(name), out)
	}
}

// files are those of a container.
type files struct {
	e          *engine
	container  string
	home, user string // the working directory, and the user as the container names it
	dirs       map[string]bool
}

// resolve returns an absolute path. Below the working directory no link is followed, and none leads out of it.
func (f *files) resolve(ctx context.Context, name string) (string, error) {
	if path.IsAbs(name) {
		return path.Clean(name), nil
	}
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%s leads out of the directory of the worker; name it by its absolute path", name)
	}
	above := path.Dir(clean)
	if archive.Base(name) == "." {
		above = clean
	}
	return path.Join(f.home, clean), f.noLink(ctx, f.home, above)
}

// noLink returns an error if a directory on the way from one to another below it is a symbolic link. It accepts
// a missing directory.
func (f *files) noLink(ctx context.Context, from, below string) error {
	at := from
	for part := range strings.SplitSeq(below, "/") {
		if at = path.Join(at, part); part == "." || f.dirs[at] {
			continue
		}
		s, err := f.e.ContainerStatPath(ctx, f.container, client.ContainerStatPathOptions{Path: at})
		switch {
		case isGone(err):
			return nil
		case err != nil:
			return f.e.explain(ctx, "look at "+at, err)
		case s.Stat.Mode&os.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link, which is not followed", at)
		}
		f.dirs[at] = true
	}
	return nil
}

func (f *files) out(ctx context.Context, from, as string, w io.Writer) error {
	if as == "." {
		from += "/."
	}
	got, err := f.e.CopyFromContainer(ctx, f.container, client.CopyFromContainerOptions{SourcePath: from})
	if err != nil {
		return f.e.explain(ctx, "copy "+from, err)
	}
	defer func() { _ = got.Content.Close() }()
	if as != "." {
		_, err = io.Copy(w, got.Content)
		return err
	}
	return withTop(w, got.Content)
}

// withTop copies the stream of a directory's entries. Podman leaves out the directory itself.
func withTop(w io.Writer, r io.Reader) error {
	var read bytes.Buffer
	first, err := tar.NewReader(io.TeeReader(r, &read)).Next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if first == nil || path.Clean(first.Name) != "." {
		t := tar.NewWriter(w)
		if err := errors.Join(t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755}), t.Flush()); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, io.MultiReader(&read, r))
	return err
}

// in has the engine make files, which belong to the user of the worker if that is a number.
func (f *files) in(ctx context.Context, to string, from io.Reader) error {
	s, err := f.e.ContainerStatPath(ctx, f.container, client.ContainerStatPathOptions{Path: to + "/."})
	switch {
	case err != nil:
		return f.e.explain(ctx, "look at "+to, err)
	case !s.Stat.Mode.IsDir():
		return fmt.Errorf("%s is not a directory", to)
	}
	// The engine holds a lock on the container while it unpacks a stream, so that no question about the links there
	// would be answered meanwhile: the stream is kept until all of it was looked at.
	kept, err := os.CreateTemp("", "swarm-copy-")
	if err != nil {
		return err
	}
	defer kept.Close()
	if err := os.Remove(kept.Name()); err != nil { // it lasts as long as this process
		return err
	}
	w := bufio.NewWriter(kept)
	if err := errors.Join(f.pass(ctx, to, from, w), w.Flush()); err != nil {
		return err
	}
	if _, err := kept.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = f.e.CopyToContainer(ctx, f.container, client.CopyToContainerOptions{DestinationPath: to, Content: kept})
	return f.e.explain(ctx, "copy to "+to, err)
}

// pass passes a tar stream on, without entries that lead out of the directory.
func (f *files) pass(ctx context.Context, to string, from io.Reader, w io.Writer) error {
	uid, gid := owner(f.user)
	r, out := tar.NewReader(from), tar.NewWriter(w)
	links := make(map[string]bool)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		name := path.Clean(h.Name)
		if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
			return fmt.Errorf("the entry %q leads out of what is copied", h.Name)
		}
		if name == "." {
			continue // the directory exists, and keeps its owner and its permissions
		}
		for at := path.Dir(name); at != "."; at = path.Dir(at) {
			if links[at] {
				return fmt.Errorf("%s is a symbolic link, which is not followed", at)
			}
		}
		if err := f.noLink(ctx, to, path.Dir(name)); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir, tar.TypeLink:
			delete(links, name)
		case tar.TypeSymlink:
			links[name] = true
		default:
			continue
		}
		h.Uid, h.Gid, h.Uname, h.Gname = uid, gid, "", ""
		h.Mode &= 0o777
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(out, r); err != nil {
			return err
		}
	}
}

// owner returns the numbers in the user of a container, which are those of root for one with a name.
func owner(user string) (uid, gid int) {
	u, g, _ := strings.Cut(user, ":")
	uid, err := strconv.Atoi(u)
	if err != nil {
		return 0, 0
	}
	gid, _ = strconv.Atoi(g)
	return uid, gid
}
