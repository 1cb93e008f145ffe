package set

import (
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ErrForeign says that a worker of a declared name is not of the project.
var ErrForeign = errors.New("not of this project")

// UndeclaredError names a worker that is not in the set.
type UndeclaredError struct{ Name, Project string }

func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("worker '%s' is not declared in %s", e.Name, e.Project)
}

// startError names a worker that could not be started.
type startError struct {
	name string
	err  error
}

func (e *startError) Error() string {
	// The sentinel says no more than what is said here.
	return fmt.Sprintf("cannot start '%s': %s", e.name, errtext.Without(e.err, swarm.ErrInvalidSpec))
}
func (e *startError) Unwrap() error { return e.err }
