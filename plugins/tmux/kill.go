package tmux

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

const hangup = "SIGHUP"

// Kill ends the worker: by closing its window, or first with the signal that was
// asked for. The shim carries it out; it gets the order before the window closes,
// so that the end is known to be a kill.
func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	// Without force the worker may survive, and then keeps its window. The window of
	// an ended worker may have become the user's. A caller that does not wait may run
	// in the window: the shim, the only process left in it, takes the last screen then.
	atOnce := o.Signal == "" && o.Force && !o.Detach && !h.hasEnded()
	if o.Signal == "" {
		o.Signal = hangup
	}
	killing, closed, err := b.ask(ctx, h, o, atOnce)
	if err != nil {
		return swarm.KillResult{}, err
	}
	defer killing.Close()
	if o.Detach {
		r, err := killing.Detach(ctx)
		r.Status.Where = h.where(h.Session, h.Name)
		return r, err
	}
	r, err := killing.Result(ctx)
	r.Status.Where = h.where(h.Session, h.Name)
	if err == nil && !closed {
		when := anyway
		if r.AlreadyEnded {
			when = ifDead
		}
		b.close(ctx, h, when)
	}
	return r, err
}

// ask begins a kill, and closes the window if that is to be done at once: the worker is
// then signalled after its screen was kept. It reports whether the window needs no more
// work.
func (b *Backend) ask(ctx context.Context, h handle, o swarm.KillOptions, atOnce bool) (_ *shim.Killing, closed bool, err error) {
	killing, err := shim.Ask(ctx, h.Dir, h.ID, o, atOnce)
	if err != nil || !atOnce || !killing.Accepted() {
		return killing, false, err
	}
	if !b.closeWithScreen(ctx, h, o.Grace/2) {
		// If tmux did not close the window now, it would not close it after the end either.
		killing.GoOn()
	}
	return killing, true, nil
}

func (h handle) hasEnded() bool {
	s, err := shim.Status(h.Dir, h.ID)
	return err == nil && s.State == swarm.StateExited
}
