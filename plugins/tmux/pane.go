package tmux

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// lookLimit is how long tmux may take to list windows; only people need their places.
const lookLimit = 2 * time.Second

// pane is a pane of any window of a server.
type pane struct {
	id, window, sessionName, windowName, socket string
	// server and pid are the processes of the server and of the pane.
	server, pid int
	// worker is the window's worker's id, empty if it is not ours.
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
func (s server) panes(ctx context.Context) ([]pane, error) {
	out, err := s.run(ctx, []string{"list-panes", "-a", "-F", paneFormat}, []string{"display-message", "-p", "#{socket_path}"})
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
