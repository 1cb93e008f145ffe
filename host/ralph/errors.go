package ralph

import (
	"errors"
	"fmt"
)

// The errors of this package.
var (
	// ErrNoState: there is no loop of that name; always a [NoStateError].
	ErrNoState = errors.New("no ralph state")
	// ErrState: the state of a loop can't be read.
	ErrState = errors.New("damaged ralph state")
	// ErrOwned: another process runs the loop.
	ErrOwned = errors.New("the loop runs already")
	// ErrEnded: the loop has come to its end; always an [EndedError].
	ErrEnded = errors.New("the loop has ended")
	// ErrFailed: the loop gave up.
	ErrFailed = errors.New("the loop failed")
	// ErrNoSession: the conversation of the agent is not known.
	ErrNoSession = errors.New("no session")
	// ErrPrompt: the prompt file can't be used.
	ErrPrompt = errors.New("no prompt")
)

// NoStateError names a loop that is not there.
type NoStateError struct{ Name string }

func (e *NoStateError) Error() string {
	return fmt.Sprintf("no ralph state found for worker '%s'", e.Name)
}

// Is makes it an [ErrNoState].
func (e *NoStateError) Is(target error) bool { return target == ErrNoState }

// EndedError says that a loop has ended, and how.
type EndedError struct {
	Name   string
	Status Status
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("ralph loop for '%s' has status '%s'", e.Name, e.Status)
}

// Is makes it an [ErrEnded].
func (e *EndedError) Is(target error) bool { return target == ErrEnded }

type noSessionError struct{ name string }

func (e *noSessionError) Error() string {
	return fmt.Sprintf("the conversation of the agent of '%s' is not known", e.name)
}
func (e *noSessionError) Is(target error) bool { return target == ErrNoSession }

// Hint returns the next step.
func (e *noSessionError) Hint() string {
	return "the hooks that 'swarm integrate' installs tell it; without --continue the agent begins anew"
}

type stateError struct{ name, reason string }

func (e *stateError) Error() string {
	return fmt.Sprintf("corrupt ralph state for '%s': %s", e.name, e.reason)
}
func (e *stateError) Is(target error) bool { return target == ErrState }

type promptError struct {
	text string
	err  error
}

func (e *promptError) Error() string        { return e.text }
func (e *promptError) Unwrap() error        { return e.err }
func (e *promptError) Is(target error) bool { return target == ErrPrompt }
