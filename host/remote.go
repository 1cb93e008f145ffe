package host

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/worker"
)

// sendAway makes a plan fit for a backend that is not local, or refuses what needs
// this machine: its directories, or the state that is kept on it.
func (p *plan) sendAway() error {
	if p.owner.Local {
		return nil
	}
	rec := &p.rec
	refuse := func(why string) error {
		return worker.Invalid(fmt.Sprintf("backend '%s' does not run its workers on this machine: %s", rec.Backend, why))
	}
	switch {
	case rec.Ask != nil:
		return refuse("they can't be in a " + rec.Ask.Plugin)
	case rec.Ralph:
		return refuse("a loop has to run here; what it runs may start workers there")
	case rec.Agent != "":
		return refuse("an agent has to run here, where its team is kept")
	}
	if !p.dirGiven {
		rec.Dir = ""
	}
	return nil
}

// RunsHere reports whether a backend runs its workers on this machine.
func (h *Host) RunsHere(ctx context.Context, name string) (here bool, err error) {
	e, err := h.catalog.Find(name)
	if err != nil {
		return false, err
	}
	err = h.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
		here = p.Local
		return nil
	})
	return here, err
}
