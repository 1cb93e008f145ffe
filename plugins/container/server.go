package container

import (
	"context"
	"debug/elf"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/moby/moby/api/types/mount"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A worker with the option mcp has a program outside that serves 'swarm mcp' in its
// container, over a socket that is mounted there.

// withServer returns the mounts for 'swarm mcp' in the container.
func withServer(local *swarm.Local) ([]mount.Mount, error) {
	if local.Server == "" {
		return nil, fmt.Errorf("%w: option 'mcp': swarm-serve is not installed next to swarm-shim", swarm.ErrInvalidSpec)
	}
	if err := checkStatic(local.Server); err != nil {
		return nil, fmt.Errorf("%w: option 'mcp': %w", swarm.ErrInvalidSpec, err)
	}
	dir := filepath.Join(local.RunDir, rundir.ServerDir)
	return []mount.Mount{
		{Type: mount.TypeBind, Source: dir, Target: rundir.ServerTarget, ReadOnly: true},
		{Type: mount.TypeBind, Source: local.Server, Target: rundir.ServerProgram, ReadOnly: true},
	}, nil
}

// checkStatic returns an error if a program needs libraries, which an image may not have.
func checkStatic(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return fmt.Errorf("%s needs libraries that the image may not have: install swarm with CGO_ENABLED=0", path)
	}
	return nil
}

// listen makes the socket for the clients in a container, in a directory of its own. It
// stays when this process ends: another one listens then.
func listen(run string) (*os.File, error) {
	dir := filepath.Join(run, rundir.ServerDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return listenAt(dir, rundir.ServerSocket)
}

// serve starts the server of a worker whose container runs. It ends with the container.
func (p *plan) serve(ctx context.Context, e *engine, clients *os.File, r ref) error {
	s, err := e.inspect(ctx, r)
	if err != nil || !s.running {
		return err // it has ended already
	}
	if _, err := members.Of(s.pid, r.Container); err != nil {
		return fmt.Errorf("%w: option 'mcp': the engine's processes can't be seen from here", swarm.ErrInvalidSpec)
	}
	first, err := proc.Identify(s.pid)
	if err != nil {
		return nil //nolint:nilerr // it has ended just now
	}
	local := p.spec.Local
	cmd := exec.Command(local.Server, rundir.ServerCommand, rundir.ServerFlag, p.spec.ID, //nolint:noctx // it outlives this process
		"-container", r.Container, "-until", fmt.Sprintf("%d:%d:%s", first.PID, first.Start, first.Boot))
	return startMarked(cmd, local, rundir.ServerMark, clients)
}

// startMarked starts a program on this machine that serves a worker. The program carries a mark
// in its environment, and inherits files.
func startMarked(cmd *exec.Cmd, local *swarm.Local, mark string, files ...*os.File) error {
	cmd.Dir = "/" // not in a workspace that may have to go
	cmd.Env = swarm.MergeEnv(append(slices.Clone(local.HostEnv), swarm.EnvDir+"="+local.StateDir, swarm.EnvShim+"="+mark))
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// maxSocketPath is the longest path of a socket that every system takes.
const maxSocketPath = 103

// socketPath calls f with a path of the socket of that name in a directory. The path is
// valid until f returns: a path that is too long for the kernel leads through a descriptor.
func socketPath(dir, name string, f func(path string) error) error {
	path := filepath.Join(dir, name)
	if len(path) <= maxSocketPath {
		return f(path)
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name))
}

// listenAt makes a socket in a directory. It stays when this process ends, for the process
// that inherits the descriptor.
func listenAt(dir, name string) (clients *os.File, err error) {
	err = socketPath(dir, name, func(path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		defer func() { _ = l.Close() }()
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			return err
		}
		clients, err = l.File()
		return err
	})
	return clients, err
}
