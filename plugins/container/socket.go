package container

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

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
