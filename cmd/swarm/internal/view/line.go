package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

func processList(ps []swarm.Process) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		if names[i] = output.OrText(p.Name, "process"); p.PID != 0 { // which is unknown for other machines
			names[i] = fmt.Sprintf("%s (pid %d)", names[i], p.PID)
		}
	}
	return strings.Join(names, " ")
}

// SpawnedWhere describes the location of a new worker: its window, or its process.
func SpawnedWhere(w host.Worker) string {
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
func StatusLine(w host.Worker, now time.Time) string {
	var facts []string
	add := func(format string, args ...any) { facts = append(facts, output.Visible(fmt.Sprintf(format, args...))) }
	addPlace := func() {
		if w.Where.Name != "" {
			add("%s %s", w.Where.Kind, w.Where.Name)
			return
		}
		if missing := MissingPlace(w); missing != "" {
			add("%s", missing)
		}
		if w.PID != 0 {
			add("pid %d", w.PID)
		}
	}
	addWorktree := func() {
		if w.Workspace != nil {
			add("worktree %s", w.Workspace.Location())
		}
	}
	addLife := func() {
		switch {
		case w.Restarts == 0 || w.InCrashLoop(): // that says how often
		case w.Restarts == 1:
			add("restarted once")
		default:
			add("restarted %d times", w.Restarts)
		}
		if w.Completion != nil {
			add("%s", strings.TrimSuffix("completed: "+w.Completion.Summary, ": "))
		}
	}
	switch w.Status {
	case host.StatusRunning:
		addPlace()
		if w.Paused {
			add("paused")
		}
		if w.Reason != "" {
			add("%s", w.Reason)
		}
		if text := StateText(w.State, now); text != "" {
			add("%s", text)
		}
		addLife()
		addWorktree()
		if !w.BetweenStarts() && !w.Started.IsZero() {
			add("uptime %s", humane.Age(now.Sub(w.Started)))
		}
	case host.StatusStopped:
		add("%s", ExitText(w))
		addLife()
		addWorktree()
		if !w.Started.IsZero() && !w.Ended.IsZero() {
			add("ran %s", humane.Age(w.Ended.Sub(w.Started)))
		}
	case host.StatusLost:
		add("%s", output.OrText(w.Reason, "shim died, exit unknown"))
		if len(w.Survivors) > 0 {
			add("still alive: %s", processList(w.Survivors))
		}
		addLife()
		addWorktree()
	case host.StatusStarting:
		add("for %s", humane.Age(now.Sub(w.Created)))
		addWorktree()
	default:
		add("%s", output.OrText(w.Reason, "its backend can't be asked"))
		addWorktree()
	}
	return fmt.Sprintf("%s: %s (%s)", w.Name, w.Status, strings.Join(facts, ", "))
}

// MissingPlace is "no window" for a worker whose window is gone.
func MissingPlace(w host.Worker) string {
	kind := strings.Fields(w.Where.Kind)
	if len(kind) == 0 || w.Where.Name != "" {
		return ""
	}
	return "no " + kind[len(kind)-1]
}

// ExitText is "exit 3", "killed SIGKILL" or "exit 1, crash loop: restarted 5 times within 60s".
func ExitText(w host.Worker) string {
	if w.Exit == nil {
		return output.OrText(w.Reason, "exit unknown")
	}
	text := fmt.Sprintf("exit %d", w.Exit.Code)
	switch {
	case w.Exit.Cause == swarm.CauseOutOfMemory:
		return strings.TrimSuffix("out of memory ("+w.Exit.Reason+")", " ()")
	case w.Exit.Signal != "":
		text = "killed " + w.Exit.Signal
	case w.Exit.Code < 0:
		return output.OrText(w.Exit.Reason, "never started")
	}
	if w.InCrashLoop() {
		text = strings.TrimSuffix(text+", crash loop: "+w.Exit.Reason, ": ")
	}
	return text
}
