package worker

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status says in one word how a worker is.
type Status string

const (
	// StatusStarting: its spawn is under way, or was interrupted.
	StatusStarting Status = "starting"
	// StatusRunning: something of it is alive and kept.
	StatusRunning Status = "running"
	// StatusStopped: nothing of it is left.
	StatusStopped Status = "stopped"
	// StatusLost: its shim is gone and its exit will never be known. Its processes that
	// are still alive are in Worker.Survivors, those that perhaps are in Worker.PerhapsAlive.
	StatusLost Status = "lost"
	// StatusPending: its engine has accepted it and has not started it yet; Worker.Reason says
	// what it waits for.
	StatusPending Status = "pending"
	// StatusUnknown: its backend can't be asked; Worker.Reason says why.
	StatusUnknown Status = "unknown"
)

// Worker is what is known of a worker at one moment. Its Spec is what was asked for, as it is
// recorded; of a worker that was adopted, what its backend knows of that.
type Worker struct {
	registry.Spec
	Status Status
	// Reason is one line about the status, or empty.
	Reason string
	// PID is the main process, 0 if there is none or it is not known. It is for
	// people.
	PID int
	// Started and Ended are when its main process began and ended; zero if not known.
	Started, Ended time.Time
	// Exit is set for a stopped worker whose exit is known.
	Exit  *swarm.Exit
	Where swarm.Where
	// Workspace is nil if it has none, or has none any more.
	Workspace *swarm.WorkspaceRef
	// Survivors are the processes of a lost worker that are still alive.
	Survivors []swarm.Process
	// PerhapsAlive are living processes that are perhaps those of a lost worker, without
	// proof; PID names the main process if it is one of them.
	PerhapsAlive []swarm.Process
	// Restarts is how often its restart policy started it again.
	Restarts int
	// Unenforced is one line: which of its limits are not enforced, and why; empty if all
	// are, and if the worker does not run.
	Unenforced string
	// Paused says that its processes are stopped until it is resumed.
	Paused bool
	// Completion is set once it said that it is done.
	Completion *swarm.Completion
	// ShellRead is how many bytes of the transcript of a background shell were read.
	ShellRead int64
	// State is what it does, for a worker that runs and has a profile; nil if that was
	// not asked for, see [Selection.States].
	State *judgement.State
	// Can are the capabilities of its backend, nil if that was not asked about it.
	Can []swarm.Capability
}

// CommandLine returns the command as people are shown it: that of the agent for a loop, not
// the command of swarm that runs it.
func (w Worker) CommandLine() string {
	if len(w.Shown) > 0 {
		return humane.Command(w.Shown)
	}
	return humane.Command(w.Command)
}

// Gone reports whether nothing of the worker is left. A lost worker that perhaps still runs
// is not gone.
func (w Worker) Gone() bool {
	return w.Status == StatusStopped || w.Status == StatusLost && len(w.Survivors) == 0 && len(w.PerhapsAlive) == 0
}

// Active reports whether a worker runs, or waits in its engine for its start.
func (w Worker) Active() bool { return w.Status == StatusRunning || w.Status == StatusPending }

// InCrashLoop reports whether a worker was given up by its restart policy.
func (w Worker) InCrashLoop() bool { return w.Exit != nil && w.Exit.Cause == swarm.CauseCrashLoop }

// BetweenStarts reports whether a worker waits for its restart.
func (w Worker) BetweenStarts() bool {
	return w.Status == StatusRunning && w.PID == 0 && w.Restart.When != swarm.RestartNo
}

// Selection says which workers are meant. With All or Tag set, Names is empty;
// the order is then that of the names' creation.
type Selection struct {
	// Names are names or ids, exact; a worker that is named twice is selected
	// once.
	Names []string
	// All selects every worker.
	All bool
	// Tag selects the workers that carry this tag.
	Tag string
	// States asks the host for the states of agents, too: it looks at their
	// screens.
	States bool
}

// Warning is something that the user should know and that did not make the call
// fail.
type Warning struct {
	// Text is one line.
	Text string
	// Hint is what to do about it, one line, or empty.
	Hint string
}

// Warned returns the warning of a plugin about a worker.
func Warned(name, text string) Warning { return Warning{Text: fmt.Sprintf("'%s': %s", name, text)} }

// LimitsText writes limits as people read them: "2.0GiB of memory, 1.5 CPUs, 500
// processes"; empty if there are none.
func LimitsText(l swarm.Limits) string {
	var parts []string
	if l.Memory != 0 {
		parts = append(parts, humane.Bytes(l.Memory)+" of memory")
	}
	if l.CPUs != 0 {
		word := " CPUs"
		if l.CPUs == 1 {
			word = " CPU"
		}
		parts = append(parts, strconv.FormatFloat(l.CPUs, 'f', -1, 64)+word)
	}
	if l.PIDs != 0 {
		parts = append(parts, fmt.Sprintf("%d processes", l.PIDs))
	}
	if l.Nice != 0 {
		parts = append(parts, fmt.Sprintf("nice %d", l.Nice))
	}
	if l.IOWeight != 0 {
		parts = append(parts, fmt.Sprintf("I/O weight %d", l.IOWeight))
	}
	if len(parts) > 0 && l.BestEffort {
		parts = append(parts, "as far as possible")
	}
	return strings.Join(parts, ", ")
}

// SandboxText writes a sandbox as people read it: "empty home, no network, writes /data".
// It returns an empty text for a worker without a sandbox.
func SandboxText(s *swarm.Sandbox) string {
	if s == nil {
		return ""
	}
	var parts []string
	switch s.Home {
	case "", swarm.HomeEmpty:
		parts = append(parts, "empty home")
	case swarm.HomeReadOnly:
		parts = append(parts, "read-only home")
	default:
		parts = append(parts, "home "+s.Home)
	}
	if s.Network == swarm.NetworkNone {
		parts = append(parts, "no network")
	} else {
		parts = append(parts, "network of the host")
	}
	if len(s.Write) > 0 {
		parts = append(parts, "writes "+strings.Join(s.Write, ", "))
	}
	return strings.Join(parts, ", ")
}

// TeamStatus returns what a state means for an agent of a team; empty: nothing. One that stopped
// with a limit or an error is at its prompt, and one whose background work runs on is not
// done.
func TeamStatus(s *judgement.State) registry.AgentStatus {
	if s == nil {
		return ""
	}
	switch s.State {
	case profile.Idle, profile.Limited, profile.Broken:
		return registry.AgentIdle
	case profile.Working, profile.Blocked, profile.Background, profile.Compacting:
		return registry.AgentActive
	default:
		return ""
	}
}

// Alive reports whether the main process of a worker runs: no state outlives it.
func (w *Worker) Alive() bool { return w.Status == StatusRunning && (w.PID != 0 || w.Reason == "") }
