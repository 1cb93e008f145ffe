package swarm

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Backend owns workers. It is the one interface that a backend plugin has to
// implement; everything else it can do is announced by implementing a
// capability, see [CapabilitiesOf].
type Backend interface {
	// Spawn starts a worker and returns its handle. It returns when the worker
	// exists, which is before it is ready for anything. spec.ID is new: a
	// backend that already has a worker of that id returns [ErrExists].
	//
	// After an error nothing runs and nothing is left behind. A spec that can't be
	// carried out (no such command, no such directory, an option that the backend does
	// not know) is [ErrInvalidSpec]; an engine that can't be reached is
	// [ErrUnavailable]. The host never repeats a Spawn.
	Spawn(ctx context.Context, spec Spec) (Handle, error)

	// Status returns the worker's status. A worker that has ended is a status, not
	// an error, see [State]. Status never changes anything and never waits for the
	// worker.
	//
	// Errors: [ErrInvalidHandle] if the handle can't be read, [ErrUnavailable] if the
	// engine can't be asked. The host shows both as unknown, for this worker only.
	Status(ctx context.Context, h Handle) (Status, error)

	// Kill ends the worker and everything it started. A nil error means that none of
	// its processes is left: no main process, no child, no daemonised grandchild. A
	// worker that has already ended is a success, however often Kill is called. The
	// host repeats a Kill during which the plugin died.
	//
	// The host believes only an end that KillResult.Status confirms: exited, or
	// lost with neither survivors nor processes that are perhaps its own. The host treats a nil error with any other status as a
	// failed kill, and the worker stays recorded as running; only with
	// KillOptions.Detach the worker may still run.
	//
	// Processes that are still alive are named in KillResult.Survivors, and the error is
	// [ErrSurvivors]; the result is valid with that error. A process that is not provably
	// the worker's is never signalled: [ErrStaleHandle]. A second Kill of the same worker
	// may arrive during the grace of the first one, and takes effect at once if it is
	// harsher.
	Kill(ctx context.Context, h Handle, opts KillOptions) (KillResult, error)
}

// OptionTTY is the option for a terminal of the backends that can give workers one; its value
// is "true" then. Such a worker takes input.
const OptionTTY = "tty"

// Spec describes the worker to start. Strings are UTF-8 without NUL bytes.
type Spec struct {
	// ID identifies the worker permanently: 1 to 64 characters of [a-z0-9-]. It is
	// safe in file names and in the names of most engines.
	ID string
	// Name is the user's name for the worker, valid by [ValidName]. A name can be
	// reused once its worker's record is removed; identify workers by ID.
	Name string
	// Command is the program and its arguments, at least one element, to be run
	// without a shell. A program without a slash is looked up in the worker's
	// PATH, where the worker runs.
	Command []string
	// Dir is the working directory, absolute. Empty means the backend's default; for
	// a local backend it is never empty.
	Dir string
	// Env holds KEY=VALUE entries that are added to the worker's environment: the
	// user's, and the SWARM_ variables that identify the worker. Later entries win.
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
	// Transcript also writes the unmodified output to the file [TranscriptFile] in
	// Local.RunDir; it needs [CapTranscript]. The two streams of the worker are then
	// one, Stdout, in the order written.
	Transcript bool
	// Stdin keeps the standard input open, for [Inputter]; it needs [CapStdin].
	// Without it, a worker that is not on a terminal has an empty input.
	Stdin bool
	// Restart is the worker's restart policy; it needs [CapRestart].
	Restart Restart
	// Owner is the process whose end kills the worker, by its kill policy; nil: no
	// process. It is set for local backends only.
	Owner *Owner
	// Limits bound the worker's resources. Each limit that is set needs its
	// capability, see [Limits.Needs].
	Limits Limits
	// Sandbox isolates the worker; nil: not isolated. It needs [CapSandbox].
	Sandbox *Sandbox
	// Local is set for local backends only, and then always.
	Local *Local
}

// Owner identifies a process of this machine permanently: its pid may be reused, but
// not with the same start time since the same boot.
type Owner struct {
	// PID is its number.
	PID int
	// Start is in the unit of the operating system, such as clock ticks since the
	// boot; Boot is the boot's id.
	Start uint64
	Boot  string
}

// Local holds what only a backend on the host's own machine gets.
type Local struct {
	// RunDir is the worker's run directory: absolute, existing, with mode 0700, made
	// for this worker alone. The host removes it with the worker's record. Names that begin with
	// the name of the plugin and a hyphen are free for files of the plugin, which the worker
	// can write too.
	RunDir string
	// StateDir is the host's state directory, absolute. Two hosts with
	// different state directories must not see each other's workers.
	StateDir string
	// Shim is the path of the swarm-shim executable, absolute.
	Shim string
	// Server is the path of the swarm-serve executable, absolute; empty: it is not installed.
	Server string
	// HostEnv is the environment of the caller, KEY=VALUE, without variables that a
	// worker must not have (tokens, plugin handshakes).
	HostEnv []string
	// Workspace is the directory of the workspace that was made for this worker, such as a
	// git worktree, absolute; empty if it has no workspace and Dir is the caller's directory.
	// A backend that hides this machine's files from its workers shows them this directory.
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

// Lookup identifies a worker by its id, see [Finder].
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

// Handle identifies a worker to its backend, or a workspace to its plugin. The host stores it and
// never looks inside. It holds no secrets: it is shown in debugging output.
type Handle struct {
	// Version is the version of Data's format, counted by the plugin from 1. A
	// plugin reads every version that it ever wrote, and answers
	// [ErrInvalidHandle] to all others.
	Version uint32
	// Data is at most [MaxHandle] bytes.
	Data []byte
}

// IsZero reports whether h was never filled in.
func (h Handle) IsZero() bool { return h.Version == 0 && len(h.Data) == 0 }

// Process names an operating system process, for people.
type Process struct {
	// PID is its number on the machine where it runs, 0 if not known.
	PID int
	// Name is its command, as short as ps shows it.
	Name string
	// Started is when it was started; zero if not known.
	Started time.Time
}

// DefaultGrace is the grace of a kill if neither the user nor a config sets one.
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

// The variables that identify a worker to itself, set by the host.
const (
	// EnvWorker holds the worker's name.
	EnvWorker = "SWARM_WORKER"
	// EnvWorkerID holds the worker's id.
	EnvWorkerID = "SWARM_WORKER_ID"
	// EnvDir holds the host's state directory.
	EnvDir = "SWARM_DIR"
	// EnvShim marks a process that watches workers, such as swarm-shim: it and its
	// descendants are not part of the worker that it was started from. Its value is
	// the id of the watched worker, or any other text. It is never passed on to a
	// worker.
	EnvShim = "SWARM_SHIM"
	// EnvEngine is set for every plugin, and so for the servers that it starts, such as that
	// of a terminal multiplexer: it proves that such a server, with what runs below it, is not part
	// of the worker in which the plugin was started. A server has it if its session leader has
	// it. The value is a secret of the host. It is never passed on to a worker that a shim
	// starts.
	EnvEngine = "SWARM_ENGINE"
	// EnvToken holds an agent's token. The caller's token is never passed on to a
	// worker; a worker that is an agent has its own in [Spec.Env].
	EnvToken = "SWARM_TOKEN"
	// EnvView is set for programs that a user starts next to a worker in a terminal
	// session that only shows that worker. It names the session that the worker runs
	// in: for tmux, the worker's TMUX. It is never passed on to a worker.
	EnvView = "SWARM_VIEW"
)

// MergeEnv returns env with one entry for each variable: the last one, at the position
// of the first. Entries without '=' are left out.
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

type runDirsKey struct{}

// WithRunDirs returns a context for the calls of a host whose run directories are in the
// directory dir, which is absolute. The SDK gives a backend such contexts. With an empty dir the
// host does not say where they are.
func WithRunDirs(ctx context.Context, dir string) context.Context {
	if dir == "" {
		return ctx
	}
	return context.WithValue(ctx, runDirsKey{}, dir)
}

// RunDir returns where the run directory of the worker with an id is now. recorded is its path
// when the worker was started ([Local.RunDir]), as a handle may hold it: the state directory may
// have been moved since, or may be reached by another path, and something else may lie at the old
// one. ctx is the context of a call. RunDir returns recorded only if the host of the call does not
// say where its run directories are, or if no run directory can have the id as its name.
func RunDir(ctx context.Context, id, recorded string) string {
	dir, _ := ctx.Value(runDirsKey{}).(string)
	if dir == "" || id == "" || id != filepath.Base(id) || id == "." || id == ".." {
		return recorded
	}
	return filepath.Join(dir, id)
}

// CheckUTF8 returns an [ErrInvalidSpec] if the command, the directory or the environment of the
// worker is not UTF-8. A backend calls it whose engine takes JSON or another text: the engine
// would run another command than the one that was asked for. env is the environment that the
// engine is given. The error names a variable without its value.
func (s Spec) CheckUTF8(engine string, env []string) error {
	refuse := func(what string) error {
		return &specError{what + " is not UTF-8, and " + engine + " takes nothing else; use a backend of this machine, or a script that holds it"}
	}
	for i, arg := range s.Command {
		if !utf8.ValidString(arg) && i == 0 {
			return refuse("the command " + strconv.Quote(arg))
		}
		if !utf8.ValidString(arg) {
			return refuse("the argument " + strconv.Quote(arg))
		}
	}
	if !utf8.ValidString(s.Dir) {
		return refuse("the working directory " + strconv.Quote(s.Dir))
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !utf8.ValidString(kv) {
			return refuse("the value or the name of the variable " + strconv.Quote(name))
		}
	}
	return nil
}

// SpawnChecker finds out beforehand whether a worker could be spawned. The host asks before it
// ends a worker whose place the new one takes.
type SpawnChecker interface {
	// CheckSpawn returns the error with which Spawn would fail for the spec, as far as that can be
	// found out without an effect: it starts nothing, makes nothing and reserves nothing, neither
	// for people to see nor for a later Spawn. A cache may be filled, such as an open connection.
	//
	// A nil error promises nothing. An error does: Spawn, called at this moment in the state that
	// SpawnCheck describes, would fail. In doubt CheckSpawn returns nil, since its error
	// keeps the old worker. The sentinels are those of [Backend.Spawn], and the text says what to
	// change. CheckSpawn may be repeated, and has to return within seconds.
	CheckSpawn(ctx context.Context, c SpawnCheck) error
}

// SpawnCheck is the Spawn that [SpawnChecker] is asked about.
type SpawnCheck struct {
	// Spec is what would be spawned. The ID is new, and Local.RunDir does not exist yet.
	Spec Spec
	// Replaces is the worker that has ended before the Spawn, although it may run now: its name and
	// whatever else it uses alone are free then. The zero value: no worker. A handle that can't be
	// read is ignored.
	Replaces Handle
	// NoWorkspace says that the workspace of the worker does not exist yet. Spec.Dir is then the
	// base of the workspace, in place of the directory in it, and Local.Workspace is empty: whatever
	// depends on the files there is not checked.
	NoWorkspace bool
}

type warnKey struct{}

// Warn shows a warning to the user of the call whose context ctx is: one line about something
// that the user should know and that does not make the call fail, such as an option that had no
// effect. It works in Spawn, Kill, Create and Remove, in whatever they call, until they return;
// in other calls it does nothing. A host shows the first [MaxWarnings] of a call.
func Warn(ctx context.Context, text string) {
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		warn(text)
	}
}

// MaxWarnings is how many warnings one call can have; later ones are dropped.
const MaxWarnings = 20

// WithWarnings returns a context for calls whose warnings go to warn. It is called concurrently
// if the calls warn concurrently. The SDK gives a plugin such contexts.
func WithWarnings(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}
