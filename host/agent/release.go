package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// errMoved says that the agent was started again meanwhile, and now has another process
// than the ended one.
var errMoved = errors.New("the agent was started again meanwhile")

// release terminates an agent after the end of its process, which a names. The error is
// [errMoved] if the agent has another process now.
func release(ctx context.Context, tx *registry.Tx, a *registry.Agent, l team.Leaving, now time.Time) (team.Released, error) {
	current, err := tx.Agent(ctx, a.ID)
	if errors.Is(err, registry.ErrNotFound) {
		err = &team.NoTeamError{Team: a.Team} // no agent goes but with its team
	}
	if err == nil && current.Status != team.Terminated && current.WorkerID != a.WorkerID {
		err = errMoved
	}
	if err != nil {
		return team.Released{}, err
	}
	return team.Release(ctx, tx, a.ID, l, now)
}

// isOver reports whether an error says that the agent was already terminated.
func isOver(err error) bool {
	_, over := errors.AsType[*team.TerminatedError](err)
	return over
}

// isSettled reports whether an error of [release] means that nothing is left to be
// released.
func isSettled(err error) bool {
	_, dissolved := errors.AsType[*team.NoTeamError](err)
	return dissolved || isOver(err) || errors.Is(err, errMoved)
}

// isUnwritable reports whether an error says that the database can't be written.
func isUnwritable(err error) bool {
	return errors.Is(err, registry.ErrReadOnly) || errors.Is(err, registry.ErrFull)
}
