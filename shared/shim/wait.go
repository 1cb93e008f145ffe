package shim

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Wait returns when the worker no longer runs, with its status then.
func Wait(ctx context.Context, dir, id string) (swarm.Status, error) {
	for {
		s, err := Status(dir, id)
		if err != nil || s.State != swarm.StateRunning {
			return s, err
		}
		st, err := readFacts(dir, id)
		if err != nil {
			continue
		}
		if err := askToWait(ctx, dir, id); err == nil {
			continue
		} else if !errors.Is(err, errNoAnswer) {
			return swarm.Status{}, err
		}
		if err := proc.AwaitEnd(ctx, st.Shim); err != nil {
			return swarm.Status{}, err
		}
	}
}

// askToWait returns nil once the shim said that the worker has ended.
func askToWait(ctx context.Context, dir, id string) error {
	c, err := ask(ctx, dir, rundir.Request{Verb: rundir.VerbWait, ID: id})
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.answer(ctx)
	return err
}
