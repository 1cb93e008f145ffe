package ssh

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// programs are the programs of this machine that are copied.
type programs struct {
	// dir is the setting, and notes the file that holds their hashes; empty: none.
	dir, notes string

	once sync.Once
	set  set
	err  error
}

// set is a directory of programs, and their hash together.
type set struct{ dir, hash string }

// get finds the programs and hashes those that changed since the last time.
func (p *programs) get() (set, error) {
	p.once.Do(func() { p.set, p.err = p.find() })
	return p.set, p.err
}

func (p *programs) find() (set, error) {
	dir, err := p.directory()
	if err != nil {
		return set{}, err
	}
	known := make(map[string]remote.Seen)
	if p.notes != "" {
		if data, err := safefile.Read(p.notes, 1<<16); err == nil {
			_ = json.Unmarshal(data, &known) // else they are hashed
		}
	}
	fresh := make(map[string]remote.Seen)
	var sums []string
	same := true
	for _, name := range remote.Programs {
		path := filepath.Join(dir, name)
		seen, err := remote.Hash(path, known[path])
		if err != nil {
			return set{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
		}
		same = same && known[path] == seen
		fresh[path] = seen
		sums = append(sums, seen.Sum)
	}
	if data, err := json.Marshal(fresh); err == nil && !same && p.notes != "" {
		writeNote(p.notes, data)
	}
	return set{dir: dir, hash: remote.Together(sums)}, nil
}

// directory returns where the programs are: where the settings say, beside the plugin, or
// beside what PATH has.
func (p *programs) directory() (string, error) {
	var dirs []string
	if p.dir != "" {
		dirs = []string{p.dir}
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
	for _, name := range remote.Programs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// install is the script that takes the programs over there. It says which system it is on
// before it reads them.
const install = `sh -c 'umask 077; uname -sm; mkdir -p DIR/bin && chmod 700 DIR && t=DIR/bin/new.$$ && mkdir $t && tar xf - -C $t && $t/swarm-remote install HASH; s=$?; rm -rf $t; exit $s'`

// copy copies the programs to the host.
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
		if system, machine, ok := strings.Cut(line, " "); ok && isSystem(system) {
			if err := l.fits(system, machine); err != nil {
				return err
			}
			break
		}
	}
	err = send(r.in, s.dir)
	_ = r.in.Close()
	select {
	case <-r.ended:
	case <-ctx.Done():
		return fmt.Errorf("%w: copying swarm-remote to %s: %w", swarm.ErrUnavailable, l.client.host, ctx.Err())
	}
	if code := r.exit(); code != 0 {
		return fmt.Errorf("%w: swarm-remote can't be copied to ~/%s of %s: %s",
			swarm.ErrUnavailable, l.client.config.Directory, l.client.host, orText(r.errors.line(), fmt.Sprintf("exit code %d", code)))
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("%w: copying swarm-remote to %s: %w", swarm.ErrUnavailable, l.client.host, err)
	}
	return nil
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// systems are the names by which uname calls systems.
var systems = map[string]string{"Linux": "linux", "Darwin": "darwin", "FreeBSD": "freebsd", "OpenBSD": "openbsd", "NetBSD": "netbsd", "SunOS": "solaris"}

// machines are the names by which uname calls architectures.
var machines = map[string]string{
	"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64",
	"i386": "386", "i686": "386", "armv6l": "arm", "armv7l": "arm", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
}

func isSystem(name string) bool { return systems[name] != "" }

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

// send writes the programs as an archive.
func send(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	for _, name := range remote.Programs {
		if err := add(t, dir, name); err != nil {
			return err
		}
	}
	return t.Close()
}

func add(t *tar.Writer, dir, name string) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := &tar.Header{Name: name, Mode: 0o700, Size: info.Size(), ModTime: time.Now(), Format: tar.FormatUSTAR}
	if err := t.WriteHeader(head); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
