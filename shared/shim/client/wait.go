package client

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
	for reported := false; ; {
		s, err := Status(dir, id)
		if err != nil || s.State != swarm.StateRunning {
			return s, err
		}
		// The shim has recorded an end before it reports it.
		if reported && sleep.For(ctx, pause) != nil {
			return swarm.Status{}, ctx.Err()
		}
		st, err := readFacts(dir, id)
		if err != nil {
			continue
		}
		err = askToWait(ctx, dir, id)
		if reported = err == nil; reported {
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

// awaitShim returns nil when the shim that wrote st may have ended, and otherwise the
// context's error. In another PID namespace, where the shim's pid has no meaning, it waits
// on the shim's socket. For a shim that exists it does not return immediately twice in a row.
func awaitShim(ctx context.Context, dir string, st rundir.Status) error {
	if keeps(dir, st) {
		return proc.AwaitEnd(ctx, st.Shim)
	}
	err := askToWait(ctx, dir, st.ID)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// The socket of a shim that has ended refuses connections. A shim that closes one without an
	// answer is not asked again immediately.
	if err != nil && listens(dir) && sleep.For(ctx, pause) != nil {
		return ctx.Err()
	}
	return nil
}

// askToWait returns nil once the shim has reported the end of the worker.
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
