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

// Errorf returns an error with the formatted text alone that is an instance of sentinel, and of
// what sentinel is an instance of itself.
func Errorf(sentinel error, format string, args ...any) error {
	return &sentinelError{sentinel, fmt.Sprintf(format, args...)}
}

type sentinelError struct {
	sentinel error
	text     string
}

func (e *sentinelError) Error() string        { return e.text }
func (e *sentinelError) Is(target error) bool { return errors.Is(e.sentinel, target) }

// Hinted returns an error with a hint, which says in a second line what to do next.
func Hinted(text, hint string) error { return WithHint(errors.New(text), hint) }

// WithHint adds a hint to an error.
func WithHint(err error, hint string) error { return &hintedError{err, hint} }

type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

func (e *hintedError) Hint() string { return e.hint }

// Exists returns an [ErrExists] that names the worker.
func Exists(name string) error {
	return &hintedError{
		Errorf(ErrExists, "worker '%s' already exists", name),
		fmt.Sprintf("start it again with 'swarm respawn %[1]s', or free the name with 'swarm kill %[1]s' and 'swarm clean %[1]s'", name),
	}
}

// NotRunning returns an [ErrEnded] that names the worker.
func NotRunning(name string) error {
	return &hintedError{
		Errorf(ErrEnded, "worker '%s' is not running", name),
		fmt.Sprintf("see how it ended with 'swarm status %[1]s' and what it wrote with 'swarm logs %[1]s'; start it again with 'swarm respawn %[1]s'", name),
	}
}

// StillRunning returns an [ErrRunning] of a worker that can't be cleaned, which it names.
func StillRunning(name string) error {
	return &hintedError{
		Errorf(ErrRunning, "cannot clean running worker '%s'", name),
		fmt.Sprintf("end it first with 'swarm kill %s'", name),
	}
}

// Deaf returns an [ErrDeaf] that names the worker; terminal says that one can be had where
// it runs.
func Deaf(name string, terminal bool) error {
	ways := "--stdin"
	if terminal {
		ways += ", or with --tmux in a terminal,"
	}
	return &hintedError{
		Errorf(ErrDeaf, "worker '%s' has no input to send to: it was spawned without --stdin", name),
		fmt.Sprintf("spawn it again with %[2]s after 'swarm kill %[1]s' and 'swarm clean %[1]s'", name, ways),
	}
}

// Unsupported returns a [swarm.ErrUnsupported] for a backend that lacks a capability.
// name is the name of the worker, or empty if no worker exists yet.
func Unsupported(backend string, missing swarm.Capability, name string) error {
	err := &hintedError{error: Errorf(swarm.ErrUnsupported, "backend '%s' does not support %s", backend, missing)}
	switch {
	case name == "":
	case missing == swarm.CapAttach:
		err.hint = fmt.Sprintf("'%[1]s' has no window of its own; follow what it writes with 'swarm logs %[1]s --follow'", name)
	case missing == swarm.CapResize:
		err.hint = fmt.Sprintf("'%[1]s' is on no terminal; spawn it with --tmux to give it one", name)
	case missing == swarm.CapExec || missing == swarm.CapCopy:
		err.hint = fmt.Sprintf("see where '%[1]s' runs with 'swarm show %[1]s'", name)
	case missing == swarm.CapForward:
		err.hint = fmt.Sprintf("if '%s' runs in the network of this machine, as workers of process and tmux do, connect to its port at localhost", name)
	case missing == swarm.CapInput || missing == swarm.CapSignal:
		err.hint = fmt.Sprintf("see what '%[1]s' does with 'swarm status %[1]s', or end it with 'swarm kill %[1]s'", name)
	}
	return err
}

// UnsupportedByPlugin returns a [swarm.ErrUnsupported] for a plugin that makes workspaces and lacks a
// capability.
func UnsupportedByPlugin(plugin string, missing swarm.Capability) error {
	return Errorf(swarm.ErrUnsupported, "plugin '%s' does not support %s", plugin, missing)
}

// Invalid is [Errorf] for [swarm.ErrInvalidSpec].
func Invalid(format string, args ...any) error {
	return Errorf(swarm.ErrInvalidSpec, format, args...)
}

// Wording returns the text of an error without the sentinels that say no more than the
// text after them.
func Wording(err error) string {
	return errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable)
}

// WithName adds to an error what failed and with whom, unless it says so already.
func WithName(err error, what, name string) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrEnded, ErrDeaf, swarm.ErrUnsupported} {
		if errors.Is(err, known) {
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
