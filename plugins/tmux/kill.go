package tmux

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// hangup is the gentle way to end a worker: what a terminal sends when it closes.
const hangup = "SIGHUP"

// closeLimit is how long tmux may take to close a window.
const closeLimit = 5 * time.Second

// Kill ends the worker: by closing its window, or first with the signal that was
// asked for. The shim carries it out; it gets the order before the window closes,
// so that the end is known to be a kill.
func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	// Without force the worker may stay, and then keeps its window. That of one
	// that has ended may have become the user's.
	atOnce := o.Signal == "" && o.Force && !h.hasEnded()
	if o.Signal == "" {
		o.Signal = hangup
	}
	ask := shim.Ask
	if atOnce {
		ask = shim.AskClosing
	}
	killing, err := ask(ctx, h.Dir, h.ID, o)
	if err != nil {
		return swarm.KillResult{}, err
	}
	defer killing.Close()
	closed := atOnce && killing.Accepted() && b.close(ctx, h, withScreen)
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

func (h handle) hasEnded() bool {
	s, err := shim.Status(h.Dir, h.ID)
	return err == nil && s.State == swarm.StateExited
}

// closing says what of a window to close.
type closing int

const (
	// anyway closes the worker's window with all that is in it.
	anyway closing = iota
	// withScreen is anyway, and keeps what the worker's pane showed.
	withScreen
	// ifDead closes the worker's own pane if its process has ended: others in the
	// window are the user's, who saw the worker end before.
	ifDead
)

// close closes the window if it is the worker's, and says whether that is done.
// tmux checks and closes in one go, so that no other window can get the id.
func (b *Backend) close(ctx context.Context, h handle, what closing) bool {
	if h.Window == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	commands := [][]string{h.ifOurs([]string{"kill-window", "-t", h.Window})}
	switch what {
	case anyway:
	case withScreen:
		// Before the window goes, in the same go. Whatever comes of it, the window
		// goes.
		commands = append([][]string{h.ifOurs(captureAll(h.ID, "-t", h.Pane)...)}, commands...)
	case ifDead:
		dead := "#{&&:" + h.ours() + ",#{pane_dead}}"
		commands = [][]string{{"if-shell", "-F", "-t", h.Pane, dead, "kill-pane -t " + h.Pane}}
	}
	out, err := h.server().run(ctx, commands...)
	if what == withScreen {
		if err := h.keep(out); err != nil {
			b.log.Debug("last screen was not kept", "worker", h.ID, "error", err)
		}
	}
	if err != nil {
		// A server that is gone, most often: its windows went with it.
		b.log.Debug("window was not closed", "worker", h.ID, "error", err)
		return false
	}
	return true
}
