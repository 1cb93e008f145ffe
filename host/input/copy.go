package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CopyOut copies a file or a directory of a worker, running or ended, to a path on this machine. If to is a
// directory, it gets the copy under the name of the original; "." at the end of from means the entries of
// a directory, without its name. A copy of a file replaces a file.
//
// Every caller that may read the output of the worker may copy files out of it.
func (s *Sender) CopyOut(ctx context.Context, name, from, to string) (archive.Result, error) {
	dir, as := filepath.Dir(filepath.Clean(to)), filepath.Base(to)
	switch info, err := os.Stat(to); {
	case err == nil && info.IsDir():
		dir, as = to, archive.Base(from)
	case err == nil && strings.HasSuffix(to, "/"):
		return archive.Result{}, worker.Invalid("cannot copy to %s: it is not a directory", to)
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return archive.Result{}, err
	case as == "." || as == "..":
		// Without the part that is missing, or in an empty text, it would be a directory that exists: its
		// files would be replaced.
		return archive.Result{}, worker.Invalid("cannot copy to '%s': there is no such directory", to)
	case strings.HasSuffix(to, "/"):
		as += "/"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return archive.Result{}, worker.Invalid("cannot copy to %s: %s", to, archive.Reason(err))
	}
	defer root.Close()
	var result archive.Result
	left, err := s.copy(ctx, name, swarm.CopyOptions{Path: from}, nil, func(r io.Reader) (err error) {
		result, err = archive.Unpack(r, root, as)
		return err
	})
	result.Skipped = append(left, result.Skipped...)
	return result, err
}

// CopyIn copies a file or a directory of this machine into a worker, by the rules of [Sender.CopyOut].
//
// A file can end a worker, or make it do anything, so the right to end it is needed.
func (s *Sender) CopyIn(ctx context.Context, name, from, to string) (archive.Result, error) {
	if from == "" { // not the working directory, as in an empty path elsewhere
		return archive.Result{}, worker.Invalid("cannot copy '': there is no such file")
	}
	dir, base := archive.Split(filepath.ToSlash(from))
	root, err := os.OpenRoot(dir)
	var info fs.FileInfo
	if err == nil {
		defer root.Close()
		info, err = root.Lstat(base)
	}
	if err != nil {
		return archive.Result{}, worker.Invalid("cannot copy %s: %s", from, archive.Reason(err))
	}
	into, as := to, base
	if _, isDir := s.look(ctx, name, strings.TrimSuffix(to, "/")+"/."); !isDir {
		if archive.Base(to) == "." || !info.IsDir() && strings.HasSuffix(to, "/") {
			return archive.Result{}, worker.Invalid("cannot copy to %s:%s: there is no such directory", name, to)
		}
		if info.IsDir() {
			if exists, _ := s.look(ctx, name, path.Clean(to)); exists {
				return archive.Result{}, worker.Invalid("cannot copy to %s:%s: it exists and is not a directory", name, to)
			}
		}
		into, as = path.Dir(path.Clean(to)), path.Base(path.Clean(to))
	}
	var result archive.Result
	left, err := s.copy(ctx, name, swarm.CopyOptions{Path: into, Into: true}, func(w io.Writer) (err error) {
		result, err = archive.Pack(w, root, base, as)
		return err
	}, nil)
	result.Skipped = append(result.Skipped, left...)
	return result, err
}

// StreamOut writes a file or a directory of a worker to w as a tar stream.
func (s *Sender) StreamOut(ctx context.Context, name, from string, w io.Writer) (archive.Result, error) {
	var result archive.Result
	left, err := s.copy(ctx, name, swarm.CopyOptions{Path: from}, nil, func(r io.Reader) (err error) {
		result.Bytes, err = io.Copy(w, r)
		return err
	})
	result.Skipped = left
	return result, err
}

// StreamIn makes files of the tar stream in r in a directory of a worker.
func (s *Sender) StreamIn(ctx context.Context, name, to string, r io.Reader) (archive.Result, error) {
	var result archive.Result
	left, err := s.copy(ctx, name, swarm.CopyOptions{Path: to, Into: true}, func(w io.Writer) (err error) {
		result.Bytes, err = io.Copy(w, r)
		return err
	}, nil)
	result.Skipped = left
	return result, err
}

// look reports whether a path names something in a worker, and whether that is a directory, as far as it can be read.
func (s *Sender) look(ctx context.Context, name, at string) (exists, isDir bool) {
	enough := errors.New("read")
	_, _ = s.copy(ctx, name, swarm.CopyOptions{Path: at}, nil, func(r io.Reader) (err error) {
		if _, isDir, err = archive.First(r); err == nil {
			exists, err = true, enough
		}
		return err
	})
	return exists, isDir
}

// copy runs the program of a backend. write writes its standard input, or read reads its standard output. It
// returns what the program has left out.
func (s *Sender) copy(ctx context.Context, name string, o swarm.CopyOptions, write func(io.Writer) error, read func(io.Reader) error) ([]string, error) {
	what := "cannot copy from"
	pick := s.Roster.See
	if o.Into {
		what, pick = "cannot copy to", s.Roster.Pick
	}
	recs, _, err := pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	if o.Into {
		if err := s.Roster.MayEnd(ctx, recs...); err != nil {
			return nil, err
		}
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		rec, err = s.Settler.Settled(ctx, rec)
	}
	if err == nil && rec.Handle.Version == 0 {
		err = worker.NotRunning(rec.Name) // its start failed
	}
	var p swarm.Program
	if err == nil {
		p, err = s.copier(ctx, rec, o)
	}
	var left []string
	if err == nil {
		left, err = s.runCopy(ctx, p, write, read)
	}
	return left, worker.WithName(err, what, rec.Name)
}

// copier returns the program that copies files of a worker.
func (s *Sender) copier(ctx context.Context, rec registry.Record, o swarm.CopyOptions) (p swarm.Program, err error) {
	err = s.interact(ctx, rec, swarm.CapCopy, func(ctx context.Context, peer *backend.Peer) error {
		local, err := s.Plugins.Local(peer, rec.ID)
		if err != nil {
			return err
		}
		if local != nil {
			o.Dir, o.Shim, o.Confined = rec.Dir, local.Shim, rec.Sandbox != nil
		}
		if o.Confined && path.IsAbs(o.Path) {
			if o.Path, err = below(&rec, o.Path); err != nil {
				return err
			}
		}
		p, err = peer.Backend.Copy(ctx, rec.Handle, o)
		return err
	})
	return p, err
}

// below returns a path of a sandboxed worker relative to its directory. Elsewhere the worker may see other files
// than this machine has there.
func below(rec *registry.Record, name string) (string, error) {
	dir := rec.Dir
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	switch {
	case path.Clean(name) == path.Clean(dir):
		return ".", nil
	case !ok || strings.Trim(rest, "/") == "":
		return "", worker.WithHint(
			worker.Invalid("a worker in a sandbox has files of its own only in its directory, %s", dir),
			fmt.Sprintf("copy other files with 'swarm exec %s -- tar'", rec.Name))
	}
	return strings.TrimLeft(rest, "/"), nil
}

const (
	// messageLimit is how much of what a program reports is kept.
	messageLimit = 64 << 10
	// maxReasons is how many lines of it are the reason of a failure, the last ones.
	maxReasons = 3
	// copyEndLimit is how long a program may take to end after it was asked to.
	copyEndLimit = 2 * time.Second
)

func (s *Sender) runCopy(ctx context.Context, p swarm.Program, write func(io.Writer) error, read func(io.Reader) error) (left []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Env = environ.Set(environ.Unset(s.Env, p.Unset...), p.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = copyEndLimit
	var errs limited
	cmd.Stderr = &errs
	var ours error
	if write != nil {
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, err
		}
		if ours = write(in); ours != nil && !errors.Is(ours, syscall.EPIPE) {
			cancel()
		}
		_ = in.Close()
	} else {
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, err
		}
		if ours = read(out); ours != nil && !errors.Is(ours, io.ErrUnexpectedEOF) && !errors.Is(ours, archive.ErrEmpty) {
			cancel()
		}
		_ = out.Close()
	}
	stopped := ctx.Err() != nil
	theirs := cmd.Wait()
	lines := errs.lines()
	switch {
	case ours != nil && (stopped || theirs == nil) && !errors.Is(ours, syscall.EPIPE):
		return lines, ours
	case theirs != nil:
		isSkip := func(line string) bool { return strings.HasPrefix(line, archive.LeftOut) }
		reasons := slices.DeleteFunc(slices.Clone(lines), isSkip)
		if len(reasons) > 0 {
			left = slices.DeleteFunc(lines, func(line string) bool { return !isSkip(line) })
			return left, errors.New(strings.Join(reasons[max(0, len(reasons)-maxReasons):], "; "))
		}
		return lines, fmt.Errorf("the program that copies, %s, failed: %w", filepath.Base(p.Command[0]), theirs)
	}
	return lines, ours
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), max(0, messageLimit-l.Len()))])
	return len(p), nil
}

func (l *limited) lines() []string {
	var lines []string
	for line := range strings.SplitSeq(l.String(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
