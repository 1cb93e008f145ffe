package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns a command that shows the worker's window in a terminal until the window
// closes or the user leaves. It also works in a terminal that shows another window of the
// same server.
func (b *Backend) Attach(ctx context.Context, raw swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	h, err := b.handle(ctx, raw)
	if err != nil {
		return swarm.Attachment{}, err
	}
	st, err := client.Status(h.Dir, h.ID)
	if err != nil {
		return swarm.Attachment{}, err
	}
	if st.State != swarm.StateRunning {
		return swarm.Attachment{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	p, err := b.place(ctx, h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	home, _ := proc.Getenv(p.pid, envTMUX)
	v := view{name: viewPrefix + strings.ToLower(rand.Text()[:8]), shown: p, home: home, readOnly: o.ReadOnly}
	a := swarm.Attachment{Command: []string{"tmux", "-S", h.Socket}, ReadOnly: o.ReadOnly}
	commands := b.leftViews(ctx, h)
	switch inside := insideOf(o.Env); {
	case inside == "":
		commands = append(commands, v.attach()...)
		// Variables of a server that has ended keep tmux from attaching.
		a.Unset = []string{envTMUX, "TMUX_PANE"}
	case o.ReadOnly:
		return swarm.Attachment{}, fmt.Errorf("%w: a client of tmux is read-only for all that it shows: "+
			"use a terminal outside of tmux", swarm.ErrInvalidSpec)
	case sameSocket(inside, h.Socket):
		commands = append(commands, v.enter()...)
	default:
		return swarm.Attachment{}, fmt.Errorf("%w: this terminal is inside another tmux server (%s), and tmux must not run in tmux: "+
			"detach from that first, or use another terminal", swarm.ErrInvalidSpec, inside)
	}
	a.Command = append(a.Command, joined(commands)...)
	return a, nil
}

func (b *Backend) leftViews(ctx context.Context, h handle) (commands [][]string) {
	out, err := b.queries.ask(ctx, h.server(), []string{"list-sessions", "-F", "#{?" + unused + ",#{session_name},}"})
	if err != nil {
		return nil // the next one to attach removes them
	}
	for name := range strings.FieldsSeq(out) {
		if strings.HasPrefix(name, viewPrefix) {
			commands = append(commands, removeLeft(name))
		}
	}
	return commands
}

// envTMUX is the variable that gives programs inside tmux the socket of their server.
const envTMUX = "TMUX"

// place asks for the worker's pane, and for its window as it is now.
func (b *Backend) place(ctx context.Context, h handle) (pane, error) {
	gone := fmt.Errorf("%w: the window of the worker was closed", swarm.ErrNotFound)
	if h.Pane == "" {
		return pane{}, gone
	}
	out, err := b.queries.ask(ctx, h.server(), h.ifOurs([]string{"display-message", "-p", "-t", h.Pane, "#{pane_pid}:#{window_id}:#{pane_id}"}))
	if _, refused := errors.AsType[failure](err); refused {
		return pane{}, gone
	}
	if err != nil {
		return pane{}, err
	}
	f := strings.Split(strings.TrimSpace(out), ":")
	pid, err := strconv.Atoi(f[0])
	if err != nil || len(f) != 3 {
		return pane{}, gone
	}
	return pane{pid: pid, window: f[1], id: f[2]}, nil
}

// Resize sets the size of the worker's window, so that its pane has the size if it is alone in it.
// tmux then keeps the size until a client attaches to the window.
func (b *Backend) Resize(ctx context.Context, raw swarm.Handle, columns, rows int) error {
	if err := swarm.CheckSize(columns, rows); err != nil {
		return err
	}
	h, err := b.handle(ctx, raw)
	if err != nil {
		return err
	}
	st, err := client.Status(h.Dir, h.ID)
	if err != nil {
		return err
	}
	if st.State != swarm.StateRunning {
		return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	p, err := b.place(ctx, h)
	if err != nil {
		return err
	}
	out, err := b.queries.ask(ctx, h.server(), h.ifOurs(
		[]string{"resize-window", "-t", p.window, "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows)},
		[]string{"display-message", "-p", "-t", h.Pane, cursorFormat},
	))
	if refused, ok := errors.AsType[failure](err); ok {
		return fmt.Errorf("%w: %w", swarm.ErrUnavailable, refused)
	}
	if err != nil {
		return err
	}
	var s swarm.Screen
	if setCursor(&s, strings.TrimSpace(out)); s.Columns != columns || s.Rows != rows {
		return fmt.Errorf("%w: the pane of the worker has %d columns and %d rows now: it shares its window with other panes",
			swarm.ErrInvalidSpec, s.Columns, s.Rows)
	}
	return nil
}

// insideOf returns the socket of the server in which a program with this environment runs, if
// that server still exists: the variable outlives it, and gets into other terminals.
func insideOf(env []string) string {
	socket, pid := splitTMUX(environ.Get(env, envTMUX))
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
	pid, _ = strconv.Atoi(fields[n]) // 0 if it is not a number; no process has that pid
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
