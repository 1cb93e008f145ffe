package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func processList(ps []swarm.Process) string {
	return strings.Join(output.List(ps, func(p swarm.Process) string {
		name := cmp.Or(p.Name, "process")
		if p.PID == 0 { // it is unknown for other machines
			return name
		}
		return fmt.Sprintf("%s (pid %d)", name, p.PID)
	}), " ")
}

// SpawnedWhere describes the location of a new worker: its window, or its process.
func SpawnedWhere(w worker.Worker) string {
	switch {
	case w.Where.Name != "":
		return fmt.Sprintf(" (%s: %s)", w.Backend, w.Where.Name)
	case w.PID != 0:
		return fmt.Sprintf(" (pid: %d)", w.PID)
	default:
		return ""
	}
}

// StatusLine is "NAME: STATUS (facts)".
func StatusLine(w worker.Worker, now time.Time) string {
	var facts []string
	add := func(fact string) {
		if fact != "" {
			facts = append(facts, output.Visible(fact))
		}
	}
	switch w.Status {
	case worker.StatusRunning:
		if w.Where.Name != "" {
			add(w.Where.Kind + " " + w.Where.Name)
		} else {
			add(MissingPlace(w))
			if w.PID != 0 {
				add(fmt.Sprintf("pid %d", w.PID))
			}
		}
		if w.Paused {
			add("paused")
		}
		add(w.Reason)
		add(StateText(w.State, now))
	case worker.StatusPending:
		add(w.Reason)
	case worker.StatusStopped:
		add(ExitText(w))
	case worker.StatusLost:
		add(cmp.Or(w.Reason, "shim died, exit unknown"))
		if len(w.Survivors) > 0 {
			add("still alive: " + processList(w.Survivors))
		}
		add(w.Perhaps())
	case worker.StatusStarting:
		add("for " + humane.Age(now.Sub(w.Created)))
	default:
		add(cmp.Or(w.Reason, "its backend can't be asked"))
	}
	running, stopped := w.Status == worker.StatusRunning, w.Status == worker.StatusStopped
	if running || stopped || w.Status == worker.StatusLost {
		switch {
		case w.Restarts == 0 || w.InCrashLoop(): // that says how often
		case w.Restarts == 1:
			add("restarted once")
		default:
			add(fmt.Sprintf("restarted %d times", w.Restarts))
		}
		if w.Completion != nil {
			add(strings.TrimSuffix("completed: "+w.Completion.Summary, ": "))
		}
	}
	if w.Workspace != nil {
		add("worktree " + w.Workspace.Location())
	}
	switch {
	case w.Started.IsZero():
	case running && !w.BetweenStarts():
		add("uptime " + humane.Age(now.Sub(w.Started)))
	case stopped && !w.Ended.IsZero():
		add("ran " + humane.Age(w.Ended.Sub(w.Started)))
	}
	return fmt.Sprintf("%s: %s (%s)", w.Name, w.Status, strings.Join(facts, ", "))
}

// MissingPlace is "no window" for a worker whose window is gone.
func MissingPlace(w worker.Worker) string {
	kind := strings.Fields(w.Where.Kind)
	if len(kind) == 0 || w.Where.Name != "" {
		return ""
	}
	return "no " + kind[len(kind)-1]
}

// ExitText is "exit 3", "killed SIGKILL" or "exit 1, crash loop: restarted 5 times within 60s".
func ExitText(w worker.Worker) string {
	if w.Exit == nil {
		return cmp.Or(w.Reason, "exit unknown")
	}
	text := fmt.Sprintf("exit %d", w.Exit.Code)
	switch {
	case w.Exit.Cause == swarm.CauseOutOfMemory:
		return strings.TrimSuffix("out of memory ("+w.Exit.Reason+")", " ()")
	case w.Exit.Signal != "":
		text = "killed " + w.Exit.Signal
	case w.Exit.Code < 0:
		return cmp.Or(w.Exit.Reason, "never started")
	}
	if w.Exit.Cause == swarm.CauseEvicted {
		text = strings.TrimSuffix(text+", "+w.Exit.Reason, ", ")
	}
	if w.InCrashLoop() {
		text = strings.TrimSuffix(text+", crash loop: "+w.Exit.Reason, ": ")
	}
	return text
}

// StateText is "idle for 5m", or "asks: Proceed? (1 Yes, 2 No)"; empty for a worker
// without a state.
func StateText(s *judgement.State, now time.Time) string {
	if s == nil {
		return ""
	}
	var text string
	switch s.State {
	case profile.Blocked:
		text = AsksText(s.Question, s.Choices)
	case profile.Unknown:
		text = "state unknown"
	default:
		text = string(s.State)
		if !s.Since.IsZero() {
			text += " for " + humane.Age(now.Sub(s.Since))
		}
		if s.Reason != "" {
			text += ": " + s.Reason
		}
	}
	if s.Broken != "" && s.State != profile.Limited && s.State != profile.Broken {
		text += ", shows an error: " + s.Broken
	}
	return text
}

// AsksText is "asks: Proceed? (1 Yes, 2 No)".
func AsksText(question string, choices []profile.Choice) string {
	return "asks: " + deliver.Dialog(question, choices)
}

// exitUnknown is the exit code for a worker whose own one is unknown.
const exitUnknown = 125

// DialogLines returns the whole of what a blocked agent asks, fit for a terminal; nil if its
// screen does not show it.
func DialogLines(s *judgement.State) []string {
	if s == nil || s.State != profile.Blocked || len(s.Dialog.Lines) == 0 {
		return nil
	}
	return dash.DialogLines(s.Dialog, true)
}

// ExitCode returns the worker's exit code as a shell reports it.
func ExitCode(w worker.Worker) int {
	if w.Status != worker.StatusStopped || w.Exit == nil {
		return exitUnknown
	}
	switch n := proc.SignalNumber(w.Exit.Signal); {
	case n != 0:
		return 128 + int(n)
	case w.Exit.Signal != "" || w.Exit.Code < 0:
		return exitUnknown
	default:
		return w.Exit.Code
	}
}
