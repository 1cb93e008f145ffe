package tmux

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// queries holds the running queries of tmux servers. Calls that need the windows of a server
// while another call waits for them share the answer: a host asks for many workers in
// concurrent calls, and each query lists all windows of a server.
type queries struct {
	log *slog.Logger
	silences

	looking  sync.Mutex
	underWay map[string]*query // by socket
	// opened is when the windows of new workers were opened, by worker.
	opened map[string]time.Time
}

func newQueries(log *slog.Logger) queries {
	return queries{
		log: log, underWay: make(map[string]*query), opened: make(map[string]time.Time),
	}
}

// justNow is for how long the place of a window is known after tmux has opened it.
const justNow = 500 * time.Millisecond

// justOpened notes that tmux has opened the window of a worker where the handle says. A host
// asks for the status of a new worker at once, and need not wait for a second call of tmux.
func (s *queries) justOpened(id string) {
	s.looking.Lock()
	defer s.looking.Unlock()
	maps.DeleteFunc(s.opened, func(_ string, at time.Time) bool { return time.Since(at) > justNow })
	s.opened[id] = time.Now()
}

// wasJustOpened reports, once for each worker, whether its handle says where its window
// is now.
func (s *queries) wasJustOpened(id string) bool {
	s.looking.Lock()
	defer s.looking.Unlock()
	at, ok := s.opened[id]
	delete(s.opened, id)
	return ok && time.Since(at) <= justNow
}

// query asks one server for its windows. Its answer is empty if the server can't be asked; only
// people need the windows, so that is not an error.
type query struct {
	done chan struct{} // closed when the others are set
	// panes are the panes of the server, by id.
	panes map[string]pane
	// whole says that the list is complete: the server answered, or is gone.
	whole bool
}

// of returns the running query of a worker's server, or starts one. It does not wait for
// the answer.
func (s *queries) of(ctx context.Context, h handle) *query {
	s.looking.Lock()
	defer s.looking.Unlock()
	if v, ok := s.underWay[h.Socket]; ok {
		return v
	}
	v := &query{done: make(chan struct{})}
	s.underWay[h.Socket] = v
	go s.look(ctx, h, v) // ends soon, and calls that need it wait for it
	return v
}

func (s *queries) look(ctx context.Context, h handle, v *query) {
	// Other calls wait for it, too.
	ctx = context.WithoutCancel(ctx)
	panes, err := s.panes(ctx, h.server())
	if err != nil {
		s.log.Debug("tmux can't be asked where windows are", "worker", h.ID, "error", err)
	}
	v.whole = err == nil || isGone(ctx, h.Socket)
	v.panes = make(map[string]pane, len(panes))
	for _, p := range panes {
		v.panes[p.id] = p
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	delete(s.underWay, h.Socket)
	close(v.done)
}

// dialLimit is short: the kernel accepts connections, or refuses them, for a server at once.
const dialLimit = 200 * time.Millisecond

func isGone(ctx context.Context, socket string) bool {
	c, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "unix", socket)
	if err == nil {
		_ = c.Close() // nothing was asked
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// where returns the current place of a running worker's window, noWindow if the window is
// known to be gone, and otherwise the place at the start of the worker. The query may be
// nil.
func (v *query) where(ctx context.Context, h handle) swarm.Where {
	if h.Window == "" {
		return h.noWindow()
	}
	if v != nil {
		select {
		case <-v.done:
			switch p := v.panes[h.Pane]; {
			case h.is(p):
				return h.where(p.sessionName, p.windowName)
			case v.whole:
				return h.noWindow()
			}
		case <-ctx.Done():
		}
	}
	return h.where(h.Session, h.Name)
}
