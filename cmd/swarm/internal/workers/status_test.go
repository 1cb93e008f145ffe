package workers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestStatusLine(t *testing.T) {
	t.Parallel()
	worktree := &swarm.WorkspaceRef{Path: "/wt"}
	window := swarm.Where{Kind: "tmux window", Name: "s:w"}
	always := swarm.Restart{When: swarm.RestartAlways}
	begun := now.Add(-2*time.Hour - 59*time.Minute)
	ended := begun.Add(5 * time.Minute)
	for _, c := range []struct {
		want string
		code int
		w    worker.Worker
	}{
		{"w: running (pid 123, uptime 2h)", 0, worker.Worker{Status: worker.StatusRunning, PID: 123, Started: begun}},
		{
			"w: running (tmux window s:w, worktree /wt, uptime 2h)", 0,
			worker.Worker{Status: worker.StatusRunning, PID: 123, Where: window, Workspace: worktree, Started: begun},
		},
		{
			"w: stopped (exit 3, ran 5m)", 1,
			worker.Worker{Status: worker.StatusStopped, Where: window, Started: begun, Ended: ended, Exit: &swarm.Exit{Code: 3}},
		},
		{
			"w: stopped (killed SIGKILL, worktree /wt, ran 5m)", 1,
			worker.Worker{
				Status: worker.StatusStopped, Workspace: worktree, Started: begun, Ended: ended,
				Exit: &swarm.Exit{Code: -1, Signal: "SIGKILL"},
			},
		},
		{
			"w: stopped (command not found: x)", 1,
			worker.Worker{Status: worker.StatusStopped, Exit: &swarm.Exit{Code: -1, Cause: swarm.CauseNotStarted, Reason: "command not found: x"}},
		},
		{
			"w: running (pid 123, restarted 3 times, uptime 2h)", 0,
			worker.Worker{Status: worker.StatusRunning, PID: 123, Started: begun, Restarts: 3},
		},
		{
			"w: running (restarting in 3s (exit status 1), restarted once)", 0,
			worker.Worker{Spec: registry.Spec{Restart: always}, Status: worker.StatusRunning, Started: begun, Restarts: 1, Reason: "restarting in 3s (exit status 1)"},
		},
		{
			"w: running (tmux window s:w, restarting in 3s (signal: killed))", 0,
			worker.Worker{Spec: registry.Spec{Restart: always}, Status: worker.StatusRunning, Where: window, Started: begun, Reason: "restarting in 3s (signal: killed)"},
		},
		{
			"w: stopped (exit 1, crash loop: restarted 5 times within 60s, ran 5m)", 1,
			worker.Worker{
				Status: worker.StatusStopped, Started: begun, Ended: ended, Restarts: 5,
				Exit: &swarm.Exit{Code: 1, Cause: swarm.CauseCrashLoop, Reason: "restarted 5 times within 60s"},
			},
		},
		{
			"w: stopped (killed SIGSEGV, crash loop)", 1,
			worker.Worker{Status: worker.StatusStopped, Exit: &swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseCrashLoop}},
		},
		{
			`w: running (pid 1, completed: it \x1b[31m\n\u202eworks, uptime 2h)`, 0,
			worker.Worker{
				Status: worker.StatusRunning, PID: 1, Started: begun,
				Completion: &swarm.Completion{Summary: "it \x1b[31m\n\u202eworks"},
			},
		},
		{
			"w: stopped (exit 0, completed, ran 5m)", 1,
			worker.Worker{
				Status: worker.StatusStopped, Started: begun, Ended: ended, Exit: &swarm.Exit{Cause: swarm.CauseCompleted},
				Completion: &swarm.Completion{},
			},
		},
		{"w: stopped (exit unknown)", 1, worker.Worker{Status: worker.StatusStopped}},
		{"w: lost (shim died, exit unknown)", 1, worker.Worker{Status: worker.StatusLost}},
		{
			"w: lost (shim died, exit unknown, still alive: sleep (pid 12) npm (pid 13))", 3,
			worker.Worker{Status: worker.StatusLost, Reason: "shim died, exit unknown", Survivors: []swarm.Process{{PID: 12, Name: "sleep"}, {PID: 13, Name: "npm"}}},
		},
		{"w: starting (for 7s)", 3, worker.Worker{Spec: registry.Spec{Created: now.Add(-7 * time.Second)}, Status: worker.StatusStarting}},
		{"w: unknown (no such plugin)", 3, worker.Worker{Status: worker.StatusUnknown, Reason: "no such plugin"}},
	} {
		c.w.Name = "w"
		if got := view.StatusLine(c.w, now); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if got := statusCode(c.w); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.want, got, c.code)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	a, out, _ := apptest.New()
	a.PrintTable(fixedTable([]worker.Worker{
		{Spec: registry.Spec{Name: "ümläut", Tags: []string{"a", "b"}}, Status: worker.StatusRunning, PID: 1, Started: now.Add(-time.Minute)},
		{Spec: registry.Spec{Name: "x", Tags: []string{"\x1b[2J"}}, Status: worker.StatusStopped, PID: 1, Workspace: &swarm.WorkspaceRef{Path: "/a path"}},
		{Spec: registry.Spec{Name: "r", Restart: swarm.Restart{When: swarm.RestartAlways}}, Status: worker.StatusRunning, Started: now},
		{Spec: registry.Spec{Name: "t"}, Status: worker.StatusLost, Survivors: []swarm.Process{{PID: 1}}, Where: swarm.Where{Name: "s:t"}},
	}, now))
	want := `NAME    STATUS   PID/WINDOW  STARTED  WORKTREE  TAG
ümläut  running  1           1m ago   -         a,b
x       stopped  -           -        /a path   \x1b[2J
r       running  restarting  -        -         -
t       lost     s:t         -        -         -
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	out.Reset()
	a.PrintTable(fixedTable(nil, now))
	if out.Len() > 0 {
		t.Errorf("an empty table is %q, want nothing", out)
	}
}
