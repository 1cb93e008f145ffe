package ralph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
)

type resumeOptions struct {
	iterations *int
	maxTime    *time.Duration
	continues  bool
	json       bool
}

func newResume(a *app.App) *cobra.Command {
	o := &resumeOptions{}
	cmd := &cobra.Command{
		Use:   "resume NAME",
		Short: "Resume a loop",
		Long: `Resume a loop that was paused, that was stopped by its agent's question, whose worker
has ended, or that waits for the end of a usage limit. A worker that has ended is
started again with the same settings and a new id. An iteration that was killed is
repeated; one that had ended is not. A failed loop counts its failures from zero again,
and a loop that has reached its last iteration, or used all of its time, gets more.

With --continue the next iteration continues the agent's conversation of the previous
one.`,
		Example: `  swarm ralph resume agent
  swarm ralph resume agent --max-iterations 100`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkMaxTime(o.maxTime); err != nil {
				return err
			}
			return runResume(cmd.Context(), a, args[0], o)
		},
	}
	cmd.Flags().Var(command.Count(&o.iterations, 1), "max-iterations", "how many iterations at most, in all (default: as before)")
	cmd.Flags().Var(command.Duration(&o.maxTime), "max-time", "how long all iterations may take together, in all (default: as before)")
	cmd.Flags().BoolVar(&o.continues, "continue", false, "continue the agent's conversation in the next iteration")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the loop as JSON")
	return cmd
}

func runResume(ctx context.Context, a *app.App, name string, o *resumeOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		loops := ralph.NewStore(h.Dir())
		w, err := ralphWorker(ctx, a, h, name)
		if err != nil {
			return resumeHint(loops, err, name)
		}
		release, err := loops.Claim(ctx, w.Name)
		if err != nil {
			return err
		}
		defer release()
		// Another call may have started or ended it while this one waited.
		if w, err = ralphWorker(ctx, a, h, w.Name); err != nil {
			return resumeHint(loops, err, name)
		}
		running := runs(w)
		if err := stillAsks(ctx, h, loops, w); err != nil {
			return err
		}
		var before ralph.State
		after, err := loops.Change(ctx, w.Name, func(st *ralph.State) error {
			before = *st
			if err := o.resume(st, running); err != nil || !o.continues {
				return err
			}
			profiles, _ := h.Profiles()
			if err := ralph.Resumes(profiles, st); err != nil {
				return err
			}
			return ralph.ContinueNext(st, lastSession(h, st, w))
		})
		switch {
		case errors.Is(err, errUnchanged): // it is running
			a.Warn(fmt.Sprintf("worker '%s' is not paused", w.Name), "")
		case err != nil:
			return noLoop(err)
		case !running:
			again, err := h.Spawn().Respawn(ctx, w.ID, spawn.RespawnRequest{
				Warn:   func(w worker.Warning) { a.Warn(w.Text, w.Hint) },
				Notice: a.Hint,
			})
			if err != nil {
				later, cancel := afterwards(ctx)
				defer cancel()
				if now, lookErr := ralphWorker(later, a, h, w.Name); lookErr == nil && runs(now) {
					return err // another call has started it
				}
				return errors.Join(err, putBack(later, loops, before, after))
			}
			w = again
		}
		if o.json {
			return a.PrintJSON(loopJSONOf(loops, after, w))
		}
		if err == nil {
			a.Printf("resumed ralph loop for %s\n", w.Name)
		}
		return nil
	})
}

// stillAsks returns an error if a loop has stopped at a dialog that its agent still shows.
func stillAsks(ctx context.Context, h *host.Host, loops ralph.Store, w worker.Worker) error {
	st, err := loops.Load(w.Name)
	if err != nil || !runs(w) || st.Status != ralph.Paused || st.Dialog == "" {
		return nil //nolint:nilerr // the resumption itself says what is wrong
	}
	states, err := h.Display().StatesOf(ctx, []string{w.ID})
	s := states[w.ID]
	if err != nil || s == nil || s.State != profile.Blocked {
		return nil //nolint:nilerr // an agent that can't be seen does not prevent a resume
	}
	hint := fmt.Sprintf("answer it in 'swarm attach %s' first", w.Name)
	if len(s.Choices) > 0 {
		hint = fmt.Sprintf("answer it first with 'swarm answer %s CHOICE'", w.Name)
	}
	return output.WithHint(fmt.Errorf("'%s' still asks: %s", w.Name, deliver.Dialog(s.Question, s.Choices)), hint)
}

// lastSession returns the conversation that the hooks of a loop's agent reported in its
// last iteration, or "".
func lastSession(h *host.Host, st *ralph.State, w worker.Worker) string {
	c, err := hookstate.Read(h.RunDir(w.ID))
	if err != nil || c.At.Before(st.IterationStarted) {
		return ""
	}
	return c.Session
}

func (o *resumeOptions) resume(st *ralph.State, running bool) error {
	more := o.iterations != nil && *o.iterations != st.MaxIterations
	if more {
		st.MaxIterations = *o.iterations
	}
	if o.maxTime != nil && ralph.Seconds(*o.maxTime) != st.MaxTime {
		st.MaxTime, more = ralph.Seconds(*o.maxTime), true
	}
	used, limit, spent := st.Spent()
	switch status, _ := loopStatus(*st, running); {
	case running && status == ralph.Running && !more && st.LimitUntil.IsZero():
		return errUnchanged
	case running && status != ralph.Running && status != ralph.Paused:
		// The loop has just ended, and its worker is about to.
		return ralph.Ended(st.Name, status)
	case st.Complete():
		return output.WithHint(fmt.Errorf("ralph loop for '%s' is complete (%d of %d iterations)", st.Name, st.Iteration, st.MaxIterations),
			"use --max-iterations to add more")
	case spent:
		return output.WithHint(fmt.Errorf("ralph loop for '%s' has used its time (%s of %s)", st.Name, humane.Age(used), humane.Age(limit)),
			"use --max-time to add more")
	}
	st.Status, st.ExitReason = ralph.Running, ""
	st.NoLimit()
	st.Still = 0
	if st.Failures >= ralph.MaxFailures {
		st.Failures = 0
	}
	return nil
}

// putBack undoes a change, unless another change followed.
func putBack(ctx context.Context, loops ralph.Store, before, after ralph.State) error {
	_, err := loops.Change(ctx, before.Name, func(st *ralph.State) error {
		if st.Status == after.Status {
			st.Status, st.ExitReason = before.Status, before.ExitReason
			st.MaxIterations, st.MaxTime, st.Failures = before.MaxIterations, before.MaxTime, before.Failures
		}
		return nil
	})
	return err
}

func resumeHint(loops ralph.Store, err error, name string) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if _, loadErr := loops.Load(name); loadErr != nil {
		return err
	}
	return output.WithHint(err, "its loop is known, but not the command of its worker: start a new loop with 'swarm ralph spawn'")
}
