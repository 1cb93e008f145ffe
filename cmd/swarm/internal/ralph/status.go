package ralph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/humane"
)

const (
	// stuckAfter is when an agent without output may be stuck.
	stuckAfter = time.Minute
	// stuckLines is how many of its last lines are shown then.
	stuckLines = 5
)

func newStatus(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show a loop's progress",
		Long: `Show a loop's progress, whether its worker runs, has ended, or was cleaned. Nothing
is changed.`,
		Example: `  swarm ralph status agent
  swarm ralph status agent --json | jq .current_iteration`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE:              func(cmd *cobra.Command, args []string) error { return runStatus(cmd.Context(), a, args[0], json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the loop as JSON")
	return cmd
}

func runStatus(ctx context.Context, a *app.App, name string, json bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		loops := ralph.NewStore(h.Dir())
		worker, err := ralphWorker(ctx, a, h, name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			name = worker.Name
		}
		st, loadErr := loops.Load(name)
		if errors.Is(loadErr, ralph.ErrNoState) && err != nil {
			return err // neither one nor the other
		}
		if loadErr != nil {
			return noLoop(loadErr)
		}
		l := loopJSONOf(loops, st, worker)
		if json {
			return a.PrintJSON(l)
		}
		r := loopReport{loopJSON: l, now: time.Now(), last: loops.LastOutput(st.Name)}
		if r.stuck() {
			if p, err := h.Display().Peek(ctx, worker.ID, stuckLines); err == nil {
				r.lines = p.Lines
			}
		}
		a.Printf("%s", output.Made(r.text()))
		return nil
	})
}

type loopReport struct {
	loopJSON
	now, last time.Time
	lines     []string
}

// stuck reports whether the agent of a loop that runs has been silent for long.
func (r *loopReport) stuck() bool {
	return r.Status == ralph.Running && r.Open() && !r.last.IsZero() && r.now.Sub(r.last) > stuckAfter
}

func (r *loopReport) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(output.Visible(fmt.Sprintf(format, args...)) + "\n") }
	line("Ralph Loop: %s", r.Name)
	if r.stuck() {
		line("Status: %s (possibly stuck — no output change for %s)", r.Status, humane.Age(r.now.Sub(r.last)))
	} else {
		line("Status: %s", r.Status)
	}
	line("Worker status: %s", r.WorkerStatus)
	for _, text := range r.nextSteps() {
		line("%s", text)
	}
	line("Iteration: %d/%d%s", r.Iteration, r.MaxIterations, r.pace())
	line("Started: %s", clock(r.Started))
	switch {
	case !r.Open():
		line("Last iteration ended: %s", clock(r.IterationEnded))
	case !r.IterationStarted.IsZero():
		line("Current iteration started: %s", clock(r.IterationStarted))
	}
	line("Consecutive failures: %d", r.Failures)
	line("Total failures: %d", r.TotalFailures)
	switch {
	case r.Still > 0 && r.NoProgress > 0:
		line("Iterations without progress: %d of %d", r.Still, r.NoProgress)
	case r.Still > 0:
		line("Iterations without progress: %d", r.Still)
	}
	if r.MaxTime > 0 {
		line("Time used: %s of %s", humane.Age(time.Duration(r.TimeUsed)), humane.Age(time.Duration(r.MaxTime)))
	}
	if r.MaxPerHour > 0 {
		line("Iterations in the last hour: %d of %d", r.lastHour(), r.MaxPerHour)
	}
	line("Inactivity timeout: %s", inactivityText(time.Duration(r.Inactivity)))
	line("Last screen change: %s", r.lastText())
	line("Done pattern: %s", cmp.Or(r.DonePattern, "(none)"))
	if len(r.lines) > 0 {
		line("Last output:")
		for _, text := range r.lines {
			line("  %s", text)
		}
	}
	line("Exit reason: %s", r.reason())
	return b.String()
}

func (r *loopReport) lastHour() int {
	n := 0
	for _, at := range r.Starts {
		if r.now.Sub(at) < time.Hour {
			n++
		}
	}
	return n
}

// nextSteps returns what the loop waits for and how to continue it.
func (r *loopReport) nextSteps() []string {
	stopped := r.Status == ralph.Paused && r.ExitReason == ralph.ReasonDialog
	switch {
	case stopped && r.Dialog == "":
		return []string{fmt.Sprintf("The agent's question was answered: continue with 'swarm ralph resume %s'", r.Name)}
	case stopped && len(r.Choices) > 0:
		return []string{
			"Waiting for a person: " + r.Dialog,
			fmt.Sprintf("Answer it with 'swarm answer %[1]s CHOICE', then continue with 'swarm ralph resume %[1]s'", r.Name),
		}
	case stopped:
		return []string{
			"Waiting for a person: " + r.Dialog,
			fmt.Sprintf("Answer it in 'swarm attach %[1]s' or with 'swarm keys %[1]s KEY', then continue with 'swarm ralph resume %[1]s'", r.Name),
		}
	case r.Dialog != "" && r.Status == ralph.Running:
		return []string{fmt.Sprintf("Waiting for a person: %s (answer it with 'swarm attach %s')", r.Dialog, r.Name)}
	case r.Status == ralph.Paused && r.ExitReason == ralph.ReasonProgress:
		return []string{
			"Paused without progress: " + r.StillText(),
			fmt.Sprintf("See what it does in 'swarm logs %[1]s', then continue with 'swarm ralph resume %[1]s'", r.Name),
		}
	case r.LimitHourly && !r.LimitUntil.IsZero() && (r.Status == ralph.Running || r.Status == ralph.Paused):
		return []string{
			fmt.Sprintf("Waiting until %s: %s", clock(r.LimitUntil), r.Limit),
			fmt.Sprintf("Continue at once with 'swarm ralph resume %s'", r.Name),
		}
	case !r.LimitUntil.IsZero() && (r.Status == ralph.Running || r.Status == ralph.Paused):
		return []string{
			fmt.Sprintf("Waiting for the end of a usage limit, until %s: %s", clock(r.LimitUntil), r.Limit),
			fmt.Sprintf("Continue at once with 'swarm ralph resume %s'", r.Name),
		}
	default:
		return nil
	}
}

// pace returns the mean time of an iteration, and the expected time of all remaining ones.
func (r *loopReport) pace() string {
	average := r.Average()
	if average == 0 {
		return ""
	}
	text := fmt.Sprintf(" (avg %s/iter", humane.Age(average))
	left := r.MaxIterations - r.Iteration
	if r.Open() {
		left++
	}
	if left > 0 && (r.Status == ralph.Running || r.Status == ralph.Paused) {
		text += fmt.Sprintf(", ~%s remaining", humane.Age(average*time.Duration(left)))
	}
	return text + ")"
}

func (r *loopReport) lastText() string {
	if r.last.IsZero() {
		return "(none)"
	}
	return humane.Age(r.now.Sub(r.last)) + " ago"
}

func (r *loopReport) reason() string {
	switch {
	case r.ExitReason == ralph.ReasonDialog && r.Dialog != "":
		return string(r.ExitReason) + ": " + r.Dialog
	case r.ExitReason != "":
		return string(r.ExitReason)
	case r.Status == ralph.Running:
		return "(none - still running)"
	default:
		return "(none)"
	}
}

func inactivityText(d time.Duration) string {
	if d == 0 {
		return "(none)"
	}
	return fmt.Sprintf("%gs", d.Seconds())
}

func clock(t time.Time) string { return t.Local().Format(ralph.ClockFormat) }
