package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

type waitOptions struct {
	command.Selection
	timeout *time.Duration
	until   []profile.State // nil: the end
	json    bool
}

func NewWait(a *app.App) *cobra.Command {
	o := &waitOptions{}
	cmd := &cobra.Command{
		Use:   "wait NAME... | --all | --tag TAG",
		Short: "Wait until workers end",
		Long: `Wait until all of the given workers have ended, and print each one as it ends.
Workers that ended before count. Nothing is polled and nothing is changed.

With --until, wait until each of them is in one of the states: idle (at its prompt),
blocked (it asks something), working, background (its turn has ended, its background work
runs on), compacting, limited (it stopped at a usage limit) or broken (it stopped with an
error, or needs a sign-in). This works for agents that have a profile and a terminal. It
is an error if a worker ends before. A wait for idle fails with the reason if an agent is
limited or broken, unless that state is waited for, too; it continues while an agent asks
something, or has work in the background.

For a worker that failed, a line on stderr says how. The wait for a lost worker ends at
once; if its main process is perhaps alive, a line on stderr says which process that is.

Exit code for one worker: its own; 128+N if signal N ended it; 125 if its exit can't be
known. For several workers: 0 if all exited with 0, else 1. 124 if the time has run out.
With --until: 0 once all are in such a state; 4 if an agent is limited and 5 if it is
broken while an idle one is waited for.`,
		Example: `  swarm wait build && echo done
  swarm wait agent --until idle,blocked --timeout 10m
  swarm wait test lint --timeout 10m
  swarm wait --all`,
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error {
			if o.until != nil {
				return runWaitUntil(ctx, a, sel, o)
			}
			return runWait(ctx, a, sel, o)
		}),
	}
	o.AddTo(cmd, a)
	cmd.Flags().Var(command.Duration(&o.timeout), "timeout", "how long to wait at most")
	cmd.Flags().Var(command.Parsed(&o.until, "state", parseStates), "until", "wait for a state of agents instead: idle, blocked, working, background, compacting, limited, broken, ended (default: ended)")
	command.CompleteWith(cmd, "until", "idle", "blocked", "working", "background", "compacting", "limited", "broken", "idle,blocked", untilEnded)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the workers as JSON at the end")
	return cmd
}

func runWait(ctx context.Context, a *app.App, sel worker.Selection, o *waitOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		waiting, cancel := command.Limit(ctx, o.timeout)
		defer cancel()
		var ended []worker.Worker
		end := func(w worker.Worker) {
			ended = append(ended, w)
			if !o.json {
				printEnd(a, w)
			}
		}
		err := h.Wait(waiting, sel, end)
		over := command.Over(waiting, err)
		if err != nil && over == nil {
			return err
		}
		if err == nil && len(ended) == 0 {
			a.NoWorkers(sel, "")
		}
		if over != nil {
			var late []worker.Worker
			late, over = stillRunning(ctx, h, sel, ended, over)
			for _, w := range late {
				end(w)
			}
		}
		if o.json {
			if err := a.PrintJSON(view.WorkersJSONIn(a, ended)); err != nil {
				return err
			}
		}
		if over != nil {
			return over
		}
		if code := waitCode(ended); code != 0 {
			return &output.CodeError{Code: code}
		}
		return nil
	})
}

// stillRunning checks the workers of a wait once more after its time has run out. It returns
// those that have ended meanwhile, and an error that names the others; it is nil if all
// have ended.
func stillRunning(ctx context.Context, h *host.Host, sel worker.Selection, ended []worker.Worker, over error) ([]worker.Worker, error) {
	workers, _, err := h.Workers(ctx, sel)
	if err != nil {
		return nil, over
	}
	var late []worker.Worker
	var names []string
	for _, w := range workers {
		switch {
		case slices.ContainsFunc(ended, func(e worker.Worker) bool { return e.ID == w.ID }):
		case w.Status == worker.StatusStopped:
			late = append(late, w)
		case !w.Gone():
			names = append(names, w.Name)
		}
	}
	switch {
	case names != nil:
		return late, &output.CodeError{Code: output.ExitTimeout, Err: fmt.Errorf("%w; still running: %s", over, strings.Join(names, ", "))}
	case len(ended)+len(late) == len(workers):
		return late, nil
	default:
		return late, over
	}
}

func printEnd(a *app.App, w worker.Worker) {
	text := string(w.Status)
	if w.Status == worker.StatusStopped {
		text = "exited"
		if w.Exit != nil && w.Exit.Cause == swarm.CauseOutOfMemory {
			text = view.ExitText(w)
		}
	}
	a.Printf("%s: %s\n", w.Name, text)
	if c := condition.Of(w); c.Kind == condition.Failed && text == "exited" {
		a.Hint(w.Name + " " + c.Text)
	}
	if perhaps := w.Perhaps(); w.Status == worker.StatusLost && perhaps != "" {
		a.Warn(fmt.Sprintf("'%s' is lost: its end can't be seen; %s", w.Name, perhaps), fmt.Sprintf("'swarm status %s' says when it is gone", w.Name))
	}
	if w.Status == worker.StatusUnknown {
		a.Warn(fmt.Sprintf("cannot get the status of '%s': %s", w.Name, cmp.Or(w.Reason, "its backend can't be asked")), "")
	}
}

// waitCode returns the exit code of the only worker, or one for all workers.
func waitCode(ws []worker.Worker) int {
	if len(ws) == 1 {
		return view.ExitCode(ws[0])
	}
	if slices.ContainsFunc(ws, func(w worker.Worker) bool { return view.ExitCode(w) != 0 }) {
		return output.ExitFailed
	}
	return 0
}

const untilEnded = "ended"

// parseStates reads "idle" or "idle,blocked".
func parseStates(s string) (states []profile.State, err error) {
	words := strings.Split(s, ",")
	for _, word := range words {
		switch state := profile.State(word); state {
		case profile.Idle, profile.Blocked, profile.Working, profile.Background, profile.Compacting, profile.Limited, profile.Broken:
			states = append(states, state)
		case untilEnded:
			if len(words) > 1 {
				return nil, errors.New("'ended' can't be combined with another state: every wait ends when the worker does")
			}
		default:
			return nil, errors.New("expected idle, blocked, working, background, compacting, limited, broken or ended, or several such as idle,blocked")
		}
	}
	return states, nil
}

func runWaitUntil(ctx context.Context, a *app.App, sel worker.Selection, o *waitOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		waiting, cancel := command.Limit(ctx, o.timeout)
		defer cancel()
		names, err := a.NamesOrRunning(ctx, h, sel)
		if err != nil {
			return err
		}
		var (
			mu     sync.Mutex
			late   []string
			all    sync.WaitGroup
			seen   []worker.Worker
			failed error
		)
		for _, name := range names {
			all.Go(func() {
				w, err := h.Display().WaitState(waiting, name, o.until)
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, worker.ErrEnded) && w.Name != "" {
					err = fmt.Errorf("'%s' ended before it was %s (%s)", w.Name, strings.Join(output.List(o.until, func(s profile.State) string { return string(s) }), " or "), view.ExitText(w))
				}
				switch {
				case err == nil:
					seen = append(seen, w)
					if !o.json {
						printState(a, w)
					}
				case w.State != nil:
					late = append(late, strings.TrimSpace(fmt.Sprintf("'%s' %s", w.Name, view.StateText(w.State, time.Now()))))
				}
				failed = errors.Join(failed, err)
			})
		}
		all.Wait()
		over := command.Over(waiting, failed)
		if failed != nil && over == nil {
			return stopped(failed)
		}
		if o.json {
			slices.SortFunc(seen, func(x, y worker.Worker) int { return strings.Compare(x.ID, y.ID) })
			if err := a.PrintJSON(view.WorkersJSONIn(a, seen)); err != nil {
				return err
			}
		}
		if over != nil && late != nil {
			slices.Sort(late)
			over = &output.CodeError{Code: output.ExitTimeout, Err: fmt.Errorf("%w: %s", over, strings.Join(late, "; "))}
		}
		return over
	})
}

// stopped gives the error of an agent that stopped an exit code of its own.
func stopped(err error) error {
	s, ok := errors.AsType[*display.StoppedError](err)
	switch {
	case !ok:
		return err
	case s.State == profile.Limited:
		return &output.CodeError{Code: output.ExitLimited, Err: err}
	default:
		return &output.CodeError{Code: output.ExitBroken, Err: err}
	}
}

// printState prints "NAME: idle", "NAME: blocked: Proceed? (1 Yes, 2 No)" or "NAME: limited:
// You've hit your limit".
func printState(a *app.App, w worker.Worker) {
	text := string(w.State.State)
	if w.State.State == profile.Blocked {
		text += ": " + deliver.Dialog(w.State.Question, w.State.Choices)
	} else if w.State.Reason != "" {
		text += ": " + w.State.Reason
	}
	a.Printf("%s: %s\n", w.Name, text)
}
