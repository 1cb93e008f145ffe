package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The errors of the host. Errors of the contract, such as [swarm.ErrInvalidSpec], are
// returned unchanged.
var (
	// ErrNotFound: no such worker; always a [NotFoundError].
	ErrNotFound = store.ErrNotFound
	// ErrExists: a worker of that name is in the registry, running or not.
	ErrExists = errors.New("worker already exists")
	// ErrNoSelection: neither a name nor all workers were asked for.
	ErrNoSelection = errors.New("must specify worker name or --all")
	// ErrOvertaken: another call has respawned or removed the worker meanwhile.
	ErrOvertaken = errors.New("another call has respawned or removed it meanwhile")
	// ErrOutside: what was asked for is only for those inside a worker.
	ErrOutside = errors.New("not inside a worker")
	// ErrRunning: what was asked for needs a worker that has ended.
	ErrRunning = errors.New("worker is running")
	// ErrEnded: what was asked for needs a worker that runs.
	ErrEnded = errors.New("worker is not running")
	// ErrDeaf: the worker takes no input.
	ErrDeaf = errors.New("worker takes no input")
	// ErrNotReady: the worker did not show in time that it is ready.
	ErrNotReady = errors.New("worker is not ready")
)

// NotFoundError names a worker that is not in the registry.
type NotFoundError = store.NotFoundError

// NoProfileError names a profile of agents that does not exist.
type NoProfileError struct {
	Name string
	// Known are the names of the profiles that exist.
	Known []string
}

func (e *NoProfileError) Error() string {
	return fmt.Sprintf("unknown profile '%s' (there are %s, and none)", e.Name, strings.Join(e.Known, ", "))
}

// Is makes it a [swarm.ErrInvalidSpec].
func (e *NoProfileError) Is(target error) bool { return target == swarm.ErrInvalidSpec }

// existsError names a worker that is in the registry already.
type existsError struct{ name string }

func (e *existsError) Error() string        { return fmt.Sprintf("worker '%s' already exists", e.name) }
func (e *existsError) Is(target error) bool { return target == ErrExists }

// Hint returns the next step.
func (e *existsError) Hint() string {
	return fmt.Sprintf("start it again with 'swarm respawn %[1]s', or free the name with 'swarm kill %[1]s' and 'swarm clean %[1]s'", e.name)
}

// runningError names a worker that can't be cleaned.
type runningError struct{ name string }

func (e *runningError) Error() string {
	return fmt.Sprintf("cannot clean running worker '%s'", e.name)
}
func (e *runningError) Is(target error) bool { return target == ErrRunning }

// endedError names a worker that would have to run.
type endedError struct{ name string }

func (e *endedError) Error() string        { return fmt.Sprintf("worker '%s' is not running", e.name) }
func (e *endedError) Is(target error) bool { return target == ErrEnded }

// Hint returns the next step.
func (e *endedError) Hint() string {
	return fmt.Sprintf("see how it ended with 'swarm status %[1]s' and what it wrote with 'swarm logs %[1]s'; start it again with 'swarm respawn %[1]s'", e.name)
}

// deafError names a worker that takes no input.
type deafError struct{ name string }

func (e *deafError) Error() string {
	return fmt.Sprintf("worker '%s' has no input to send to: it was spawned without --stdin", e.name)
}
func (e *deafError) Is(target error) bool { return target == ErrDeaf }

// Hint returns the next step.
func (e *deafError) Hint() string {
	return fmt.Sprintf("spawn it again with --stdin, or with --tmux in a terminal, after 'swarm kill %[1]s' and 'swarm clean %[1]s'", e.name)
}

// unsupportedError says what a backend can't do.
type unsupportedError struct {
	backend string
	cap     swarm.Capability
	// name is that of the worker that was asked about; empty: there is none yet.
	name string
}

func (e *unsupportedError) Error() string {
	return fmt.Sprintf("backend '%s' does not support %s", e.backend, e.cap)
}
func (e *unsupportedError) Is(target error) bool { return target == swarm.ErrUnsupported }

// Hint returns the next step; empty if there is none.
func (e *unsupportedError) Hint() string {
	if e.name == "" {
		return ""
	}
	switch e.cap {
	case swarm.CapAttach:
		return fmt.Sprintf("'%[1]s' has no window of its own; follow what it writes with 'swarm logs %[1]s --follow'", e.name)
	case swarm.CapInput, swarm.CapSignal:
		return fmt.Sprintf("see what '%[1]s' does with 'swarm status %[1]s', or end it with 'swarm kill %[1]s'", e.name)
	default:
		return ""
	}
}

// survivorsError names the processes that survived a kill.
type survivorsError struct {
	name      string
	survivors []swarm.Process
	hint      string
}

func (e *survivorsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot kill '%s': still alive", e.name)
	if len(e.survivors) > 0 {
		b.WriteString(": ")
		b.WriteString(history.Processes(e.survivors))
	}
	b.WriteString(e.hint)
	return b.String()
}
func (e *survivorsError) Is(target error) bool { return target == swarm.ErrSurvivors }

// specError is a [swarm.ErrInvalidSpec] whose text is all of it.
type specError struct{ text string }

func (e *specError) Error() string        { return e.text }
func (e *specError) Is(target error) bool { return target == swarm.ErrInvalidSpec }

// wording is the text of an error without the sentinels that say no more than the
// text after them.
func wording(err error) string {
	return errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable)
}

// hintedError says in a second line what to do next.
type hintedError struct{ text, hint string }

func (e *hintedError) Error() string { return e.text }

// Hint returns the next step.
func (e *hintedError) Hint() string { return e.hint }
