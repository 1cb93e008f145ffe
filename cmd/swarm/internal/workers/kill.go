package workers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

type KillOptions struct {
	command.Selection
	signal     string
	Timeout    *time.Duration
	noForce    bool
	force      bool
	RmWorktree bool
	ForceDirty bool
	JSON       bool
}

func NewKill(a *app.App) *cobra.Command {
	o := &KillOptions{Selection: command.Selection{Nothing: worker.ErrNoSelection}}
	cmd := &cobra.Command{
		Use:   "kill NAME... | --all | --tag TAG",
		Short: "End workers and everything they started",
		Long: `End workers, all at the same time. "killed NAME" means that no process of the worker
remains: neither its main process, nor children, nor daemons that it started.
Processes that can't be ended are named, and the exit code is 1. For a worker that had
already ended, a line on stderr says how.

A worker gets its gentle signal (SIGTERM, or the close of its window), then its
grace (5 seconds), then SIGKILL, unless it was spawned with another policy. With
--timeout, SIGKILL follows that time whatever the policy says, unless --no-force is
given. --force sends SIGKILL to all processes at once. If this call is interrupted, the
kill continues.

With --rm-worktree the worker's git worktree is removed afterwards, unless work would
be lost. --force-dirty removes it with uncommitted changes too; they are saved
before, and the command that brings them back is printed. No branch is ever
deleted.`,
		Example: `  swarm kill agent
  swarm kill --all
  swarm kill --tag login --rm-worktree
  swarm kill stuck --force
  swarm kill server --signal INT --timeout 1m --no-force`,
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error {
			if o.force && (o.noForce || o.signal != "" || o.Timeout != nil) {
				return output.Usagef("--force sends SIGKILL at once: it goes with none of --no-force, --signal and --timeout")
			}
			return RunKill(ctx, a, sel, o)
		}),
	}
	o.AddTo(cmd, a)
	o.AddEnding(cmd, "how long they may take to end, in place of their own grace")
	f := cmd.Flags()
	f.Var(command.Signal(&o.signal), "signal", "first signal, a name or a number, in place of the workers' own")
	f.BoolVar(&o.force, "force", false, "send SIGKILL to every process at once, whatever their policies say")
	f.BoolVar(&o.noForce, "no-force", false, "send no SIGKILL: processes that are still alive then continue")
	command.CompleteWith(cmd, "signal", swarm.Signals()...)
	return cmd
}

// AddEnding adds the flags that every verb has that ends several workers.
func (o *KillOptions) AddEnding(cmd *cobra.Command, timeout string) {
	f := cmd.Flags()
	f.Var(command.Duration(&o.Timeout), "timeout", timeout)
	f.BoolVar(&o.RmWorktree, "rm-worktree", false, "remove their workspaces, such as git worktrees, afterwards")
	f.BoolVar(&o.ForceDirty, "force-dirty", false, "remove workspaces with uncommitted changes too, after saving them")
	f.BoolVar(&o.JSON, "json", false, "print the results as JSON")
}

func RunKill(ctx context.Context, a *app.App, sel worker.Selection, o *KillOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		k, request := NewKiller(a, o)
		outcomes, err := h.Kill().Kill(ctx, sel, request)
		if err == nil && len(outcomes) == 0 {
			a.NoWorkers(sel, "")
		}
		return k.Result(err)
	})
}

// Killer prints the outcomes of one kill as they come.
type Killer struct {
	*app.App
	json     bool
	Progress *output.Progress
	failed   bool
	// outcomes are those so far; answered says that they were printed.
	outcomes []kill.Outcome
	answered bool
	// left are the workers whose end the call did not wait for.
	left []string
}

// NewKiller returns a Killer, and the request of the kill whose outcomes it prints.
func NewKiller(a *app.App, o *KillOptions) (*Killer, kill.Request) {
	k := &Killer{App: a, json: o.JSON, Progress: output.NewProgress(a.Err, a.ErrWidth)}
	request := kill.Request{
		Signal:          o.signal,
		Grace:           o.Timeout,
		AtOnce:          o.force,
		RemoveWorkspace: o.RmWorktree,
		ForceDirty:      o.ForceDirty,
		Progress:        k.Progress.Event,
		Done:            k.done,
		Warn:            func(w worker.Warning) { k.Progress.Aside(func() { k.Warn(w.Text, w.Hint) }) },
		Answer:          k.answer,
	}
	if o.noForce {
		request.Force = new(false)
	}
	return k, request
}

func (k *Killer) done(o kill.Outcome) {
	k.outcomes = append(k.outcomes, o)
	if errors.Is(o.Err, context.Canceled) {
		k.left = append(k.left, o.Worker.Name)
		return
	}
	k.Progress.Aside(func() {
		if o.Err != nil {
			k.failed = true
			k.Fail(o.Err)
		} else if !k.json {
			k.Printf("killed %s\n", o.Worker.Name)
		}
		view.Remarks(k.App, o.Warnings, o.Notices)
	})
}

// answer prints the last part: the caller may be among the workers that end now.
func (k *Killer) answer(outcomes []kill.Outcome) {
	k.Progress.Stop()
	k.answered = true
	if !k.json {
		k.Hint(alreadyEnded(outcomes))
	}
	if k.json && k.PrintJSON(output.List(outcomes, view.KillJSONOf)) != nil {
		k.failed = true
	}
}

// alreadyEnded is a line about the workers that had ended before the kill, which did nothing
// to them: "pay had already exited 0", or "30 had already ended"; empty if there are none.
func alreadyEnded(outcomes []kill.Outcome) string {
	var ended []worker.Worker
	for _, o := range outcomes {
		if o.AlreadyEnded {
			ended = append(ended, o.Worker)
		}
	}
	switch {
	case len(ended) == 0:
		return ""
	case len(ended) > 1:
		return fmt.Sprintf("%d had already ended", len(ended))
	}
	w := ended[0]
	if w.Exit != nil && w.Exit.Signal == "" && w.Exit.Code >= 0 && w.Exit.Cause != swarm.CauseOutOfMemory {
		return fmt.Sprintf("%s had already exited %d", w.Name, w.Exit.Code)
	}
	return fmt.Sprintf("%s had already ended (%s)", w.Name, view.ExitText(w))
}

// Result returns the error of the whole call, whose own error is err. It prints
// the results so far in any case.
func (k *Killer) Result(err error) error {
	k.Progress.Stop()
	if !k.answered && err != nil && len(k.outcomes) > 0 {
		k.answer(k.outcomes)
	}
	switch {
	case err != nil:
		return err
	case k.left != nil:
		k.Hint("interrupted; may still be running: " + strings.Join(k.left, ", "))
		k.Hint("a kill that has begun continues: see 'swarm status NAME'")
		return context.Canceled
	case k.failed:
		return output.Failed
	}
	return nil
}
