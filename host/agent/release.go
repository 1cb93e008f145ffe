package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// errMoved says that an agent has another process than the one that was ended: it
// was started again meanwhile.
var errMoved = errors.New("the agent was started again meanwhile")

// release terminates an agent whose process, that of a, was ended: [errMoved] if it
// has another one now.
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

// isOver reports whether an error says that an agent has been terminated before.
func isOver(err error) bool {
	_, over := errors.AsType[*team.TerminatedError](err)
	return over
}

// isSettled reports whether an error of [release] says that there is nothing left to
// release with the end of a process.
func isSettled(err error) bool {
	_, dissolved := errors.AsType[*team.NoTeamError](err)
	return dissolved || isOver(err) || errors.Is(err, errMoved)
}

// isUnwritable reports whether an error says that nothing can be recorded.
func isUnwritable(err error) bool {
	return errors.Is(err, registry.ErrReadOnly) || errors.Is(err, registry.ErrFull)
}
