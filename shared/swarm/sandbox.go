package swarm

import "strings"

// Sandbox keeps a worker and everything that it starts from changing files, reading secrets
// and reaching processes outside. All files of the machine are read-only in it, but for the
// working directory, the workspace of the worker, and Write. The directories for temporary
// files, the processes that the worker sees and the shared memory are its own; the runtime
// directories with their sockets, and the state directory of the host, are hidden. A backend
// makes the whole sandbox or refuses the worker; it never makes a part of it.
type Sandbox struct {
	// Network is [NetworkHost], the default, or [NetworkNone]. Anything else is
	// [ErrInvalidSpec].
	Network string `json:"network,omitempty"`
	// Home is the worker's home directory: [HomeEmpty], the default, a new empty directory;
	// [HomeReadOnly], the real one, read-only; or the absolute path of a directory that the
	// worker finds in its place and can change.
	Home string `json:"home,omitempty"`
	// Write are further files and directories that the worker can change: absolute paths
	// that have to exist.
	Write []string `json:"write,omitempty"`
}

// The values of [Sandbox.Network]. Without a network a worker reaches only its own processes,
// no others on the same machine either.
const (
	NetworkHost = "host"
	NetworkNone = "none"
)

// The values of [Sandbox.Home] that are not paths.
const (
	HomeEmpty    = "empty"
	HomeReadOnly = "read-only"
)

// Check returns nil, also for nil, or an [ErrInvalidSpec] that names the invalid field.
func (s *Sandbox) Check() error {
	if s == nil {
		return nil
	}
	switch s.Network {
	case "", NetworkHost, NetworkNone:
	default:
		return &specError{"the network of a sandbox is " + NetworkHost + " or " + NetworkNone}
	}
	switch s.Home {
	case "", HomeEmpty, HomeReadOnly:
	default:
		if !strings.HasPrefix(s.Home, "/") {
			return &specError{"the home of a sandbox is " + HomeEmpty + ", " + HomeReadOnly + " or an absolute path"}
		}
	}
	for _, path := range s.Write {
		if !strings.HasPrefix(path, "/") {
			return &specError{"what a sandbox can write is not an absolute path: " + path}
		}
	}
	return nil
}

// Clone returns a copy that shares nothing with s; nil for nil.
func (s *Sandbox) Clone() *Sandbox {
	if s == nil {
		return nil
	}
	c := *s
	c.Write = append([]string(nil), s.Write...)
	return &c
}
