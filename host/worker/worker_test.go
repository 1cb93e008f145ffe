package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestOf(t *testing.T) {
	t.Parallel()
	end := time.Unix(1700000000, 0)
	for what, c := range map[string]struct {
		change func(*registry.Record)
		want   func(*worker.Worker)
	}{
		"running": {
			func(r *registry.Record) { r.State = registry.Running },
			func(w *worker.Worker) { w.Status, w.PID = worker.StatusUnknown, 7 }, // until its backend is asked
		},
		"stopped": {
			func(r *registry.Record) { r.State, r.Exit = registry.Stopped, &swarm.Exit{Code: 3, Time: end} },
			func(w *worker.Worker) {
				w.Status, w.Exit, w.Ended = worker.StatusStopped, &swarm.Exit{Code: 3, Time: end}, end
			},
		},
		"stopped without an exit": {
			func(r *registry.Record) { r.State, r.Reason = registry.Stopped, history.ReasonLost },
			func(w *worker.Worker) { w.Status, w.Reason = worker.StatusStopped, history.ReasonLost },
		},
	} {
		rec := registry.Record{Spec: registry.Spec{ID: "id", Name: "w", Backend: "one"}, PID: 7}
		c.change(&rec)
		want := worker.Worker{Spec: registry.Spec{ID: "id", Name: "w", Backend: "one"}}
		c.want(&want)
		if diff := cmp.Diff(want, worker.Of(rec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	begin, end := time.Unix(1700000000, 0), time.Unix(1700000060, 0)
	exit := &swarm.Exit{Code: 3, Time: end}
	shell := []swarm.Process{{PID: 5, Name: "sh"}}
	for what, c := range map[string]struct {
		answer swarm.StatusResult
		want   worker.Worker
	}{
		"it runs": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning, PID: 8, Started: begin, Restarts: 2, Paused: true}},
			worker.Worker{Status: worker.StatusRunning, PID: 8, Started: begin, Restarts: 2, Paused: true},
		},
		"it runs, and the backend does not say where": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning}},
			worker.Worker{Status: worker.StatusRunning, PID: 7, Restarts: 1},
		},
		"it waits for its restart": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateRunning, Reason: "restart in 2s"}},
			worker.Worker{Status: worker.StatusRunning, Reason: "restart in 2s", Restarts: 1},
		},
		"it has ended": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateExited, PID: 8, Exit: exit}},
			worker.Worker{Status: worker.StatusStopped, Exit: exit, Ended: end, Restarts: 1},
		},
		"its shim died": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateLost, PID: 5, Survivors: shell}},
			worker.Worker{Status: worker.StatusLost, Reason: history.ReasonLost, Survivors: shell, Restarts: 1},
		},
		"its shim died, and its main process may live": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateLost, PID: 5, PerhapsAlive: shell}},
			worker.Worker{Status: worker.StatusLost, PID: 5, Reason: history.ReasonLost, PerhapsAlive: shell, Restarts: 1},
		},
		"the backend cannot be asked": {
			swarm.StatusResult{Err: fmt.Errorf("%w: no such cluster", swarm.ErrUnavailable)},
			worker.Worker{Status: worker.StatusUnknown, Reason: "no such cluster", PID: 7, Restarts: 1},
		},
		"the backend does not know": {
			swarm.StatusResult{Status: swarm.Status{State: swarm.StateUnknown, Reason: "node is down"}},
			worker.Worker{Status: worker.StatusUnknown, Reason: "node is down", PID: 7, Restarts: 1},
		},
	} {
		got := worker.Worker{PID: 7, Restarts: 1}
		got.Apply(c.answer)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	shell := []swarm.Process{{PID: 5, Name: "sh"}}
	always := swarm.Restart{When: swarm.RestartAlways}
	for what, c := range map[string]struct {
		worker                     worker.Worker
		gone, alive, between, loop bool
	}{
		"runs":              {worker: worker.Worker{Spec: registry.Spec{Restart: always}, Status: worker.StatusRunning, PID: 7}, alive: true},
		"runs somewhere":    {worker: worker.Worker{Status: worker.StatusRunning}, alive: true},
		"waits":             {worker: worker.Worker{Spec: registry.Spec{Restart: always}, Status: worker.StatusRunning, Reason: "restart in 2s"}, between: true},
		"stopped":           {worker: worker.Worker{Status: worker.StatusStopped, Exit: &swarm.Exit{}}, gone: true},
		"crash loop":        {worker: worker.Worker{Status: worker.StatusStopped, Exit: &swarm.Exit{Cause: swarm.CauseCrashLoop}}, gone: true, loop: true},
		"lost":              {worker: worker.Worker{Status: worker.StatusLost}, gone: true},
		"lost, leftovers":   {worker: worker.Worker{Status: worker.StatusLost, Survivors: shell}},
		"lost, perhaps not": {worker: worker.Worker{Status: worker.StatusLost, PerhapsAlive: shell}},
		"unknown":           {worker: worker.Worker{Status: worker.StatusUnknown, PID: 7}},
	} {
		w := c.worker
		got := []bool{w.Gone(), w.Alive(), w.BetweenStarts(), w.InCrashLoop()}
		if diff := cmp.Diff([]bool{c.gone, c.alive, c.between, c.loop}, got); diff != "" {
			t.Errorf("%s: gone, alive, between starts, in a crash loop (-want +got):\n%s", what, diff)
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := worker.Worker{Spec: registry.Spec{Command: []string{"swarm", "ralph", "run"}}}
	if got := w.CommandLine(); got != "swarm ralph run" {
		t.Errorf("%q", got)
	}
	w.Shown = []string{"claude", "a b"}
	if got := w.CommandLine(); got != "claude 'a b'" {
		t.Errorf("a loop is shown as %q", got)
	}
}

func TestTeamStatus(t *testing.T) {
	t.Parallel()
	if got := worker.TeamStatus(nil); got != "" {
		t.Errorf("without a state: %q", got)
	}
	for state, want := range map[profile.State]registry.AgentStatus{
		profile.Idle: registry.AgentIdle, profile.Limited: registry.AgentIdle, profile.Broken: registry.AgentIdle,
		profile.Working: registry.AgentActive, profile.Blocked: registry.AgentActive, profile.Background: registry.AgentActive, profile.Compacting: registry.AgentActive,
		profile.Unknown: "",
	} {
		if got := worker.TeamStatus(&judgement.State{State: state}); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

// TestErrorsHaveHints checks that each error names its worker, is the sentinel that callers look
// for and comes with a way out.
func TestErrorsHaveHints(t *testing.T) {
	t.Parallel()
	lost := worker.Worker{Spec: registry.Spec{Name: "w"}, Status: worker.StatusLost, PerhapsAlive: []swarm.Process{{PID: 5, Name: "sh"}}}
	for what, c := range map[string]struct {
		err        error
		is         error
		text, hint string
	}{
		"exists":      {worker.Exists("w"), worker.ErrExists, "worker 'w' already exists", "'swarm respawn w'"},
		"ended":       {worker.NotRunning("w"), worker.ErrEnded, "worker 'w' is not running", "'swarm logs w'"},
		"running":     {worker.StillRunning("w"), worker.ErrRunning, "cannot clean running worker 'w'", "'swarm kill w'"},
		"no input":    {worker.Deaf("w", false), worker.ErrDeaf, "worker 'w' has no input to send to: it was spawned without --stdin", "with --stdin after"},
		"no terminal": {worker.Deaf("w", true), worker.ErrDeaf, "worker 'w' has no input to send to: it was spawned without --stdin", "with --tmux in a terminal"},
		"may run":     {worker.MayRun(lost, "cannot clean worker"), worker.ErrRunning, "cannot clean worker 'w': its shim died, perhaps alive: pid 5, sh", "'kill 5' ends these"},
		"attach":      {worker.Unsupported("one", swarm.CapAttach, "w"), swarm.ErrUnsupported, "backend 'one' does not support attach", "'swarm logs w --follow'"},
		"exec":        {worker.Unsupported("one", swarm.CapExec, "w"), swarm.ErrUnsupported, "backend 'one' does not support exec", "'swarm show w'"},
		"input":       {worker.Unsupported("one", swarm.CapInput, "w"), swarm.ErrUnsupported, "backend 'one' does not support input", "'swarm kill w'"},
	} {
		var hinted interface{ Hint() string }
		if !errors.As(c.err, &hinted) || !strings.Contains(hinted.Hint(), c.hint) {
			t.Errorf("%s: the hint of %v is not about %s", what, c.err, c.hint)
		}
		if !errors.Is(c.err, c.is) || c.err.Error() != c.text {
			t.Errorf("%s: %q, want %q", what, c.err, c.text)
		}
	}
	// Nothing can be done with a worker that does not exist yet.
	var hinted interface{ Hint() string }
	if err := worker.Unsupported("one", swarm.CapStdin, ""); !errors.As(err, &hinted) || hinted.Hint() != "" {
		t.Errorf("of a new worker: %v", err)
	}
	// Processes of other machines have no number that can be killed here.
	lost.PerhapsAlive[0].PID = 0
	if errors.As(worker.MayRun(lost, "cannot clean worker"), &hinted); !strings.Contains(hinted.Hint(), "end the others where they run") {
		t.Errorf("elsewhere: %s", hinted.Hint())
	}
}

func TestWithName(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"any error":         {errors.New("boom"), "cannot send to 'w': boom"},
		"an empty sentinel": {worker.Invalid("no such key"), "cannot send to 'w': no such key"},
		"a wrapped one":     {fmt.Errorf("%w: no such cluster", swarm.ErrUnavailable), "cannot send to 'w': no such cluster"},
		"has the name":      {worker.NotRunning("w"), "worker 'w' is not running"},
		"of the backend":    {worker.Unsupported("one", swarm.CapInput, "w"), "backend 'one' does not support input"},
	} {
		got := worker.WithName(c.err, "cannot send to", "w")
		if got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%s: %v, want %q", what, got, c.want)
		}
	}
	if err := worker.WithName(nil, "cannot send to", "w"); err != nil {
		t.Errorf("of no error: %v", err)
	}
}

func TestNotProven(t *testing.T) {
	t.Parallel()
	got := worker.NotProven("w", []swarm.Process{{PID: 5, Name: "sh"}, {PID: 6}})
	want := "not proven to be the worker's, so not signalled: pid 5 (sh), pid 6; 'kill 5 6' ends these if they are the worker's, 'swarm clean w --forget' removes the record"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimitsText(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]swarm.Limits{
		"":      {},
		"1 CPU": {CPUs: 1},
		"2.0GiB of memory, 1.5 CPUs, 500 processes, nice 3, I/O weight 10, as far as possible": {
			Memory: 2 << 30, CPUs: 1.5, PIDs: 500, Nice: 3, IOWeight: 10, BestEffort: true,
		},
	} {
		if got := worker.LimitsText(l); got != want {
			t.Errorf("%+v is %q, want %q", l, got, want)
		}
	}
	if got := worker.LimitsText(swarm.Limits{BestEffort: true}); got != "" {
		t.Errorf("without a limit: %q", got)
	}
}

func TestSandboxText(t *testing.T) {
	t.Parallel()
	if got := worker.SandboxText(nil); got != "" {
		t.Errorf("without a sandbox: %q", got)
	}
	for want, s := range map[string]swarm.Sandbox{
		"empty home, network of the host":                  {},
		"read-only home, no network":                       {Home: swarm.HomeReadOnly, Network: swarm.NetworkNone},
		"home /h, network of the host, writes /data, /tmp": {Home: "/h", Write: []string{"/data", "/tmp"}},
	} {
		if got := worker.SandboxText(&s); got != want {
			t.Errorf("%+v is %q, want %q", s, got, want)
		}
	}
}
