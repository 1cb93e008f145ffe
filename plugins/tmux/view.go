package tmux

import "github.com/swarmhost/swarm/shared/swarm"

const (
	// optView marks a session that is a view, and optBack the window of a view by
	// which its client goes back.
	optView = "@swarm_view"
	optBack = "@swarm_back"

	viewPrefix = "swarm-view-"
)

// view is a session that one client has, to see one worker. Only the worker's window
// is linked into it. So the view ends with that window, and the client never gets to
// see another worker's. A hook removes it when the client leaves or dies: with
// destroy-unattached, tmux 3.3a crashes if another client of the server ends while the
// one of the session is being detached.
type view struct {
	name  string
	shown pane
	// home is what TMUX holds in the worker's own session.
	home string
	// readOnly says that the client gives no input.
	readOnly bool
}

// target names the view exactly, not as a prefix.
func (v view) target() string { return "=" + v.name + ":" }

// attach returns the commands of a terminal outside of tmux. Its client ends with the
// view.
func (v view) attach() [][]string {
	first := []string{"new-session", "-s", v.name, "-n", "swarm"}
	if v.readOnly {
		first = append(first, "-f", "read-only")
	}
	commands := append([][]string{append(first, "--", "true")}, v.setUp("d")...)
	return append(commands,
		// It replaces the first window, without which a session can't be created.
		[]string{"link-window", "-k", "-s", v.shown.window, "-t", v.target() + "^"},
		[]string{"select-pane", "-t", v.shown.id},
	)
}

// enter returns the commands of a client that shows a session of the same server. tmux
// chooses a session by itself when that of a client ends, and it may be another
// worker's. So this view has a second window, which comes up when the worker's closes,
// or when the user goes to the next one: then the client goes back to where it was.
func (v view) enter() [][]string {
	commands := [][]string{
		{"new-session", "-d", "-s", v.name, "-n", "swarm", "--", "sleep", "2147483647"},
		{"set-option", "-w", "-t", v.target(), optBack, "1"},
	}
	commands = append(commands, v.setUp("L")...)
	return append(commands,
		[]string{"link-window", "-s", v.shown.window, "-t", v.target()},
		[]string{"select-pane", "-t", v.shown.id},
		// #{…} is expanded now, and ##{…} when the hook runs.
		[]string{
			"set-option", "-F", "-t", v.target(), "session-window-changed[0]",
			"if-shell -F -t '" + v.target() + "' '##{&&:##{" + optBack + "},##{&&:##{session_attached}," + beginning + "}}' " +
				"\"switch-client -c '#{client_name}' -t '" + beginningID + "'\"",
		},
		// If the session where it began has ended, the client is detached.
		[]string{
			"set-option", "-t", v.target(), "session-window-changed[1]",
			v.endIf("#{&&:#{" + optBack + "},#{||:#{==:#{session_windows},1}," + unused + "}}"),
		},
		[]string{"switch-client", "-t", v.target()},
	)
}

const (
	// beginningID is the id of the session that the client shows before it enters. tmux
	// has a format for its name only, and names hold any character.
	beginningID = "#{S:#{?#{==:#{session_name},#{client_session}},#{session_id},}}"
	// beginning is true later, if that session is still there.
	beginning = "##{S:##{?##{==:##{session_id}," + beginningID + "},1,}}"
)

// setUp makes the session a view, whatever the user's configuration says. The key,
// after the prefix, leaves it.
func (v view) setUp(key string) [][]string {
	session := v.target()
	return [][]string{
		{"set-option", "-t", session, optView, "1"},
		{"set-option", "-t", session, "destroy-unattached", "off"},
		{"set-option", "-t", session, "detach-on-destroy", "on"},
		{"set-option", "-t", session, "status", "on"},
		{"set-option", "-t", session, "status-format[0]", " [#{window_name}] #{prefix} " + key + " leaves"},
		// A window that the user opens here belongs to the worker's session.
		{"set-environment", "-t", session, swarm.EnvView, v.home},
		{"set-hook", "-t", session, "client-detached", v.endIf(unused)},
	}
}

// unused is true in a view that no client shows, and in which each window is in another
// session, too: others, such as those that the user opened, would end with the view.
const unused = "#{&&:#{" + optView + "},#{&&:#{==:#{session_attached},0}," +
	"#{==:#{W:#{?#{||:#{window_linked},#{" + optBack + "}},,x}},}}}"

// endIf returns the command that ends the view if a format is true in it.
func (v view) endIf(format string) string {
	return "if-shell -F -t '" + v.target() + "' '" + format + "' \"kill-session -t '" + v.target() + "'\""
}

// removeLeft returns the command that removes a view whose client has switched to another
// session. No hook reports that switch; the view ends with its worker, or at the next
// attach.
func removeLeft(name string) []string {
	v := view{name: name}
	return []string{"if-shell", "-F", "-t", v.target(), unused, "kill-session -t '" + v.target() + "'"}
}
