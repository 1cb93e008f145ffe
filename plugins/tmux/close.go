package tmux

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// closeLimit is how long a server that answers may take until it closes the panes of a kill,
// since it closes those of other kills, too.
const closeLimit = 5 * time.Second

// leastLimit is the shortest limit, however short a grace is.
const leastLimit = 200 * time.Millisecond

// killPane returns the command that closes the worker's own pane, and with the last pane its
// window: other panes in the window belong to the user, or to other workers. tmux checks whose
// pane it is and closes it in one go, so that no other pane can get the id.
func (h handle) killPane() []string { return h.ifOurs([]string{"kill-pane", "-t", h.Pane}) }

// killDeadPane is like killPane if the process of the pane has ended: the user saw the worker
// end before.
func (h handle) killDeadPane() []string {
	dead := "#{&&:" + h.ours() + ",#{pane_dead}}"
	return []string{"if-shell", "-F", "-t", h.Pane, dead, "kill-pane -t " + h.Pane}
}

// close runs a command that closes the worker's pane.
func (b *Backend) close(ctx context.Context, h handle, command []string) {
	if h.Pane == "" {
		return
	}
	if _, err := b.queries.ask(ctx, h.server(), command); err != nil {
		// Usually the server is gone, and its windows with it.
		b.log.Debug("pane was not closed", "worker", h.ID, "error", err)
	}
}

// closeWithScreen closes the worker's pane and keeps its content, in one
// command. It reports whether that is done within about the limit, which counts towards the
// worker's grace.
func (b *Backend) closeWithScreen(ctx context.Context, h handle, limit time.Duration) bool {
	if h.Pane == "" {
		return false
	}
	bounded, cancel := context.WithTimeout(ctx, max(leastLimit, min(limit, closeLimit)))
	defer cancel()
	if err := b.closer.close(bounded, &b.queries.silences, h, b.log); err != nil {
		b.log.Debug("pane was not closed", "worker", h.ID, "error", err)
		return false
	}
	return true
}

// closer closes panes of workers. While one command of tmux is under way, further calls
// wait for the next one, which serves all of them: a process for each would cost too much.
type closer struct {
	mu sync.Mutex
	// waiting are the calls for the next command, by socket. A server has an entry while a
	// command is under way.
	waiting map[string][]*closed
}

type closed struct {
	handle
	log  *slog.Logger
	done chan struct{} // closed when the screen was kept and err is set
	err  error
}

// close closes the worker's pane and keeps its screen. Both happen even if ctx ends meanwhile:
// nothing but what tmux prints then has the screen.
func (c *closer) close(ctx context.Context, servers *silences, h handle, log *slog.Logger) error {
	w := &closed{handle: h, log: log, done: make(chan struct{})}
	c.mu.Lock()
	if _, underWay := c.waiting[h.Socket]; !underWay {
		go c.closeAll(ctx, servers, h.Socket) // ends when no call waits any more
	}
	c.waiting[h.Socket] = append(c.waiting[h.Socket], w)
	c.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// closeAll closes panes until no call waits.
func (c *closer) closeAll(ctx context.Context, servers *silences, socket string) {
	for {
		panes, commands := c.next(socket)
		if len(panes) == 0 {
			return
		}
		closePanes(ctx, servers, panes, commands)
	}
}

// next takes as many waiting calls as fit into one command, and returns the commands that
// close their panes. Without a waiting call, it records that nothing is under way.
func (c *closer) next(socket string) (panes []*closed, commands [][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := c.waiting[socket]
	if len(waiting) == 0 {
		delete(c.waiting, socket)
		return nil, nil
	}
	n, commands := firstFit(len(waiting), func(i int) [][]string { return waiting[i].commands() })
	c.waiting[socket] = waiting[n:]
	return waiting[:n], commands
}

func closePanes(ctx context.Context, servers *silences, panes []*closed, commands [][]string) {
	// Other calls wait for it, too.
	out, err := servers.run(context.WithoutCancel(ctx), panes[0].server(), closeLimit, commands...)
	for _, w := range panes {
		screen, rest, ok := strings.Cut(out, w.end()+"\n")
		switch {
		case ok:
			out = rest
			if err := w.keep(screen); err != nil {
				w.log.Debug("last screen was not kept", "worker", w.ID, "error", err)
			}
		case err != nil:
			w.err = err
		default:
			w.err = fmt.Errorf("%w: tmux did not confirm that it closes the pane", swarm.ErrUnavailable)
		}
		close(w.done)
	}
}

// commands captures the screen and then closes the pane, even if the capture fails.
func (w *closed) commands() [][]string {
	return [][]string{
		w.ifOurs(captureAll(w.ID, w.Pane)...),
		{"display-message", "-p", w.end()},
		w.killPane(),
	}
}

// end follows the screen of a worker.
func (w *closed) end() string { return "swarm: that was all of " + w.ID }
