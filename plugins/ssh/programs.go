package ssh

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// programs finds the programs that are copied, once.
type programs func() (set, error)

// set is a directory of programs, and their hash together.
type set struct{ dir, hash string }

// programsIn returns the programs in dir; empty: next to the plugin. Their hashes are in the file
// notes; empty: nowhere.
func programsIn(dir, notes string) programs {
	return sync.OnceValues(func() (set, error) {
		dir, err := directory(dir)
		if err != nil {
			return set{}, err
		}
		hash, changed, err := remote.Hash(dir, notes, func(name string) string { return filepath.Join(dir, name) })
		if err != nil {
			return set{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
		}
		if changed != nil && notes != "" {
			writeNote(notes, changed)
		}
		return set{dir: dir, hash: hash}, nil
	})
}

// directory returns where the programs are: where the settings say, next to the plugin, or
// next to what PATH has.
func directory(setting string) (string, error) {
	var dirs []string
	if setting != "" {
		dirs = []string{setting}
	} else {
		if self, err := os.Executable(); err == nil {
			dirs = append(dirs, filepath.Dir(self))
		}
		if path, err := exec.LookPath(remote.Program); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, dir := range dirs {
		if isThere(dir) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w: swarm-remote and swarm-shim, which are copied to the host, are not in %s: set programs in the settings of the plugin",
		swarm.ErrUnavailable, strings.Join(dirs, " or "))
}

func isThere(dir string) bool {
	return !slices.ContainsFunc(remote.Programs, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err != nil
	})
}

// install is the script that takes the programs over there. Before it reads them it ends a line that a login
// shell may have begun, and says which system it is on, and whether they may be compressed. A connection that breaks is the end of the
// archive for it, or its own end by a signal: it leaves nothing then.
const install = `sh -c 'umask 077; echo; uname -sm; z=cat; command -v gzip >/dev/null 2>&1 && z="gzip -dc"; echo "$z"; ` +
	`t=DIR/bin/new.$$; trap "rm -rf $t" EXIT; trap "exit 1" HUP INT TERM; ` +
	`mkdir -p DIR/bin && chmod 700 DIR && mkdir $t && $z | tar xf - -C $t && $t/swarm-remote install HASH'`

// compresses is what install says if the programs may be compressed.
const compresses = "gzip -dc"

func (l *link) copy(ctx context.Context, s set) error {
	ctx, cancel := context.WithTimeout(ctx, copyLimit)
	defer cancel()
	r, err := l.client.start(ctx, strings.NewReplacer("DIR", l.client.config.Directory, "HASH", s.hash).Replace(install))
	if err != nil {
		return err
	}
	defer r.end()
	stop := context.AfterFunc(ctx, r.end)
	defer stop()
	chatter := bufio.NewReader(io.LimitReader(r.out, maxChatter))
	for {
		line, err := firstLine(chatter)
		if err != nil {
			r.end()
			return l.failure(r)
		}
		if system, machine, ok := strings.Cut(line, " "); ok && systems[system] != "" {
			if err := l.fits(system, machine); err != nil {
				return err
			}
			break
		}
	}
	how, err := firstLine(chatter)
	if err != nil {
		r.end()
		return l.failure(r)
	}
	defer l.copied.end()
	err = send(r.in, s.dir, how == compresses, &l.copied)
	_ = r.in.Close()
	select {
	case <-r.ended:
	case <-ctx.Done():
		return fmt.Errorf("%w: copying swarm-remote to %s: %w", swarm.ErrUnavailable, l.client.host, ctx.Err())
	}
	if code := r.exit(); code != 0 {
		return fmt.Errorf("%w: swarm-remote can't be copied to ~/%s of %s: %s",
			swarm.ErrUnavailable, l.client.config.Directory, l.client.host, cmp.Or(r.errors.line(), fmt.Sprintf("exit code %d", code)))
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%w: copying swarm-remote to %s: %w", swarm.ErrUnavailable, l.client.host, err)
	}
	return nil
}

// systems are the names by which uname calls systems.
var systems = map[string]string{"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd", "OpenBSD": "openbsd", "NetBSD": "netbsd", "SunOS": "solaris"}

// machines are the names by which uname calls architectures.
var machines = map[string]string{
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
	"i386": "386", "i686": "386", "armv6l": "arm", "armv7l": "arm", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
}

// fits reports whether the programs run on a system. With programs of its own, the user
// knows.
func (l *link) fits(system, machine string) error {
	if l.client.config.Programs != "" || systems[system] == runtime.GOOS && machines[machine] == runtime.GOARCH {
		return nil
	}
	return fmt.Errorf("%w: %s is %s on %s, and this swarm is for %s on %s: build swarm-remote and swarm-shim for it, "+
		"and set programs in the settings of the plugin to their directory",
		swarm.ErrUnavailable, l.client.host, safetext.Line(safetext.Cut(system, 40)), safetext.Line(safetext.Cut(machine, 40)), runtime.GOOS, runtime.GOARCH)
}

// progress reports how much of the programs has been copied. Its zero value is of a copy that
// is not under way. All its methods may be called at the same time.
type progress struct {
	done, total atomic.Int64 // in bytes; total is 0 if nothing is copied
}

// Write counts what is copied.
func (p *progress) Write(b []byte) (int, error) {
	p.done.Add(int64(len(b)))
	return len(b), nil
}

func (p *progress) begin(total int64) {
	p.done.Store(0)
	p.total.Store(total)
}

func (p *progress) end() { p.begin(0) }

// text returns how far a copy has come; empty if none is under way.
func (p *progress) text() string {
	total := p.total.Load()
	if total == 0 {
		return ""
	}
	const mega = 1 << 20
	return fmt.Sprintf("%d of %d MiB", p.done.Load()/mega, (total+mega-1)/mega)
}

func send(w io.Writer, dir string, compressed bool, p *progress) (err error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	var heads []*tar.Header
	var total int64
	for _, name := range remote.Programs {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		files = append(files, f)
		info, err := f.Stat()
		if err != nil {
			return err
		}
		heads = append(heads, &tar.Header{Name: name, Mode: 0o700, Size: info.Size(), ModTime: time.Now(), Format: tar.FormatUSTAR})
		total += info.Size()
	}
	p.begin(total)
	if compressed {
		// More effort makes it a tenth smaller, in three times the time.
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		defer func() { err = errors.Join(err, z.Close()) }()
		w = z
	}
	t := tar.NewWriter(w)
	for i, f := range files {
		if err := t.WriteHeader(heads[i]); err != nil {
			return err
		}
		if _, err := io.Copy(io.MultiWriter(t, p), f); err != nil {
			return err
		}
	}
	return t.Close()
}
