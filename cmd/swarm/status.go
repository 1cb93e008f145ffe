package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The exit codes of status beside 0 for a running worker.
const (
	statusStopped  = 1
	statusNotFound = 2
	statusUnclear  = 3
)

type statusOptions struct{ json bool }

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show a worker's status",
		Long: `Show in one line the status of a worker. It is checked now, at the worker itself;
nothing is changed. An exit code is always the real one: if it can never be known, the
worker is "lost". For a running agent, the line also says whether its screen shows that
it works, is idle or asks something, and what; 'swarm explain' shows why.

Exit code: 0 running, 1 ended, 2 no such worker, 3 anything else (starting,
unknown, or lost with processes that are still alive).`,
		Example: `  swarm status build
  swarm status build > /dev/null || swarm spawn --name build2 -- make watch
  swarm status build --json | jq .exit.code`,
		Args:              arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.completeOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.status(cmd.Context(), args[0], o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the worker as JSON")
	return cmd
}

func (a *app) status(ctx context.Context, name string, o *statusOptions) error {
	return a.withHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, host.Selection{Names: []string{name}, States: true})
		if errors.Is(err, host.ErrNotFound) {
			return &codeError{code: statusNotFound, err: err}
		}
		if err != nil {
			return &codeError{code: statusUnclear, err: err}
		}
		for _, text := range warnings {
			a.warn(text, "")
		}
		if len(workers) == 0 {
			return &codeError{code: statusUnclear}
		}
		w := workers[0]
		if o.json {
			err = a.printJSON(a.workerJSON(w))
		} else {
			a.printf("%s\n", statusLine(w, time.Now()))
			a.lastWords(ctx, h, w)
		}
		if code := statusCode(w); err == nil && code != 0 {
			return &codeError{code: code}
		}
		return err
	})
}

// crashLines is how many of the last lines of a worker in a crash loop are told.
const crashLines = 5

// lastWords tells on stderr what a worker wrote before it was given up.
func (a *app) lastWords(ctx context.Context, h *host.Host, w host.Worker) {
	if !inCrashLoop(w) {
		return
	}
	last := crashLines
	peek, err := h.Peek(ctx, w.ID, last)
	if err != nil || len(peek.Lines) == 0 {
		return // status has said what it was asked for
	}
	a.hint("its last lines:")
	for _, line := range peek.Lines[max(0, len(peek.Lines)-last):] {
		a.hint("  " + line)
	}
}

func statusCode(w host.Worker) int {
	switch {
	case w.Status == host.StatusRunning:
		return 0
	case w.Gone():
		return statusStopped
	default:
		return statusUnclear
	}
}

// statusLine is "NAME: STATUS (facts)".
func statusLine(w host.Worker, now time.Time) string {
	var facts []string
	add := func(format string, args ...any) { facts = append(facts, visible(fmt.Sprintf(format, args...))) }
	addPlace := func() {
		if w.Where.Name != "" {
			add("%s %s", w.Where.Kind, w.Where.Name)
			return
		}
		if missing := missingPlace(w); missing != "" {
			add("%s", missing)
		}
		if w.PID != 0 {
			add("pid %d", w.PID)
		}
	}
	addWorktree := func() {
		if w.Workspace != nil {
			add("worktree %s", w.Workspace.Path)
		}
	}
	addLife := func() {
		switch {
		case w.Restarts == 0 || inCrashLoop(w): // that says how often
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
		if w.Reason != "" {
			add("%s", w.Reason)
		}
		if text := stateText(w.State, now); text != "" {
			add("%s", text)
		}
		addLife()
		addWorktree()
		if !betweenStarts(w) && !w.Started.IsZero() {
			add("uptime %s", formatAge(now.Sub(w.Started)))
		}
	case host.StatusStopped:
		add("%s", exitText(w))
		addLife()
		addWorktree()
		if !w.Started.IsZero() && !w.Ended.IsZero() {
			add("ran %s", formatAge(w.Ended.Sub(w.Started)))
		}
	case host.StatusLost:
		add("%s", orText(w.Reason, "keeper died, exit unknown"))
		if len(w.Survivors) > 0 {
			add("still alive: %s", processList(w.Survivors))
		}
		addLife()
		addWorktree()
	case host.StatusStarting:
		add("for %s", formatAge(now.Sub(w.Created)))
		addWorktree()
	default:
		add("%s", orText(w.Reason, "its backend can't be asked"))
		addWorktree()
	}
	return fmt.Sprintf("%s: %s (%s)", w.Name, w.Status, strings.Join(facts, ", "))
}

// missingPlace is "no window" for a worker whose window is gone.
func missingPlace(w host.Worker) string {
	kind := strings.Fields(w.Where.Kind)
	if len(kind) == 0 || w.Where.Name != "" {
		return ""
	}
	return "no " + kind[len(kind)-1]
}

// inCrashLoop reports whether a worker was given up by its restart policy.
func inCrashLoop(w host.Worker) bool { return w.Exit != nil && w.Exit.Cause == swarm.CauseCrashLoop }

// betweenStarts reports whether a worker waits for its restart.
func betweenStarts(w host.Worker) bool {
	return w.Status == host.StatusRunning && w.PID == 0 && w.Restart.When != swarm.RestartNo
}

// exitText is "exit 3", "killed SIGKILL" or "exit 1, crash loop: restarted 5 times within 60s".
func exitText(w host.Worker) string {
	if w.Exit == nil {
		return orText(w.Reason, "exit unknown")
	}
	text := fmt.Sprintf("exit %d", w.Exit.Code)
	switch {
	case w.Exit.Signal != "":
		text = "killed " + w.Exit.Signal
	case w.Exit.Code < 0:
		return orText(w.Exit.Reason, "never started")
	}
	if inCrashLoop(w) {
		text = strings.TrimSuffix(text+", crash loop: "+w.Exit.Reason, ": ")
	}
	return text
}

func orText(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
