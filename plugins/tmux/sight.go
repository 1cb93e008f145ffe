package tmux

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// sights are the queries of tmux servers that are under way. Calls that ask where
// windows are while another one waits for the answer share it: a host
// asks after a crowd in many calls at the same time, and each look is at all
// windows of a server.
type sights struct {
	log hclog.Logger

	mu       sync.Mutex
	underWay map[string]*sight // by socket
}

// sight is where the windows of one server are. A server that can't be asked does
// not know: that is for people to see, and not worth an error.
type sight struct {
	done chan struct{} // closed when the others are set
	// panes are one of each worker's window, by worker.
	panes map[string]pane
	// whole says that there is no other window: the server told all, or is gone.
	whole bool
}

// of returns the look at the server of a worker that is under way, or begins one.
// It does not wait for it.
func (s *sights) of(ctx context.Context, h handle) *sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.underWay[h.Socket]; ok {
		return v
	}
	v := &sight{done: make(chan struct{})}
	if s.underWay == nil {
		s.underWay = make(map[string]*sight)
	}
	s.underWay[h.Socket] = v
	go s.look(ctx, h, v) // ends soon, and whoever needs it waits for it
	return v
}

func (s *sights) look(ctx context.Context, h handle, v *sight) {
	// Others wait for it, too.
	ctx, cancel := limited(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	panes, err := h.server().panes(ctx)
	if err != nil {
		s.log.Debug("tmux can't be asked where windows are", "worker", h.ID, "error", err)
	}
	v.whole = err == nil || isGone(ctx, h.Socket)
	v.panes = make(map[string]pane, len(panes))
	for _, p := range panes {
		v.panes[p.worker] = p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, h.Socket)
	close(v.done)
}

// isGone reports whether no server listens on a socket.
func isGone(ctx context.Context, socket string) bool {
	c, err := (&net.Dialer{Timeout: lookLimit}).DialContext(ctx, "unix", socket)
	if err == nil {
		_ = c.Close() // nothing was asked
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}

// where says where the window of a worker that runs is now, and that there is none
// if that is known; else where it was when the worker was started. Nobody may have
// looked.
func (v *sight) where(ctx context.Context, h handle) swarm.Where {
	if h.Window == "" {
		return h.noWindow()
	}
	if v != nil {
		select {
		case <-v.done:
			p, ok := v.panes[h.ID]
			switch {
			case ok && p.window == h.Window:
				return h.where(p.sessionName, p.windowName)
			case !ok && v.whole:
				return h.noWindow()
			}
		case <-ctx.Done():
		}
	}
	return h.where(h.Session, h.Name)
}
