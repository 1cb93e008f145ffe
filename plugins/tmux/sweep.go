package tmux

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Sweep closes the sessions that ended workers used, no running worker uses and this
// backend made, unless they hold other panes. A session ends with its last
// window, so Sweep closes the panes that ended workers left open; a worker that starts in
// the session meanwhile keeps it.
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) ([]string, error) {
	type place struct{ socket, session string }
	used := make(map[place]bool)
	for _, raw := range running {
		if h, err := b.handle(ctx, raw); err == nil {
			used[place{h.Socket, h.Session}] = true
		}
	}
	left := make(map[place][]handle)
	var order []place
	asked, silent := make(map[string]server), make(map[string]server) // by name
	for _, raw := range ended {
		h, err := b.handle(ctx, raw)
		p := place{h.Socket, h.Session}
		switch {
		case err != nil || h.Pane == "":
			continue
		case b.queries.lately(h.server()):
			silent[h.server().name()] = h.server()
			continue
		case used[p]:
			if b.queries.isWaiting(h.server()) {
				asked[h.server().name()] = h.server() // it has not closed the window yet
			}
			continue
		}
		if left[p] == nil {
			order = append(order, p)
			asked[h.server().name()] = h.server()
		}
		left[p] = append(left[p], h)
	}
	listed := make(map[string][]pane) // by the socket of the server
	var mu sync.Mutex
	var looking sync.WaitGroup
	for name, srv := range asked {
		looking.Go(func() {
			// The sessions of a server end with it.
			panes, err := b.queries.panes(ctx, srv)
			mu.Lock()
			defer mu.Unlock()
			listed[srv.socket] = panes
			if errors.Is(err, errSilent) {
				silent[name] = srv
			}
		})
	}
	looking.Wait()
	warnings := silentWarnings(silent)
	for _, p := range order {
		panes := listed[p.socket]
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

// silentWarnings says of each server that does not answer what becomes of the windows in it.
func silentWarnings(servers map[string]server) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		lines = append(lines, fmt.Sprintf("%s does not answer: it closes the windows of the workers that have ended once it continues", servers[name]))
	}
	return lines
}

// sweep closes the panes that ended workers left in a session, or reports that other
// windows keep it. A worker that the host does not count as running yet keeps it
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

// knows reports whether a worker has its run directory next to this one's: both then belong
// to the same state directory.
func (h handle) knows(worker string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(h.Dir), worker))
	return err == nil
}
