package sets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/pid1"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/locked"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/set"
	"github.com/swarmhost/swarm/host/worker"
)

type upOptions struct {
	dryRun   bool
	recreate bool
	orphans  bool
	follow   bool
	json     bool
}

func NewUp(a *app.App) *cobra.Command {
	o := &upOptions{}
	cmd := &cobra.Command{
		Use:   "up [NAME...]",
		Short: "Start the workers that swarm.toml declares",
		Long: `Start the workers that the project's swarm.toml declares in tables [workers.NAME]:
all of them, or the named ones and those that they depend on. A worker starts once
the workers that it depends on are ready; independent workers start at the same time.

A worker that runs as declared is not touched, so a second call changes nothing. A
worker that runs otherwise is not touched either, and is named with the differences;
--recreate ends it and starts it again. A worker that has ended is started again.

A worker that this file declared once and declares no more is an orphan: it is not touched,
and named. --remove-orphans ends the orphans, by their own policies, and cleans them, before
anything is started; a worktree with work in it stays. Workers of other files and those that
were spawned by hand are never orphans.

Mistakes in the file are reported before anything is started, and so are plugins that
differ from swarm.lock; those that are missing are installed if you say so. If one worker fails, the
workers that depend on it are not started, and the exit code is 1.

--follow prints the output of these workers afterwards, as 'swarm logs --follow' does,
until all of them have ended. Of a worker that ran before, it prints new output only.
Ctrl-C ends the printing and no worker.`,
		Example: `  swarm up
  swarm up web
  swarm up --follow
  swarm up --dry-run
  swarm up --recreate web
  swarm up --remove-orphans`,
		ValidArgsFunction: declared.CompleteDeclared(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.follow && o.dryRun:
				return output.Usagef("--follow and --dry-run exclude each other")
			case o.follow && o.json:
				return output.Usagef("--follow and --json exclude each other")
			}
			return runUp(cmd.Context(), a, args, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be done, and do nothing")
	f.BoolVar(&o.recreate, "recreate", false, "end workers that run otherwise than declared, and start them again")
	f.BoolVar(&o.orphans, "remove-orphans", false, "first end and clean workers that the file declares no more")
	f.BoolVarP(&o.follow, "follow", "f", false, "then print the output of these workers until they end")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func runUp(ctx context.Context, a *app.App, names []string, o *upOptions) error {
	output.FinishWriting()
	d, err := declared.LoadDeclared(ctx, a)
	if none, ok := errors.AsType[*declared.NoneError](err); ok {
		return onlyOrphans(ctx, a, none.Project, o.orphans, o.dryRun, err)
	}
	if err != nil {
		return err
	}
	if err := locked.Ensure(ctx, a, d.Loaded); err != nil {
		return err
	}
	if err := declared.Prepare(ctx, a, d, names); err != nil {
		return err
	}
	begun := time.Now()
	return a.With(ctx, d.Config, func(h *host.Host) error {
		left := orphans{App: a, project: d.Set.Project()}
		if left.all, err = d.Set.Orphans(ctx, h); err != nil {
			return err
		}
		if o.orphans {
			left.remove(ctx, h, o.dryRun, o.json)
		}
		u := upper{App: a, upOptions: o, progress: output.NewProgress(a.Err, a.ErrWidth)}
		req := set.UpRequest{
			Names: names, DryRun: o.dryRun, Recreate: o.recreate,
			Acted:   u.acted,
			Waiting: func(name string, deadline time.Time) { u.progress.Event(kill.Event{Worker: name, Deadline: deadline}) },
			Waited: func(out set.Outcome) {
				u.progress.Event(kill.Event{Worker: out.Name, Done: true})
				u.report(out, out.Name+" is ready")
			},
			Warn: func(w worker.Warning) { u.progress.Aside(func() { a.Warn(w.Text, w.Hint) }) },
		}
		if !o.json {
			req.Progress = u.progress.Start
		}
		outcomes, err := d.Set.Up(ctx, h, req)
		u.progress.Stop()
		if !o.orphans {
			left.name()
		}
		if outcomes != nil {
			outcomes = append(outcomes, left.found...)
		}
		if o.json && outcomes != nil {
			results := output.List(outcomes, func(out set.Outcome) upJSON { return upJSONOf(a, out) })
			if err := a.PrintJSON(results); err != nil {
				return err
			}
		}
		switch {
		case err != nil:
			if u.left != nil {
				a.Hint("interrupted; not started: " + strings.Join(u.left, ", "))
			}
			return err
		case u.failed || left.failed:
			return output.Failed
		}
		if u.differ && !o.json {
			a.Hint("'swarm up --recreate' ends what differs and starts it as declared")
		}
		if o.follow {
			return followUp(ctx, a, h, outcomes[:len(outcomes)-len(left.found)], begun)
		}
		return nil
	})
}

// followUp prints what the workers of a set write, until they have ended. An interruption
// ends no worker.
func followUp(ctx context.Context, a *app.App, h *host.Host, outcomes []set.Outcome, since time.Time) error {
	names := output.List(outcomes, func(out set.Outcome) string { return out.Name })
	err := workers.FollowLogs(ctx, a, h, names, since)
	switch {
	case ctx.Err() == nil:
	case pid1.Inside():
		a.Hint("the workers end with this container")
	default:
		a.Hint("the workers continue; 'swarm up --follow' follows them again, 'swarm down' ends them")
	}
	return err
}

type upper struct {
	*app.App
	*upOptions
	progress *output.Progress
	failed   bool
	differ   bool
	// left are the workers that were not started because the call was ended.
	left []string
}

// acted prints what was done with a worker.
func (u *upper) acted(out set.Outcome) { u.report(out, u.line(out)) }

func (u *upper) line(out set.Outcome) string {
	switch out.Action {
	case set.Unchanged:
		return out.Name + " is running as declared"
	case set.Differs:
		return fmt.Sprintf("%s differs: %s", out.Name, strings.Join(out.Differs, ", "))
	default:
	}
	if !u.dryRun {
		return fmt.Sprintf("%s %s%s", out.Action, out.Name, view.SpawnedWhere(out.Worker))
	}
	line := fmt.Sprintf("would %s %s", imperative[out.Action], out.Name)
	if out.Differs != nil {
		line += " (differs: " + strings.Join(out.Differs, ", ") + ")"
	}
	return line
}

// imperative are the actions that only would be done.
var imperative = map[set.Action]string{set.Started: "start", set.Respawned: "respawn", set.Recreated: "recreate"}

// report prints a line about a worker, or why it is not up. An interruption of the call is
// reported once, by its exit code.
func (u *upper) report(out set.Outcome, line string) {
	u.progress.Aside(func() {
		u.differ = u.differ || out.Action == set.Differs
		switch {
		case out.Interrupted():
			if out.Worker.ID == "" {
				u.left = append(u.left, out.Name)
			}
		case out.Err != nil:
			u.failed = true
			u.Fail(out.Err)
		case !u.json:
			u.Printf("%s\n", line)
		}
	})
}

type upJSON struct {
	Name    string           `json:"name"`
	Action  string           `json:"action"`
	Differs []string         `json:"differs"`
	Ready   *bool            `json:"ready"`
	Error   *string          `json:"error"`
	Worker  *view.WorkerJSON `json:"worker"`
}

func upJSONOf(a *app.App, out set.Outcome) upJSON {
	j := upJSON{
		Name: out.Name, Action: string(out.Action), Differs: append([]string{}, out.Differs...), Error: view.ErrorJSON(out.Err),
	}
	if out.Awaited {
		j.Ready = &out.Ready
	}
	if out.Worker.ID != "" {
		j.Worker = new(view.WorkerJSONIn(a, out.Worker))
	}
	return j
}
