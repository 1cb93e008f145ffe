package shim

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// wait returns when the worker no longer runs, with its status then.
func wait(ctx context.Context, dir, id string) (swarm.Status, error) {
	for told := false; ; {
		s, err := Status(dir, id)
		if err != nil || s.State != swarm.StateRunning {
			return s, err
		}
		// A shim tells of an end that it has written down.
		if told && sleep.For(ctx, pause) != nil {
			return swarm.Status{}, ctx.Err()
		}
		st, err := readFacts(dir, id)
		if err != nil {
			continue
		}
		err = askToWait(ctx, dir, id)
		if told = err == nil; told {
			continue
		}
		if !errors.Is(err, errNoAnswer) {
			return swarm.Status{}, err
		}
		if err := awaitShim(ctx, dir, st); err != nil {
			return swarm.Status{}, err
		}
	}
}

// awaitShim returns nil when the shim that wrote st may have left, and otherwise the
// context's error. In another PID namespace it waits on the shim's socket, since the
// shim's pid says nothing there. It never returns at once, twice in a row, for a shim
// that is there.
func awaitShim(ctx context.Context, dir string, st rundir.Status) error {
	if keeps(dir, st) {
		return proc.AwaitEnd(ctx, st.Shim)
	}
	err := askToWait(ctx, dir, st.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// One that left its socket behind refuses; one that closes a connection
	// without an answer is not asked again at once.
	if err != nil && listens(dir) && sleep.For(ctx, pause) != nil {
		return ctx.Err()
	}
	return nil
}

// askToWait returns nil once the shim said that the worker has ended.
func askToWait(ctx context.Context, dir, id string) error {
	c, err := openCall(ctx, dir, rundir.Request{Verb: rundir.VerbWatch, ID: id})
	if err != nil {
		return err
	}
	defer c.close()
	for {
		if a, err := c.answer(ctx); err != nil || a.Kind == rundir.AnswerEnded {
			return err
		}
	}
}
