package tmux

import (
	"context"
	"slices"
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
	// dead says that its process has ended and only the pane is left.
	dead bool
	// made says that its session was made by this backend.
	made bool
	// view says that its session is a view.
	view bool
}

// paneFormat has no field before the last one that could hold a colon. The path of
// the socket could, too, and is the same for all.
const paneFormat = "#{pid}:#{pane_pid}:#{pane_id}:#{window_id}:#{pane_dead}:#{" + optMadeSession + "}:#{" + optView + "}:#{" + optWorkerID + "}:#{session_name}:#{window_name}"

// panes lists all panes of a server. A window that is linked into two sessions is listed in
// both; the panes of views come first, so that the last entry of a window is in its own
// session.
func (s server) panes(ctx context.Context) ([]pane, error) {
	out, err := s.run(ctx, []string{"list-panes", "-a", "-F", paneFormat}, []string{"display-message", "-p", "#{socket_path}"})
	if err != nil {
		return nil, err
	}
	var panes []pane
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	socket := lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		f := strings.SplitN(line, ":", 10)
		if len(f) < 10 {
			continue
		}
		p := pane{
			id: f[2], window: f[3], dead: f[4] == "1", made: f[5] != "", view: f[6] != "", worker: f[7],
			sessionName: f[8], windowName: f[9], socket: socket,
		}
		// A field that is not a number becomes 0; no process has that pid.
		p.server, _ = strconv.Atoi(f[0])
		p.pid, _ = strconv.Atoi(f[1])
		panes = append(panes, p)
	}
	slices.SortStableFunc(panes, func(a, b pane) int {
		switch {
		case a.view == b.view:
			return 0
		case a.view:
			return -1
		}
		return 1
	})
	return panes, nil
}
