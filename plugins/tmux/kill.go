package tmux

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

const hangup = "SIGHUP"

// Kill ends the worker: by closing its pane, or first with the signal that was
// asked for. The shim carries it out; it gets the order before the pane closes,
// so that the end is known to be a kill.
func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h, err := b.handle(ctx, raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	// Without force the worker may survive, and then keeps its pane. The pane of
	// an ended worker may have become the user's. A caller that does not wait may run
	// in the pane: the shim, the only process left in it, takes the last screen then.
	atOnce := o.Signal == "" && o.Force && !o.Detach && !h.hasEnded()
	if o.Signal == "" {
		o.Signal = hangup
	}
	killing, err := client.Ask(ctx, h.Dir, h.ID, o, atOnce)
	if err != nil {
		return swarm.KillResult{}, err
	}
	defer killing.Close()
	closed := atOnce && killing.Accepted()
	// The worker is signalled once its screen was kept and its pane is closed.
	if closed && !b.closeWithScreen(ctx, h, o.Grace/2) {
		// If tmux did not close the pane now, it would not close it after the end either.
		killing.Continue()
	}
	if o.Signal == "SIGKILL" && h.Pane != "" && !o.Detach {
		// The worker ends now. Meanwhile, ask whether the server answers.
		asked := b.queries.of(ctx, h)
		defer func() { <-asked.done }()
	}
	if o.Detach {
		r, err := killing.Detach(ctx)
		r.Status.Where = h.where(h.Session, h.Name)
		return r, err
	}
	r, err := killing.Result(ctx)
	r.Status.Where = h.where(h.Session, h.Name)
	switch {
	case err != nil || closed:
	case r.AlreadyEnded:
		b.close(ctx, h, h.killDeadPane())
	default:
		b.close(ctx, h, h.killPane())
	}
	return r, err
}

func (h handle) hasEnded() bool {
	s, err := client.Status(h.Dir, h.ID)
	return err == nil && s.State == swarm.StateExited
}
