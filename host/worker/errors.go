package worker

import (
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The errors of verbs on workers. Errors of the contract, such as
// [swarm.ErrInvalidSpec], come through unchanged.
var (
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
)

// Exists returns an [ErrExists] that names the worker.
func Exists(name string) error { return &existsError{name} }

type existsError struct{ name string }

func (e *existsError) Error() string        { return fmt.Sprintf("worker '%s' already exists", e.name) }
func (e *existsError) Is(target error) bool { return target == ErrExists }

// Hint returns the next step.
func (e *existsError) Hint() string {
	return fmt.Sprintf("start it again with 'swarm respawn %[1]s', or free the name with 'swarm kill %[1]s' and 'swarm clean %[1]s'", e.name)
}

// NotRunning returns an [ErrEnded] that names the worker.
func NotRunning(name string) error { return &endedError{name} }

// endedError names a worker that would have to run.
type endedError struct{ name string }

func (e *endedError) Error() string        { return fmt.Sprintf("worker '%s' is not running", e.name) }
func (e *endedError) Is(target error) bool { return target == ErrEnded }

// Hint returns the next step.
func (e *endedError) Hint() string {
	return fmt.Sprintf("see how it ended with 'swarm status %[1]s' and what it wrote with 'swarm logs %[1]s'; start it again with 'swarm respawn %[1]s'", e.name)
}

// Unsupported returns a [swarm.ErrUnsupported] for a backend that lacks a capability.
// name is the worker's that was asked about; empty: there is none yet.
func Unsupported(backend string, missing swarm.Capability, name string) error {
	return &unsupportedError{backend, missing, name}
}

type unsupportedError struct {
	backend string
	cap     swarm.Capability
	// name may be empty.
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

// Invalid returns a [swarm.ErrInvalidSpec] whose text is all of it.
func Invalid(text string) error { return &specError{text} }

type specError struct{ text string }

func (e *specError) Error() string        { return e.text }
func (e *specError) Is(target error) bool { return target == swarm.ErrInvalidSpec }

// Wording returns the text of an error without the sentinels that say no more than the
// text after them.
func Wording(err error) string {
	return errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable)
}

// Hinted returns an error with a hint, which says in a second line what to do next.
func Hinted(text, hint string) error { return &hintedError{text, hint} }

// hintedError says in a second line what to do next.
type hintedError struct{ text, hint string }

func (e *hintedError) Error() string { return e.text }

// Hint returns the next step.
func (e *hintedError) Hint() string { return e.hint }

// Naming adds to an error what failed and with whom, unless it says so already.
func Naming(err error, what, name string) error {
	if err == nil {
		return nil
	}
	for _, told := range []error{ErrEnded, ErrDeaf, swarm.ErrUnsupported} {
		if errors.Is(err, told) {
			return err
		}
	}
	if deliver.Names(err) {
		return err
	}
	return Named(err, what, name)
}

// Named returns an error that says what failed, with whom, and then err.
func Named(err error, what, name string) error {
	return &namedError{error: err, subject: fmt.Sprintf("%s '%s'", what, name)}
}

type namedError struct {
	error
	subject string
}

func (e *namedError) Error() string {
	return e.subject + ": " + Wording(e.error)
}

func (e *namedError) Unwrap() error { return e.error }
