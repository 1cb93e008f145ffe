package condition

import (
	"slices"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func runs(state *judgement.State) worker.Worker {
	return worker.Worker{Status: worker.StatusRunning, PID: 12, Started: now.Add(-2 * time.Hour), State: state}
}

func exits(e swarm.Exit) worker.Worker {
	return worker.Worker{Status: worker.StatusStopped, Exit: &e, Ended: now.Add(-5 * time.Minute)}
}

func TestWords(t *testing.T) {
	t.Parallel()
	restarts := runs(nil)
	restarts.PID, restarts.Reason = 0, "restarting in 4s (exit status 1)"
	restarts.Restart.When = swarm.RestartAlways
	silent := restarts
	silent.Reason = "\x1b[31mred"
	completed := exits(swarm.Exit{Cause: swarm.CauseKilled, Signal: "SIGTERM"})
	completed.Completion = &swarm.Completion{}
	minutes := now.Add(-3 * time.Minute)
	for _, c := range []struct {
		w    worker.Worker
		kind Kind
		want string
	}{
		{runs(nil), Running, "running 2h"},
		{worker.Worker{Status: worker.StatusRunning}, Running, "running"},
		{restarts, Restarting, "restarting in 4s"},
		{silent, Restarting, "restarting"},
		{runs(&judgement.State{State: profile.Unknown}), Running, "running 2h"},
		{runs(&judgement.State{State: profile.Working, Since: minutes}), Working, "working 3m"},
		{runs(&judgement.State{State: profile.Idle, Since: minutes}), Idle, "idle 3m"},
		{runs(&judgement.State{State: profile.Broken, Since: minutes, Broken: "API Error"}), Broken, "broken 3m"},
		{runs(&judgement.State{State: profile.Working, Since: minutes, Broken: "API Error"}), Working, "working 3m"},
		{runs(&judgement.State{State: profile.Limited, Since: minutes, Broken: "limit reached"}), Limited, "limited 3m"},
		{runs(&judgement.State{State: profile.Background, Since: minutes}), Background, "background 3m"},
		{runs(&judgement.State{State: profile.Compacting}), Compacting, "compacting"},
		{runs(&judgement.State{State: profile.Blocked, Since: minutes, Question: "Proceed?"}), Blocked, "blocked 3m"},
		{runs(&judgement.State{State: profile.Blocked}), Blocked, "blocked"},
		{worker.Worker{Spec: registry.Spec{Created: minutes}, Status: worker.StatusStarting}, Starting, "starting 3m"},
		{worker.Worker{Status: worker.StatusStarting, Reason: history.ReasonInterrupted}, Failed, "spawn interrupted"},
		{exits(swarm.Exit{Cause: swarm.CauseExited}), Succeeded, "exited 0, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseExited, Code: 3}), Failed, "exited 3, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseExited, Code: -1, Signal: "SIGSEGV"}), Failed, "killed SIGSEGV, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseKilled, Code: -1, Signal: "SIGTERM"}), Killed, "killed, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseOwner, Code: -1, Signal: "SIGTERM"}), Killed, "killed, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseCompleted}), Completed, "completed, 5m ago"},
		{completed, Completed, "completed, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseCrashLoop, Code: 1}), CrashLoop, "crash loop, 5m ago"},
		{exits(swarm.Exit{Cause: swarm.CauseNotStarted, Code: -1}), Failed, "not started, 5m ago"},
		{worker.Worker{Status: worker.StatusStopped}, Failed, "exit unknown"},
		{worker.Worker{Status: worker.StatusLost}, Lost, "lost"},
		{worker.Worker{Status: worker.StatusLost, Survivors: make([]swarm.Process, 2)}, Lost, "lost, 2 alive"},
		{worker.Worker{Status: worker.StatusUnknown}, Unknown, "unknown"},
	} {
		if got := Of(c.w); got.Kind != c.kind || got.Words(now) != c.want {
			t.Errorf("%s %q, want %s %q", got.Kind, got.Words(now), c.kind, c.want)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for i := range len(kinds) - 1 {
		k := kinds[i].kind
		if k.Urgency() != i {
			t.Errorf("the urgency of %s is %d, want %d", k, k.Urgency(), i)
		}
		if symbol := k.Symbol(true); len(symbol) != 1 || symbol[0] > '~' {
			t.Errorf("the plain symbol of %s is %q", k, symbol)
		}
		if k.Symbol(false) == "" {
			t.Errorf("%s has no symbol", k)
		}
		if bad := k.Tone() == Bad || k.Tone() == Asking; bad != (k.Urgency() <= Failed.Urgency()) {
			t.Errorf("the tone of %s is %d, but its urgency %d", k, k.Tone(), k.Urgency())
		}
	}
	if got := Kind("new").Urgency(); got != len(kinds)-1 {
		t.Errorf("the urgency of an unknown kind is %d", got)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	old := Condition{Kind: Failed, Since: now.Add(-time.Hour), Text: "old"}
	fresh := Condition{Kind: Failed, Since: now, Text: "fresh"}
	asks := Condition{Kind: Blocked, Text: "asks"}
	all := []Condition{{Kind: Running, Text: "runs"}, old, fresh, asks}
	slices.SortFunc(all, Compare)
	var got []string
	for _, c := range all {
		got = append(got, c.Text)
	}
	if want := []string{"asks", "fresh", "old", "runs"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
