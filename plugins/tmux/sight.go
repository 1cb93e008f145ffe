package tmux

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// sights are the running queries of tmux servers. Calls that need the windows of a server
// while another call waits for them share the answer: a host asks for many workers in
// concurrent calls, and each query lists all windows of a server.
type sights struct {
	log hclog.Logger
	silences

	looking  sync.Mutex
	underWay map[string]*sight // by socket
	// opened is when the windows of new workers were opened, by worker.
	opened map[string]time.Time
}

// justNow is how long tmux is not asked again where a window is that it has just opened.
const justNow = 500 * time.Millisecond

// justOpened notes that tmux has opened the window of a worker where the handle says. A host
// asks for the status of a new worker at once, and need not wait for a second call of tmux.
func (s *sights) justOpened(id string) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.opened == nil {
		s.opened = make(map[string]time.Time)
	}
	maps.DeleteFunc(s.opened, func(_ string, at time.Time) bool { return time.Since(at) > justNow })
	s.opened[id] = time.Now()
}

// wasJustOpened reports, once for each worker, whether its handle says where its window
// is now.
func (s *sights) wasJustOpened(id string) bool {
	s.looking.Lock()
	defer s.looking.Unlock()
	at, ok := s.opened[id]
	delete(s.opened, id)
	return ok && time.Since(at) <= justNow
}

// sight holds the windows of one server. It is empty if the server can't be asked; only
// people need the windows, so that is not an error.
type sight struct {
	done chan struct{} // closed when the others are set
	// panes are the panes of the server, by id.
	panes map[string]pane
	// whole says that the list is complete: the server answered, or is gone.
	whole bool
}

// of returns the running query of a worker's server, or starts one. It does not wait for
// the answer.
func (s *sights) of(ctx context.Context, h handle) *sight {
	s.looking.Lock()
	defer s.looking.Unlock()
	if v, ok := s.underWay[h.Socket]; ok {
		return v
	}
	v := &sight{done: make(chan struct{})}
	if s.underWay == nil {
		s.underWay = make(map[string]*sight)
	}
	s.underWay[h.Socket] = v
	go s.look(ctx, h, v) // ends soon, and calls that need it wait for it
	return v
}

func (s *sights) look(ctx context.Context, h handle, v *sight) {
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
// known to be gone, and otherwise the place at the start of the worker. The sight may be
// nil.
func (v *sight) where(ctx context.Context, h handle) swarm.Where {
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
