package shim

import (
	"context"
	"errors"
	"fmt"

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
		if err := awaitEnd(ctx, st.Shim); err != nil {
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

// Signal sends a signal, by its full name, to the main process of the worker.
func Signal(ctx context.Context, dir, signal string) error {
	signal, err := swarm.ParseSignal(signal)
	if err != nil {
		return err
	}
	c, err := ask(ctx, dir, rundir.Request{Verb: rundir.VerbSignal, Signal: signal, MainOnly: true})
	if err == nil {
		defer c.close()
		_, err = c.answer(ctx)
	}
	if err != nil && ctx.Err() == nil && ended(dir) {
		return fmt.Errorf("%w: the worker's process has ended", swarm.ErrNotFound)
	}
	return err
}

// ended says whether there is no main process to signal.
func ended(dir string) bool {
	st, err := readRecord(dir)
	return err != nil || st.EndedNS != 0 || !st.Main.Alive()
}
