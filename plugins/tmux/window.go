package tmux

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The user options that mark the panes and sessions of this backend.
const (
	optWorkerID    = "@swarm_id"
	optMadeSession = "@swarm_session"
)

type newWindow struct {
	target target
	spec   swarm.Spec
}

// commands returns what opens the window and sets it up, in one go: tmux does
// nothing else in between, so a worker that ends at once does so in a window that
// is already as it has to be. With make, the session is made too, and the window
// is its first one.
//
// A new window in the background is not the current one, and its id is not known
// before the end. So for a moment its name is one that no other window has.
func (o newWindow) commands(makeSession bool) [][]string {
	session, name := "="+o.target.session+":", "swarm-"+o.spec.ID
	// With more than one argument tmux runs a command without a shell.
	marks, shim := rundir.ShimEnv(o.spec.ID), []string{o.spec.Local.Shim, o.spec.Local.RunDir}
	open := []string{"new-window", "-d", "-t", session}
	for _, mark := range marks {
		open = append(open, "-e", mark)
	}
	var setUp [][]string
	if makeSession {
		// Windows that a user opens in the session begin in the worker's directory. With -e tmux
		// would set the marks for them too, so env sets them here.
		open = []string{"new-session", "-d", "-s", o.target.session, "-c", literal(o.spec.Dir)}
		shim = slices.Concat([]string{"/usr/bin/env"}, marks, shim)
		setUp = o.setUpSession(session)
	}
	open = append(open, "-n", name, "-P", "-F", openedFormat, "--")
	return slices.Concat([][]string{append(open, shim...)}, setUp, o.setUp(session+"="+name, session+"="+name))
}

// setUp makes a pane and its window the worker's, whatever the user's configuration says. The mark
// goes with the pane to other windows; panes that the user puts into this one do not have it.
func (o newWindow) setUp(window, pane string) [][]string {
	return [][]string{
		{"set-option", "-p", "-t", pane, optWorkerID, o.spec.ID},
		{"set-option", "-w", "-t", window, "remain-on-exit", "off"},
		{"set-option", "-w", "-t", window, "automatic-rename", "off"},
		{"set-option", "-w", "-t", window, "allow-rename", "off"},
		// A hook of the user's may have split the window, and then its active pane is another.
		{"display-message", "-p", "-t", pane, "#{pane_id}"},
		{"set-hook", "-w", "-t", window, "window-renamed[0]", keepSession},
		// The last one: from here on the window has another name.
		{"rename-window", "-t", window, o.spec.Name},
	}
}

// keepSession is the hook of the last event of an opening, so it runs after all other hooks of it:
// one of the user's may have had tmux destroy sessions that no client shows. It removes itself
// and runs the user's own hook of the same event, which it has hidden.
const keepSession = "set-hook -uw window-renamed ; set-hook -R window-renamed ; " +
	"if-shell -F '#{" + optMadeSession + "}' 'set-option destroy-unattached off'"

// setUpSession makes a session ours, and one that lives without a client. The
// marks of the server's first process are not for the windows that users open.
func (o newWindow) setUpSession(session string) [][]string {
	return [][]string{
		{"set-environment", "-gu", swarm.EnvShim},
		{"set-environment", "-gu", swarm.EnvEngine},
		{"set-option", "-t", session, optMadeSession, "1"},
		{"set-option", "-t", session, "destroy-unattached", "off"},
		{"set-option", "-s", "exit-unattached", "off"},
	}
}

// literal keeps tmux from expanding a text as a format.
func literal(s string) string { return strings.ReplaceAll(s, "#", "##") }

// pane is a pane of any window of a server.
type pane struct {
	id, window, sessionName, windowName, socket string
	// server and pid are the processes of the server and of the pane.
	server, pid int
	// worker is the id of the pane's worker, empty if it is not ours. A pane that the user had
	// respawned keeps it.
	worker string
	// made says that its session was made by this backend.
	made bool
}

// paneFormat has no field before the last one that could hold a colon. The path of
// the socket could, too, and is the same for all.
const paneFormat = "#{pid}:#{pane_pid}:#{pane_id}:#{window_id}:#{" + optMadeSession + "}:#{" + optView + "}:#{" + optWorkerID + "}:#{session_name}:#{window_name}"

// panes lists all panes of a server. A window that is linked into two sessions is listed in
// both; the panes of views come first, so that the last entry of a window is in its own
// session.
func (s *silences) panes(ctx context.Context, srv server) ([]pane, error) {
	out, err := s.ask(ctx, srv, []string{"list-panes", "-a", "-F", paneFormat}, []string{"display-message", "-p", "#{socket_path}"})
	if err != nil {
		return nil, err
	}
	var views, others []pane
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	socket := lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		f := strings.SplitN(line, ":", 9)
		if len(f) < 9 {
			continue
		}
		p := pane{
			id: f[2], window: f[3], made: f[4] != "", worker: f[6],
			sessionName: f[7], windowName: f[8], socket: socket,
		}
		// A field that is not a number becomes 0; no process has that pid.
		p.server, _ = strconv.Atoi(f[0])
		p.pid, _ = strconv.Atoi(f[1])
		if inView := f[5] != ""; inView {
			views = append(views, p)
		} else {
			others = append(others, p)
		}
	}
	return append(views, others...), nil
}

// opened is the answer of tmux for a window that it opened.
type opened struct {
	version, id, pane, session, sessionID, socket string
	// server and pid are the processes of the server and of the pane.
	server, pid int
	// made says that the session was created with it; moved, that it may have another
	// name or session than asked for.
	made, moved bool
	// marked is the pane that was set up as the worker's, empty if none was.
	marked string
}

// openedFormat has no field before the last one that could hold a colon.
const openedFormat = "#{version}:#{pid}:#{pane_pid}:#{window_id}:#{pane_id}:#{session_id}:#{session_name}:#{socket_path}"

func parseOpened(out string) (opened, bool) {
	line, marked, _ := strings.Cut(out, "\n")
	f := strings.SplitN(line, ":", 8)
	if len(f) < 8 {
		return opened{}, false
	}
	server, err := strconv.Atoi(f[1])
	pid, err2 := strconv.Atoi(f[2])
	if err != nil || err2 != nil {
		return opened{}, false
	}
	return opened{
		version: f[0], server: server, pid: pid, id: f[3], pane: f[4],
		sessionID: f[5], session: f[6], socket: filepath.Clean(f[7]),
		marked: strings.TrimSpace(marked),
	}, true
}

// shimOf returns the identity of the shim with the pid that a server reported, or the
// zero value if it has ended since.
func shimOf(server, pid int) proc.Identity {
	p, err := proc.Read(pid)
	if err != nil || p.Parent != server {
		return proc.Identity{}
	}
	return p.Identity
}
