package ralph

import (
	"errors"
	"fmt"
)

var (
	// ErrNoState: there is no loop of that name, see [NoState].
	ErrNoState = errors.New("no ralph state")
	// ErrState: the state of a loop can't be read.
	ErrState = errors.New("damaged ralph state")
	// ErrOwned: another process runs the loop.
	ErrOwned = errors.New("the loop runs already")
	// ErrEnded: the loop has come to its end, see [Ended].
	ErrEnded = errors.New("the loop has ended")
	// ErrFailed: the loop gave up.
	ErrFailed = errors.New("the loop failed")
	// ErrPrompt: the prompt file can't be used.
	ErrPrompt = errors.New("no prompt")
)

// failure is an error of one of these kinds, whose text is all of it.
type failure struct {
	kind  error
	text  string
	cause error // may be nil
}

func (e *failure) Error() string        { return e.text }
func (e *failure) Is(target error) bool { return target == e.kind }
func (e *failure) Unwrap() error        { return e.cause }

// NoState returns an [ErrNoState] that names the loop.
func NoState(name string) error {
	return &failure{kind: ErrNoState, text: fmt.Sprintf("no ralph state found for worker '%s'", name)}
}

// Ended returns an [ErrEnded] that names the loop and says how it ended.
func Ended(name string, status Status) error {
	return &failure{kind: ErrEnded, text: fmt.Sprintf("ralph loop for '%s' has status '%s'", name, status)}
}

// noSessionError says that the conversation of a loop's agent is not known.
type noSessionError struct{ name string }

func (e *noSessionError) Error() string {
	return fmt.Sprintf("the conversation of the agent of '%s' is not known", e.name)
}

func (*noSessionError) Hint() string {
	return "the hooks that 'swarm integrate' installs report it; without --continue the agent begins anew"
}
