package tmux

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns how to show the worker's window in a terminal, also in one that
// shows another window of the same server.
func (b *Backend) Attach(ctx context.Context, raw swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	h, err := decode(raw)
	if err != nil {
		return swarm.Attachment{}, err
	}
	st, err := shim.Status(h.Dir, h.ID)
	if err != nil {
		return swarm.Attachment{}, err
	}
	if st.State != swarm.StateRunning {
		return swarm.Attachment{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	p, err := h.place(ctx)
	if err != nil {
		return swarm.Attachment{}, err
	}
	verb := "attach-session"
	inside := insideOf(o.Env)
	switch {
	case inside == "":
	case sameSocket(inside, h.Socket):
		verb = "switch-client"
	default:
		return swarm.Attachment{}, fmt.Errorf("%w: this terminal is inside of another tmux server (%s), and tmux must not run in tmux: "+
			"detach from that first, or use another terminal", swarm.ErrInvalidSpec, inside)
	}
	a := swarm.Attachment{Command: []string{"tmux", "-S", h.Socket, verb, "-t", p.session + ":" + p.window + "." + p.id}}
	if verb == "attach-session" {
		// What is left of a server that has ended keeps tmux from attaching.
		a.Unset = []string{"TMUX", "TMUX_PANE"}
	}
	return a, nil
}

// place asks where the worker's window is now.
func (h handle) place(ctx context.Context) (pane, error) {
	gone := fmt.Errorf("%w: the window of the worker was closed", swarm.ErrNotFound)
	if h.Window == "" {
		return pane{}, gone
	}
	ctx, cancel := limited(ctx, lookLimit)
	defer cancel()
	out, err := h.server().run(ctx, h.ifOurs([]string{"display-message", "-p", "-t", h.Pane, "#{session_id}:#{window_id}:#{pane_id}"}))
	if _, refused := errors.AsType[failure](err); refused {
		return pane{}, gone
	}
	if err != nil {
		return pane{}, err
	}
	f := strings.Split(strings.TrimSpace(out), ":")
	if len(f) != 3 {
		return pane{}, gone
	}
	return pane{session: f[0], window: f[1], id: f[2]}, nil
}

// insideOf returns the socket of the server that an environment is of, if that
// runs: the variable outlives the server, and is taken along to other terminals.
func insideOf(env []string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "TMUX="); ok {
			value = v
		}
	}
	socket, pid := splitTMUX(value)
	if _, err := proc.Read(pid); err != nil {
		return ""
	}
	return socket
}

// splitTMUX splits "<socket>,<pid of the server>,<session>".
func splitTMUX(value string) (socket string, pid int) {
	fields := strings.Split(value, ",")
	if len(fields) < 3 {
		return "", 0
	}
	n := len(fields) - 2
	pid, _ = strconv.Atoi(fields[n]) // what is no number is 0, which is nobody
	return strings.Join(fields[:n], ","), pid
}

func sameSocket(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	// One of them may go through a link, as /tmp does on darwin.
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}
