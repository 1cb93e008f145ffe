package shim

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal sends a signal that is not meant to end the worker, see
// [swarm.Signaller]. Between two starts there is nobody to get it:
// [swarm.ErrUnavailable].
func Signal(ctx context.Context, dir, id string, o swarm.SignalOptions) error {
	signal, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return err
	}
	_, err = request(ctx, dir, rundir.Request{
		Verb:     rundir.VerbSignal,
		ID:       id,
		Signal:   signal,
		MainOnly: o.Mode == swarm.KillMain,
	}, nil)
	return err
}

// request asks the shim of a worker for something that only a running one can do,
// and returns the one answer. data follows the request.
func request(ctx context.Context, dir string, r rundir.Request, data []byte) (rundir.Answer, error) {
	a, err := exchange(ctx, dir, r, data)
	if err == nil && a.Kind != rundir.AnswerEnded {
		return a, nil
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, swarm.ErrStaleHandle)) {
		return a, err
	}
	if err == nil || hasEnded(dir, r.ID) {
		return a, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	if errors.Is(err, errNoAnswer) {
		err = fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	return a, err
}

func exchange(ctx context.Context, dir string, r rundir.Request, data []byte) (rundir.Answer, error) {
	// A shim that is stopped takes nobody out of its queue.
	defer keepAwake(dir, r.ID)()
	c, err := openCall(ctx, dir, r)
	if err != nil {
		return rundir.Answer{}, err
	}
	defer c.close()
	// One that does not take all of it has an answer to say why.
	_, _ = c.conn.Write(data)
	return c.answer(ctx)
}

// hasEnded says whether nothing can be asked of the worker any more.
func hasEnded(dir, id string) bool {
	s, err := Status(dir, id)
	return err == nil && s.State != swarm.StateRunning
}
