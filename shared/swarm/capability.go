package swarm

import (
	"context"
	"time"
)

// Capability names an optional interface on the wire and to people. Readers
// keep names that they do not know.
type Capability string

// The capabilities. Each is announced by implementing the interface next to it.
const (
	CapBatchStatus   Capability = "batch-status"   // [BatchStatuser]
	CapSweep         Capability = "sweep"          // [Sweeper]
	CapOutput        Capability = "output"         // [Outputter]
	CapFind          Capability = "find"           // [Finder]
	CapCheck         Capability = "check"          // [Checker]
	CapFindWorkspace Capability = "find-workspace" // [WorkspaceFinder]
	CapRescue        Capability = "rescue"         // [Rescuer]
	CapDiff          Capability = "diff"           // [Differ]
	CapInput         Capability = "input"          // [Inputter]
	CapSignal        Capability = "signal"         // [Signaller]
	CapScreen        Capability = "screen"         // [Screener]
	CapBatchScreen   Capability = "batch-screen"   // [BatchScreener]
	CapAttach        Capability = "attach"         // [Attacher]
	CapResize        Capability = "resize"         // [Resizer]
	CapExec          Capability = "exec"           // [Execer]
	CapCopy          Capability = "copy"           // [Copier]
	CapForward       Capability = "forward"        // [Forwarder]
	CapWatch         Capability = "watch"          // [Watcher]
	CapComplete      Capability = "complete"       // [Completer]
	CapList          Capability = "list"           // [Lister]
	CapStats         Capability = "stats"          // [Measurer]
	CapSetLimits     Capability = "set-limits"     // [Limiter]
	CapPause         Capability = "pause"          // [Pauser]
	CapProgress      Capability = "progress"       // [Progresser]
	CapWorkspaces    Capability = "workspaces"     // [Workspace], of a [Backend]
	CapCheckSpawn    Capability = "check-spawn"    // [SpawnChecker]
	CapCheckCreate   Capability = "check-create"   // [WorkspaceChecker]
	CapTools         Capability = "tools"          // [Toolbox]
)

// The capabilities that are fields of a [Spec]. They are announced by [Announcer]; the
// host refuses a spawn that needs a capability that the backend does not announce, except
// for CapOwner, which it then implements itself as well as it can.
const (
	CapStdin      Capability = "stdin"      // Spec.Stdin
	CapRestart    Capability = "restart"    // Spec.Restart
	CapOwner      Capability = "owner"      // Spec.Owner
	CapTranscript Capability = "transcript" // Spec.Transcript, of local backends only

	CapLimitMemory   Capability = "limit-memory"    // Spec.Limits.Memory
	CapLimitCPUs     Capability = "limit-cpus"      // Spec.Limits.CPUs
	CapLimitPIDs     Capability = "limit-pids"      // Spec.Limits.PIDs
	CapLimitNice     Capability = "limit-nice"      // Spec.Limits.Nice
	CapLimitIOWeight Capability = "limit-io-weight" // Spec.Limits.IOWeight

	CapSandbox Capability = "sandbox" // Spec.Sandbox
)

// interfaces are in the order of [CapabilitiesOf].
var interfaces = []struct {
	capability Capability
	has        func(plugin any) bool
}{
	{CapBatchStatus, has[BatchStatuser]},
	{CapSweep, has[Sweeper]},
	{CapOutput, has[Outputter]},
	{CapFind, has[Finder]},
	{CapCheck, has[Checker]},
	{CapFindWorkspace, has[WorkspaceFinder]},
	{CapRescue, has[Rescuer]},
	{CapDiff, has[Differ]},
	{CapInput, has[Inputter]},
	{CapSignal, has[Signaller]},
	{CapScreen, has[Screener]},
	{CapBatchScreen, has[BatchScreener]},
	{CapAttach, has[Attacher]},
	{CapResize, has[Resizer]},
	{CapExec, has[Execer]},
	{CapCopy, has[Copier]},
	{CapForward, has[Forwarder]},
	{CapWatch, has[Watcher]},
	{CapComplete, has[Completer]},
	{CapList, has[Lister]},
	{CapStats, has[Measurer]},
	{CapSetLimits, has[Limiter]},
	{CapPause, has[Pauser]},
	{CapProgress, has[Progresser]},
	{CapCheckSpawn, has[SpawnChecker]},
	{CapCheckCreate, has[WorkspaceChecker]},
	{CapTools, has[Toolbox]},
	{CapWorkspaces, func(plugin any) bool { return has[Backend](plugin) && has[Workspace](plugin) }},
}

func has[T any](plugin any) bool {
	_, ok := plugin.(T)
	return ok
}

// Capable is a [Backend] or a [Workspace] that lists its capabilities. One that passes its calls on
// to another has the capabilities of that one, mostly [CapabilitiesOf] it, and has methods for all
// that such a one could have. The SDK refuses to serve a plugin that lists an interface which it does
// not implement, so that no capability is lost because of a wrong signature.
type Capable interface {
	// Capabilities returns all capabilities, those of [Announcer] too; every call returns the same.
	Capabilities() []Capability
}

// Unimplemented returns the capabilities that a [Capable] lists and does not implement.
func Unimplemented(plugin any) []Capability {
	c, ok := plugin.(Capable)
	if !ok {
		return nil
	}
	var missing []Capability
	for _, listed := range c.Capabilities() {
		for _, i := range interfaces {
			if i.capability == listed && !i.has(plugin) {
				missing = append(missing, listed)
			}
		}
	}
	return missing
}

// CapabilitiesOf returns the capabilities that a [Backend], a [Workspace], a [Toolbox] or a [Notifier]
// implements, in a fixed order, or those that a [Capable] lists.
func CapabilitiesOf(plugin any) []Capability {
	if c, ok := plugin.(Capable); ok {
		return c.Capabilities()
	}
	var caps []Capability
	for _, i := range interfaces {
		if i.has(plugin) {
			caps = append(caps, i.capability)
		}
	}
	if a, ok := plugin.(Announcer); ok {
		caps = append(caps, a.Announce()...)
	}
	return caps
}

// MaxBatch is the largest number of handles in one call. The host splits larger
// batches.
const MaxBatch = 500

// BatchStatuser returns the statuses of many workers at once. Without it the SDK calls
// Status for each, concurrently.
type BatchStatuser interface {
	// StatusBatch returns one result for each handle, in order. It returns an error
	// only if it can't answer for any.
	StatusBatch(ctx context.Context, hs []Handle) ([]StatusResult, error)
}

// StatusResult is the result for one worker of a batch: a status or the error that
// Status would return.
type StatusResult struct {
	Status Status
	Err    error
}

// Progresser reports what a long Spawn waits for, such as a download.
type Progresser interface {
	// Progress reports on the Spawn of the worker with that id, which is in progress in the
	// same plugin process. It calls each with a line of text for the user at once, unless
	// the Spawn waits for nothing yet, and again whenever the text has changed, at most a
	// few times a second. It returns nil once that Spawn has returned, or at once without
	// one, and returns an error of each unchanged. It changes nothing.
	Progress(ctx context.Context, id string, each func(text string) error) error
}

// Sweeper removes unused resources that workers shared, such as an empty session of a
// terminal multiplexer.
type Sweeper interface {
	// Sweep is called once after a batch of kills or removals. ended are the handles of
	// workers that have ended, running those of all workers of this backend that still run.
	// It removes only resources that the backend itself made, that an ended worker used,
	// that no running worker uses and that hold nothing else. It reports each resource that
	// it keeps for another reason in one line, written for the user.
	Sweep(ctx context.Context, ended, running []Handle) (warnings []string, err error)
}

// Outputter reads the output of workers, of ended ones too.
type Outputter interface {
	// Output calls each for every piece of output, in order, and returns when there
	// is no more. It returns an error of each unchanged. No output yet is not an
	// error; output that no longer exists is [ErrNotFound].
	Output(ctx context.Context, h Handle, opts OutputOptions, each func(Output) error) error
}

// Finder recovers a worker after the host was killed between Spawn and the
// record, and after the loss of the registry.
type Finder interface {
	// Find returns the handle of the worker that was spawned with that id,
	// running or ended, or [ErrNotFound]. A Spawn of that worker by another process, whose
	// host was killed, may still be in progress or be undone; a plugin that is local and made
	// with the SDK is called when it ends, and no later one can begin.
	Find(ctx context.Context, l Lookup) (Handle, error)
}

// Checker reports whether the plugin can work at all.
type Checker interface {
	// Check returns nil, or an error that says what is missing and how to get it,
	// such as [ErrUnavailable] with "tmux is not installed".
	Check(ctx context.Context) error
}

// Reporter describes what the plugin works with, for people. It has no capability of its
// own: the result of [Checker] carries it.
type Reporter interface {
	// Report returns a few words such as "git 2.39.5". It is called after Check has
	// returned nil.
	Report(ctx context.Context) (string, error)
}

// Announcer names the fields of a [Spec] that the backend supports beyond the required
// ones.
type Announcer interface {
	// Announce returns some of [CapStdin], [CapRestart], [CapOwner], [CapTranscript],
	// [CapSandbox] and those of [Limits.Needs]; every call returns the same.
	Announce() []Capability
}

// Watcher reports changes of a worker as they happen, above all its end. Without it the
// host polls the status.
type Watcher interface {
	// Watch calls each with the current status, and again whenever the worker was
	// restarted, reported its completion, or no longer runs; after the last it returns
	// nil. Statuses in quick succession may be reported as one. It returns an error of
	// each unchanged.
	Watch(ctx context.Context, h Handle, each func(Status) error) error
}

// Completer records that a worker is done. The first of completion, kill and exit wins.
type Completer interface {
	// Complete records durably that the worker is done: from then on its status has
	// the completion, and its end the cause [CauseCompleted]. The worker itself calls
	// it, and it does not wait for the worker's end: processes that remain after
	// o.Grace are ended as by Kill with o, even if the caller and the plugin are gone.
	//
	// For a worker that is being killed, has completed or has ended, the error is
	// [ErrTooLate].
	Complete(ctx context.Context, h Handle, summary string, o KillOptions) error
}

// Lister lists the workers of the engine, including those of hosts with other state
// directories or on other machines. A host uses it to adopt workers, which it can then
// find and end.
//
// It is for backends that are not local: a local backend must not show one host the
// workers of another, see [Local.StateDir].
type Lister interface {
	// List calls each for every worker that the engine knows, running or ended, once, in no
	// order, and never twice at the same time. If the plugin's settings choose a part of
	// the engine, such as a namespace, List covers that part. It leaves out everything in
	// the engine that is not a worker of this backend, and each worker that can't be read;
	// neither makes List fail. It changes nothing, and returns an error of each unchanged.
	//
	// Errors: [ErrUnavailable] when the engine can't be asked.
	List(ctx context.Context, each func(Listed) error) error
}

// Listed is one worker of an engine.
type Listed struct {
	// Spec is what the worker was spawned from, as far as the engine knows; unknown
	// fields are zero. ID, Name and Command are always set. Env, Owner and Local never
	// are, since the environment may hold secrets and the owner is on another machine;
	// the SDK removes them.
	Spec Spec
	// Handle is as good as the one that Spawn returned; the two need not be equal.
	Handle Handle
	// Created is when it was spawned; zero if not known.
	Created time.Time
	// Status is what [Backend.Status] would return.
	Status Status
}
