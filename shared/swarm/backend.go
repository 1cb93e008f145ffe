package swarm

import (
	"context"
	"strings"
	"time"
)

// Backend owns workers. It is the one interface that a backend plugin has to
// implement; everything else it can do is announced by implementing a
// capability, see [CapabilitiesOf].
type Backend interface {
	// Spawn starts a worker and returns its handle. It returns when the worker
	// exists, which is before it is ready for anything. spec.ID is new: a
	// backend that already has a worker of that id returns [ErrExists].
	//
	// On any error nothing is left running and nothing is left behind. A spec
	// that can't be carried out (no such command, no such directory, an option
	// that the backend does not know) is [ErrInvalidSpec]; an engine that can't
	// be reached is [ErrUnavailable]. The host never repeats a Spawn.
	Spawn(ctx context.Context, spec Spec) (Handle, error)

	// Status tells how the worker is. A worker that ended is a status, not an
	// error: see [State]. Status never changes anything, and it never waits for
	// the worker.
	//
	// Errors: [ErrInvalidHandle] when the handle can't be read,
	// [ErrUnavailable] when the engine can't be asked. The host shows both as
	// unknown, for this worker only.
	Status(ctx context.Context, h Handle) (Status, error)

	// Kill ends the worker and everything it started. A nil error means that
	// nothing of it is left: no main process, no child, no daemonised
	// grandchild. A worker that had ended before is a success, however often
	// Kill is called. The host repeats a Kill when the plugin died in it.
	//
	// The host believes only an end that KillResult.Status confirms: exited, or
	// lost without survivors. A nil error with any other status is an error of the
	// kill, and the worker stays recorded as running; only with KillOptions.Detach
	// the status may say that the worker still runs.
	//
	// Processes that are still alive are named in KillResult.Survivors, and the error is
	// [ErrSurvivors]; the result is valid with that error. A process that is not provably
	// the worker's is never signalled: [ErrStaleHandle]. A second Kill of the same worker
	// may arrive while the first one waits out its grace, and takes effect at once if it is
	// the harsher one.
	Kill(ctx context.Context, h Handle, opts KillOptions) (KillResult, error)
}

// OptionTTY is the option for a terminal of the backends that can give workers one; its value
// is "true" then. Such a worker takes input.
const OptionTTY = "tty"

// Spec says what to start. Strings are UTF-8 without NUL bytes.
type Spec struct {
	// ID identifies the worker for ever: 1 to 64 characters of [a-z0-9-]. It is
	// safe in file names and in the names of most engines.
	ID string
	// Name is the user's name for the worker, valid by [ValidName]. A name can
	// be used again once its worker's record is gone; identify by ID.
	Name string
	// Command is the program and its arguments, at least one element, to be run
	// without a shell. A program without a slash is looked up in the worker's
	// PATH, where the worker runs.
	Command []string
	// Dir is the working directory, absolute. Empty: the backend's default,
	// which for a local backend does not occur.
	Dir string
	// Env holds KEY=VALUE entries which the worker gets on top of its
	// environment: what the user gave, and the SWARM_ variables by which the
	// worker knows itself. Later entries win.
	Env []string
	// Tags are the user's labels.
	Tags []string
	// Options are settings of this one worker that only its backend
	// understands, such as the session of a terminal multiplexer. An option
	// that the backend does not know is [ErrInvalidSpec].
	Options map[string]string
	// Kill is the worker's default kill policy. It also applies to the processes that
	// remain after the main process has ended.
	Kill KillOptions
	// OutputLimit is how many bytes of the worker's output to keep; older
	// output is dropped first. 0: the backend's default.
	OutputLimit int64
	// Transcript says to also write the output as it comes, without anything
	// added, to the file [TranscriptFile] in Local.RunDir; needs [CapTranscript].
	// The two streams of the worker are then one, Stdout, in the order written.
	Transcript bool
	// Stdin says to keep the standard input open, for [Inputter]; needs
	// [CapStdin]. Without it a worker that is not on a terminal reads nothing.
	Stdin bool
	// Restart is the worker's restart policy; needs [CapRestart].
	Restart Restart
	// Owner is the process at whose end the worker is killed, by its kill policy;
	// nil: nobody. It is set for local backends only.
	Owner *Owner
	// Limits are what the worker may use, see [Limits]; each one that is set needs its
	// capability, see [Limits.Needs].
	Limits Limits
	// Sandbox is what the worker is kept from, see [Sandbox]; nil: nothing. It needs
	// [CapSandbox].
	Sandbox *Sandbox
	// Local is set for local backends only, and then always.
	Local *Local
}

// Owner names a process of this machine for ever: its pid may be used again, but
// not with the same start time since the same boot.
type Owner struct {
	// PID is its number.
	PID int
	// Start is in the unit of the operating system, such as clock ticks since the
	// boot; Boot is the boot's id.
	Start uint64
	Boot  string
}

// Local is what only a backend on the host's own machine is told.
type Local struct {
	// RunDir is the worker's run directory: absolute, it exists, mode 0700,
	// made for this worker alone. The host removes it when the worker's record
	// goes.
	RunDir string
	// StateDir is the host's state directory, absolute. Two hosts with
	// different state directories must not see each other's workers.
	StateDir string
	// Shim is the path of the swarm-shim executable, absolute.
	Shim string
	// Server is the path of the swarm-mcp executable, absolute; empty: it is not installed.
	Server string
	// HostEnv is the environment of the caller, KEY=VALUE, without anything
	// that a worker must not have (tokens, plugin handshakes).
	HostEnv []string
	// Workspace is the directory of the workspace that was made for this worker, such as a
	// git worktree, absolute; empty: there is none, and Dir is just where the caller was. A
	// backend that keeps files of this machine from its workers gives them this one.
	Workspace string
}

// Environ returns the environment of a worker on this machine: the caller's,
// then Env on top of it. Without Local it is Env alone.
func (s Spec) Environ() []string {
	var env []string
	if s.Local != nil {
		env = append(env, s.Local.HostEnv...)
	}
	return MergeEnv(append(env, s.Env...))
}

// Lookup asks for a worker by its id, see [Finder].
type Lookup struct {
	// ID is the id of the spec that the worker was spawned from.
	ID string
	// Name is the name in that spec.
	Name string
	// Options are the options in that spec.
	Options map[string]string
	// Local is as in that spec, for local backends only. HostEnv is empty.
	Local *Local
}

// MaxHandle is the largest size of Handle.Data, in bytes.
const MaxHandle = 4096

// Handle identifies a worker to its backend. The host stores it and never looks
// inside. It holds no secrets: it is shown in debugging output.
type Handle struct {
	// Version is the version of Data's format, counted by the backend from 1. A
	// backend reads every version that it ever wrote, and answers
	// [ErrInvalidHandle] to all others.
	Version uint32
	// Data is at most [MaxHandle] bytes.
	Data []byte
}

// IsZero reports whether h was never filled in.
func (h Handle) IsZero() bool { return h.Version == 0 && len(h.Data) == 0 }

// Process names an operating system process, for people to read and to look at.
type Process struct {
	// PID is its number on the machine where it runs, 0 if that is not told there.
	PID int
	// Name is its command, as short as ps shows it.
	Name string
}

// DefaultGrace is the grace of a kill when neither the user nor a config says
// otherwise.
const DefaultGrace = 5 * time.Second

// MaxName is the largest length of a worker's name, in bytes.
const MaxName = 64

// ValidName reports whether name can be a worker's name: a letter or digit of
// ASCII, then up to 63 letters, digits, dots, underscores and hyphens.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || strings.IndexByte("._-", c) < 0) {
			return false
		}
	}
	return true
}

// The variables by which a worker knows itself, set by the host.
const (
	// EnvWorker holds the worker's name.
	EnvWorker = "SWARM_WORKER"
	// EnvWorkerID holds the worker's id.
	EnvWorkerID = "SWARM_WORKER_ID"
	// EnvDir holds the host's state directory.
	EnvDir = "SWARM_DIR"
	// EnvShim marks a process that keeps workers, such as swarm-shim: with all
	// below it, it is not part of the worker that it was started from. Its value
	// is the id of the worker that it keeps, or any other text. It is never
	// passed on to a worker.
	EnvShim = "SWARM_SHIM"
	// EnvToken holds an agent's token. The one of a caller is never passed on to a
	// worker; one that is an agent itself has its own in [Spec.Env].
	EnvToken = "SWARM_TOKEN"
	// EnvView is set for what a user starts beside a worker in a terminal session that
	// only shows that worker. It holds what names the session that the worker lives in:
	// for tmux, the worker's TMUX. It is never passed on to a worker.
	EnvView = "SWARM_VIEW"
)

// MergeEnv returns env with one entry for each variable, the last one given, at
// the place of the first. Entries without '=' are left out.
func MergeEnv(env []string) []string {
	at := make(map[string]int, len(env))
	out := make([]string, 0, len(env))
	for _, kv := range env {
		k, _, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			continue
		}
		if i, seen := at[k]; seen {
			out[i] = kv
			continue
		}
		at[k] = len(out)
		out = append(out, kv)
	}
	return out
}
