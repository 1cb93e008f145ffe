// Package box starts a worker in a sandbox, and is the first process in it.
//
// bubblewrap makes the namespaces and the mounts and then runs the shim's program once more,
// as the first process in them, see [Inside]. That process receives the command, starts it in
// a session of its own, and reports that. Then the shim kills bubblewrap, which would only
// wait, and so becomes the parent of that process. Nothing of the worker runs outside of the
// sandbox, and bubblewrap gets none of the worker's environment: its variables may lead the
// loader of programs into directories that an earlier worker has written.
package box

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Box is the sandbox of the running worker: the first process in it, which started the main
// process and reports how that ended, since only a parent learns that. It ends when nothing
// of the worker is left. If it is killed, the kernel kills everything in the sandbox.
type Box struct {
	Init proc.Identity
	// conn is the connection to it.
	conn *os.File
	// Said holds a token when there is news from [Box.Reports].
	Said chan struct{}
	// commands counts those of [Box.Exec].
	commands int
	mu       sync.Mutex
	reports  []Report
	gone     bool
	// Over is closed when it has reported, or is gone.
	Over chan struct{}
	// End is how the main process ended, if Reported says so. Both are for after Over.
	End      unix.WaitStatus
	Reported bool
}

// Spec says what to start in a sandbox.
type Spec struct {
	// ID is the worker's id.
	ID string
	// Wrap is the command line of bubblewrap, see [rundir.Launch].
	Wrap    []string
	Command []string
	Env     []string
	// Streams are the worker's standard streams.
	Streams []uintptr
	// Terminal says that they are a terminal, which becomes the worker's own.
	Terminal bool
	// Fork starts a process outside of the sandbox.
	Fork func(program string, argv []string, attr *syscall.ProcAttr) (pid int, err error)
}

// Command is a second command for a sandbox.
type Command struct {
	// Dir is relative to the worker's directory, or absolute.
	Dir  string
	Args []string
	// Base is the environment of the worker outside of the sandbox, Env has variables in addition
	// to what it has inside.
	Base, Env []string
	// Terminal says that the streams are a terminal, which becomes the command's own.
	Terminal bool
	Streams  *fdpass.Files
}

// Report is what the first process of a sandbox reports about a command.
type Report struct {
	// Number is the number that [Box.Exec] has returned.
	Number int
	// Failed is why the command could not be started; else Ended says that it has ended as Status
	// says; else it was started, with PID as its number in the sandbox.
	Failed string
	Ended  bool
	Status unix.WaitStatus
	PID    int
}

// Reports returns the reports about commands that it has not returned before, the oldest first. gone
// says that none will follow: the first process has ended, and everything in the sandbox with it.
func (b *Box) Reports() (rs []Report, gone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rs, b.reports = b.reports, nil
	return rs, b.gone
}

// report adds to what Reports returns.
func (b *Box) report(gone bool, rs ...Report) {
	b.mu.Lock()
	b.reports, b.gone = append(b.reports, rs...), gone
	b.mu.Unlock()
	select {
	case b.Said <- struct{}{}:
	default: // the last token is still there
	}
}

// Arg is the argument of the first process in a sandbox.
const Arg = "inside"

// outside are variables that lead to sockets and directories outside of a sandbox. Programs
// cope better with a missing variable than with one that leads nowhere.
var outside = []string{
	swarm.EnvToken, "TMUX", "TMUX_PANE", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS",
	"DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY", "DOCKER_HOST",
	"CONTAINER_HOST", "PULSE_SERVER", "GNOME_KEYRING_CONTROL", "TMPDIR", "TMP", "TEMP",
}

// wrapArgs returns the command line of bubblewrap. A path to hide that does not exist at this
// start is left out: nothing can be made in a read-only directory.
//
// A mounted directory must be where it was when the sandbox was planned: bubblewrap follows
// symbolic links, and the worker may have made some since. If it is not, an option that only
// tries to mount is left out, and all others are an error.
func wrapArgs(wrap []string) ([]string, error) {
	args := make([]string, 0, len(wrap)+8)
	var sealed []string
	hide := func(name string) error {
		path, err := filepath.EvalSymlinks(name)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES):
			return nil // what the user can't reach the worker can't reach either
		case err != nil:
			return failure("", err)
		}
		if fi, err := os.Lstat(path); err == nil && fi.IsDir() {
			args = append(args, "--tmpfs", path)
			sealed = append(sealed, "--remount-ro", path)
		} else {
			args = append(args, "--ro-bind", os.DevNull, path)
		}
		return nil
	}
	for i := 0; i < len(wrap); i++ {
		op, value := wrap[i], ""
		if i+1 < len(wrap) {
			value = wrap[i+1]
		}
		switch {
		case op == rundir.WrapHide:
			i++
			if err := hide(value); err != nil {
				return nil, err
			}
		case op == rundir.WrapHideSockets:
			for _, socket := range listeners("/proc/net/unix") {
				if !isShown(wrap, socket) {
					continue
				}
				if err := hide(socket); err != nil {
					return nil, err
				}
			}
		case op == "--ro-bind-try" && !isInPlace(value):
			i += 2
		case (op == "--bind" || op == "--ro-bind" || op == "--dev-bind") && !isInPlace(value):
			return nil, failure(value+" is not the directory that it was when the worker was spawned", nil)
		default:
			args = append(args, op)
		}
	}
	// Directories that the worker can write to may be below a hidden directory, which stays
	// writable until all of them are mounted.
	return append(args, sealed...), nil
}

// isInPlace reports whether a path exists and has no symbolic link in it.
func isInPlace(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}

type unmade struct{ reason string }

func (e *unmade) Error() string { return rundir.NoSandbox + ": " + e.reason }

// failure returns the error of a sandbox that could not be made, from the output of
// bubblewrap or another error.
func failure(said string, err error) error {
	text, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	switch {
	case text != "":
	case err != nil:
		text = err.Error()
	default:
		text = "bubblewrap ended without an error message"
	}
	return &unmade{text}
}
