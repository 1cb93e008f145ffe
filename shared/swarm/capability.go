package swarm

import (
	"context"
	"time"
)

// Capability names an optional interface on the wire and to people. Readers
// keep names that they do not know.
type Capability string

// The capabilities. Each is announced by implementing the interface beside it.
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
	CapWatch         Capability = "watch"          // [Watcher]
	CapComplete      Capability = "complete"       // [Completer]
	CapList          Capability = "list"           // [Lister]
	CapStats         Capability = "stats"          // [Measurer]
	CapSetLimits     Capability = "set-limits"     // [Limiter]
	CapPause         Capability = "pause"          // [Pauser]
	CapProgress      Capability = "progress"       // [Progresser]
	CapWorkspaces    Capability = "workspaces"     // [Workspace], of a [Backend]
)

// The capabilities that are fields of a [Spec]. They are announced by
// [Announcer]; the host refuses a spawn that needs one of a backend that does not
// announce it, except for CapOwner, which it then carries out itself as well as
// it can.
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

// interfaces lists what announces each capability, in the order of
// [CapabilitiesOf].
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
	{CapWatch, has[Watcher]},
	{CapComplete, has[Completer]},
	{CapList, has[Lister]},
	{CapStats, has[Measurer]},
	{CapSetLimits, has[Limiter]},
	{CapPause, has[Pauser]},
	{CapProgress, has[Progresser]},
	{CapWorkspaces, func(plugin any) bool { return has[Backend](plugin) && has[Workspace](plugin) }},
}

func has[T any](plugin any) bool {
	_, ok := plugin.(T)
	return ok
}

// CapabilitiesOf returns the capabilities that a [Backend] or a [Workspace]
// implements, in a fixed order.
func CapabilitiesOf(plugin any) []Capability {
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

// MaxBatch is the largest number of handles in one call. The host splits what
// is more.
const MaxBatch = 500

// BatchStatuser answers for many workers with one look. Without it the SDK
// calls Status for each, concurrently.
type BatchStatuser interface {
	// StatusBatch returns one result for each handle, in their order. An error
	// is returned only if none can be answered.
	StatusBatch(ctx context.Context, hs []Handle) ([]StatusResult, error)
}

// StatusResult is the answer for one worker of a batch: a status or the error
// that Status would have returned.
type StatusResult struct {
	Status Status
	Err    error
}

// Progresser tells what a Spawn waits for that may take long, such as a download.
type Progresser interface {
	// Progress tells about the Spawn of the worker with that id, which the same process of
	// the plugin carries out meanwhile. It calls each with a line of text for the user at
	// once, unless nothing is waited for yet, and again whenever the text has changed, a few
	// times a second at most. It returns nil once that Spawn is over, at once if there is
	// none, and an error of each as it is. It changes nothing.
	Progress(ctx context.Context, id string, each func(text string) error) error
}

// Sweeper drops what workers shared and nobody uses any more, such as an empty
// session of a terminal multiplexer.
type Sweeper interface {
	// Sweep is called once after a batch of kills or removals. ended are the handles of
	// workers that ended, running those of all workers of this backend that still run. It
	// removes only resources that an ended worker used, no running worker uses, the backend
	// itself made, and no one else has anything in. Resources that it keeps for someone
	// else's sake are reported, one line each, written for the user.
	Sweep(ctx context.Context, ended, running []Handle) (warnings []string, err error)
}

// Outputter reads the output of workers, of ended ones too.
type Outputter interface {
	// Output calls each for every piece of output, in order, and returns when
	// there is no more. It returns an error of each as it is. No output yet is
	// not an error; output that is gone for ever is [ErrNotFound].
	Output(ctx context.Context, h Handle, opts OutputOptions, each func(Output) error) error
}

// Finder recovers a worker after the host was killed between Spawn and the
// record, and after the loss of the registry.
type Finder interface {
	// Find returns the handle of the worker that was spawned with that id,
	// running or ended, or [ErrNotFound].
	Find(ctx context.Context, l Lookup) (Handle, error)
}

// Checker tells whether the plugin can work at all.
type Checker interface {
	// Check returns nil, or an error that says what is missing and how to get
	// it, such as [ErrUnavailable] with "tmux is not installed".
	Check(ctx context.Context) error
}

// Reporter tells people what the plugin works with. It has no capability, since the
// answer of [Checker] carries it.
type Reporter interface {
	// Report returns a few words such as "git 2.39.5". It is called after Check
	// returned nil.
	Report(ctx context.Context) (string, error)
}

// Announcer tells what of a [Spec] the backend can carry out beyond what every
// backend has to.
type Announcer interface {
	// Announce returns some of [CapStdin], [CapRestart], [CapOwner],
	// [CapTranscript], [CapSandbox] and those of [Limits.Needs], the same at every call.
	Announce() []Capability
}

// Watcher tells of changes of a worker as they happen, its end above all. Without it
// the host asks for the status now and then.
type Watcher interface {
	// Watch calls each with the status now, and again whenever the worker was
	// started again, said that it is done, or no longer runs; it returns nil after
	// that. Statuses that follow each other fast may be told as one. It returns an
	// error of each as it is.
	Watch(ctx context.Context, h Handle, each func(Status) error) error
}

// Completer records that a worker is done. The first of completion, kill and exit wins.
type Completer interface {
	// Complete records, durably, that the worker is done: from then on its status
	// has the completion, and its end the cause [CauseCompleted]. It is called by
	// the worker itself and does not wait for its end: what is still there after
	// o.Grace is ended as by Kill with o, whoever is gone.
	//
	// A worker that is being killed, has completed or has ended is [ErrTooLate].
	Complete(ctx context.Context, h Handle, summary string, o KillOptions) error
}

// Lister tells which workers the engine has, whoever spawned them: hosts with
// other state directories, on other machines. From it a host adopts workers, which
// are then found and ended from there too.
//
// It is for backends that are not local. A local one tells of nobody's workers
// but its caller's, see [Local.StateDir], and those the caller knows.
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
	// Spec is what the worker was spawned from, as far as the engine can tell; what
	// it can't is zero. ID, Name and Command are always set. Env, Owner and Local
	// never are: the environment may hold secrets, and the owner is on another
	// machine. The SDK removes them.
	Spec Spec
	// Handle is as good as the one that Spawn returned; the two need not be equal.
	Handle Handle
	// Created is when it was spawned; zero if not known.
	Created time.Time
	// Status is how it is, as Status would tell.
	Status Status
}
