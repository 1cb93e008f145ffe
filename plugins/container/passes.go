package container

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// passPause is between two looks at a log that is being written. A look at a long log takes
// longer, and so does the pause then.
const passPause = 50 * time.Millisecond

// passes follows a log of Podman. Podman loses lines when it follows one: it jumps to the
// end of the log whenever it has read half of a line. So the log is read again each time
// when something was written, and followed only to know when.
func (out *output) passes(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := make(chan struct{}, 1)
	broken := make(chan struct{})
	follow := func() {
		over := broken
		go func() {
			defer close(over)
			out.e.wake(ctx, out.r, written)
		}()
	}
	follow()
	defer func() { cancel(); <-broken }()
	var held *swarm.Output
	var failing time.Time
	for {
		begun := time.Now()
		var err error
		if held, err = out.pass(ctx, held); out.over || err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			return err
		}
		pause := max(passPause, 4*time.Since(begun))
		var again <-chan time.Time
		if held != nil || err != nil {
			again = time.After(2 * pause)
		}
		select {
		case <-written:
		case <-again:
		case <-broken:
			// The worker has ended, or the engine has.
			switch st, err := out.e.status(ctx, out.r); {
			case err == nil && isFinal(st):
				return out.read(ctx, false, out.take)
			case err == nil:
				failing = time.Time{}
			case !errors.Is(err, swarm.ErrUnavailable):
				return err
			case failing.IsZero():
				failing = time.Now()
			case time.Since(failing) > outage:
				return err
			}
			pause = max(pause, retryEvery)
			broken = make(chan struct{})
			follow()
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := sleep.For(ctx, pause); err != nil {
			return err
		}
	}
}

// pass takes what was written since the last pass. The last piece may be half of a line that
// is being written: it is taken once it was the last one twice. Until then it is held.
func (out *output) pass(ctx context.Context, held *swarm.Output) (*swarm.Output, error) {
	var last *swarm.Output
	err := out.read(ctx, false, func(piece swarm.Output) error {
		if last != nil {
			if err := out.take(*last); err != nil {
				return err
			}
		}
		last = &piece
		return nil
	})
	if err != nil || last == nil || held == nil || !bytes.Equal(held.Data, last.Data) || !held.Time.Equal(last.Time) {
		return last, err
	}
	err = out.take(*last)
	if s, ok := errors.AsType[stopped](err); ok {
		out.over = true
		return nil, s.error
	}
	return nil, err
}

func (e *engine) wake(ctx context.Context, r ref, written chan<- struct{}) {
	request := logsOptions(r, readOptions{tail: "0", follow: true})
	body, err := e.ContainerLogs(ctx, r.Container, request)
	if err != nil {
		return
	}
	defer func() { _ = body.Close() }()
	buf := make([]byte, 32<<10)
	for err == nil {
		wake.Up(written) // at first for what was written meanwhile
		_, err = body.Read(buf)
	}
}
