package tmux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep closes the sessions that ended workers used, no running worker uses and this
// backend made, unless they hold panes of someone else. A session ends with its last
// window, so Sweep closes the panes that ended workers left open; a worker that starts in
// the session meanwhile keeps it.
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) ([]string, error) {
	type place struct{ socket, session string }
	used := make(map[place]bool)
	for _, raw := range running {
		if h, err := b.handle(raw); err == nil {
			used[place{h.Socket, h.Session}] = true
		}
	}
	left := make(map[place][]handle)
	var order []place
	for _, raw := range ended {
		h, err := b.handle(raw)
		p := place{h.Socket, h.Session}
		// A server that does not answer closes the windows itself once it goes on.
		if err != nil || h.Pane == "" || used[p] || b.closer.isSilent(h.Socket) || b.sights.lately(h.server().name()) {
			continue
		}
		if left[p] == nil {
			order = append(order, p)
		}
		left[p] = append(left[p], h)
	}
	var warnings []string
	listed := make(map[string]*[]pane)
	var looking sync.WaitGroup
	for _, p := range order {
		if listed[p.socket] != nil {
			continue
		}
		panes := new([]pane)
		listed[p.socket] = panes
		looking.Go(func() {
			// The sessions of a server end with it, and one that does not answer keeps them.
			*panes, _ = b.sights.panes(ctx, left[p][0].server())
		})
	}
	looking.Wait()
	for _, p := range order {
		panes := *listed[p.socket]
		if err := ctx.Err(); err != nil {
			return warnings, err
		}
		for _, h := range left[p] {
			// The user has moved it to another session, where it stayed by their settings.
			if slices.ContainsFunc(panes, func(q pane) bool { return q.sessionName != p.session && h.is(q) }) {
				b.close(ctx, h, h.killDeadPane())
			}
		}
		panes = slices.DeleteFunc(slices.Clone(panes), func(q pane) bool { return q.sessionName != p.session })
		if b.sweep(ctx, panes, left[p]) {
			warnings = append(warnings, fmt.Sprintf("tmux session '%s' was kept: it has windows that are not swarm's", p.session))
		}
	}
	return warnings, nil
}

// sweep closes the panes that ended workers left in a session, or reports that someone
// else's windows keep it. A worker that the host does not count as running yet keeps it
// too, without a warning.
func (b *Backend) sweep(ctx context.Context, panes []pane, ended []handle) (kept bool) {
	if len(panes) == 0 || !panes[0].made {
		return false
	}
	var leftovers []handle
	starting := false
	for _, p := range panes {
		i := slices.IndexFunc(ended, func(h handle) bool { return h.ID == p.worker })
		switch {
		case i < 0 && p.worker != "" && ended[0].knows(p.worker):
			starting = true
		case i < 0 || !ended[i].is(p):
			return true
		default:
			leftovers = append(leftovers, ended[i])
		}
	}
	if starting {
		return false
	}
	for _, h := range leftovers {
		b.close(ctx, h, h.killDeadPane())
	}
	return false
}

// knows reports whether a worker has its run directory beside this one's: both then belong
// to the same state directory.
func (h handle) knows(worker string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(h.Dir), worker))
	return err == nil
}
