package workers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/service"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

type resurrectOptions struct {
	command.Selection
	marked bool
	dryRun bool
	json   bool
}

func NewResurrect(a *app.App) *cobra.Command {
	o := &resurrectOptions{}
	cmd := &cobra.Command{
		Use:   "resurrect [NAME...]",
		Short: "Start workers again that ended with the machine",
		Long: `Start workers again that ran until the machine went down, after a power failure or a
reboot. Without names and flags, list these workers and start none.

Each is started as 'swarm respawn' starts it: with the same command, variables, tags and
policies, in the same worktree. A coding agent whose conversation is known continues it.
A loop continues with the iteration that was cut off.

Workers that had ended before, that were being killed, or that had said that they were
done are not started, nor are shells of agents. A worker whose owner is gone, or that
was started so more often within an hour than its restart budget allows, is started only
if you name it. Nothing is started twice: a second call finds nothing more to do.

--marked selects the workers that were spawned with --resurrect, or while
'resurrect = true' was set in [defaults]. --print-service prints a unit that starts these
after each boot, and starts none itself.`,
		Example: `  swarm resurrect
  swarm resurrect web agent
  swarm resurrect --all
  swarm resurrect --marked --dry-run
  swarm resurrect --print-service systemd > ~/.config/systemd/user/swarm-resurrect.service
  swarm resurrect --json | jq -r '.[].name'`,
	}
	o.AddTo(cmd, a)
	f := cmd.Flags()
	f.BoolVar(&o.marked, "marked", false, "the workers that were spawned with --resurrect")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be started, and start nothing")
	f.BoolVar(&o.json, "json", false, "print the workers as JSON")
	manager := service.Flag(cmd, "print a unit that starts the marked workers after each boot")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chosen := len(args) > 0 || o.All || cmd.Flags().Changed("tag")
		switch {
		case manager.Value != "" && chosen:
			return output.Usagef("--print-service is for the workers that are marked")
		case manager.Value != "":
			return service.Print(a, manager.Value, service.Unit{
				Name: "resurrect", Description: "Start the workers of swarm again that ended with the machine",
				Args: []string{"--marked"}, Once: true,
			})
		case o.marked && chosen:
			return output.Usagef("--marked and worker names, --all or --tag exclude each other")
		case o.marked:
			o.All = true
		case !chosen:
			o.All, o.dryRun = true, true
		}
		sel, err := o.Of(cmd, args)
		if err != nil {
			return err
		}
		return runResurrect(cmd.Context(), a, sel, o)
	}
	return cmd
}

func runResurrect(ctx context.Context, a *app.App, sel worker.Selection, o *resurrectOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		interrupted, err := h.Spawn().Interrupted(ctx, sel)
		if err != nil {
			return err
		}
		failed := o.stranger(a, sel, interrupted)
		if o.dryRun {
			return cmp.Or(o.list(a, interrupted, len(sel.Names) > 0), failed)
		}
		done, err := h.Spawn().Resurrect(ctx, sel, spawn.ResurrectRequest{
			Marked: o.marked,
			Named:  len(sel.Names) > 0,
			Each: func(r spawn.Resurrection) {
				if r.Err != nil {
					failed = output.Failed
				}
				o.print(a, r)
			},
			Warn:   func(w worker.Warning) { a.Warn(w.Text, w.Hint) },
			Notice: a.Hint,
		})
		if o.json {
			jsonErr := a.PrintJSON(output.List(done, func(r spawn.Resurrection) resurrectJSON {
				j := resurrectJSONOf(r.Interrupted)
				j.Resurrected = r.Refused == "" && r.Err == nil
				if r.Err != nil {
					j.Error = output.OrNull(output.Visible(r.Err.Error()))
				}
				return j
			}))
			err = cmp.Or(err, jsonErr)
		} else if err == nil && len(done) == 0 && failed == nil {
			a.Hint("no worker ended with the machine")
		}
		return cmp.Or(err, failed)
	})
}

func (o *resurrectOptions) stranger(a *app.App, sel worker.Selection, interrupted []spawn.Interrupted) error {
	var failed error
	for _, name := range sel.Names {
		known := func(f spawn.Interrupted) bool { return f.Worker.Name == name || f.Worker.ID == name }
		if !slices.ContainsFunc(interrupted, known) {
			a.Fail(&output.HintError{
				Err:  fmt.Errorf("worker '%s' did not end with the machine", name),
				Hint: fmt.Sprintf("'swarm respawn %s' starts it again", name),
			})
			failed = output.Failed
		}
	}
	return failed
}

func (o *resurrectOptions) list(a *app.App, interrupted []spawn.Interrupted, named bool) error {
	list := []resurrectJSON{}
	for _, f := range interrupted {
		if o.marked && !f.Worker.Resurrect {
			continue
		}
		if named {
			f.Refused = ""
		}
		list = append(list, resurrectJSONOf(f))
		if !o.json {
			a.Printf("%s%s\n", f.Worker.Name, resurrectText(f))
		}
	}
	switch {
	case o.json:
		return a.PrintJSON(list)
	case len(list) == 0:
		a.Hint("no worker ended with the machine")
	default:
		a.Hint("'swarm resurrect NAME' starts one of them again, 'swarm resurrect --all' all of them")
	}
	return nil
}

func resurrectText(f spawn.Interrupted) string {
	text := ": " + f.Why
	if f.Resume {
		text += "; its conversation continues"
	}
	if f.Refused != "" {
		text += "; not started unless named: " + f.Refused
	}
	return text
}

func (o *resurrectOptions) print(a *app.App, r spawn.Resurrection) {
	switch name := r.Worker.Name; {
	case r.Err != nil:
		a.Fail(fmt.Errorf("cannot resurrect '%s': %w", name, r.Err))
	case o.json:
	case r.Refused != "":
		a.Warn(fmt.Sprintf("'%s' is not started: %s", name, r.Refused), fmt.Sprintf("'swarm resurrect %s' starts it all the same", name))
	case r.Resume:
		a.Printf("resurrected %s%s; its conversation continues\n", name, view.SpawnedWhere(r.Worker))
	default:
		a.Printf("resurrected %s%s\n", name, view.SpawnedWhere(r.Worker))
	}
}

// resurrectJSON is a worker that ended with the machine, as docs/resurrect.schema.json
// describes it.
type resurrectJSON struct {
	Name        string  `json:"name"`
	ID          string  `json:"id"`
	Why         string  `json:"why"`
	Resume      bool    `json:"resume"`
	Marked      bool    `json:"marked"`
	Refused     *string `json:"refused"`
	Resurrected bool    `json:"resurrected"`
	Error       *string `json:"error"`
}

func resurrectJSONOf(f spawn.Interrupted) resurrectJSON {
	return resurrectJSON{
		Name: f.Worker.Name, ID: f.Worker.ID, Why: f.Why, Resume: f.Resume, Marked: f.Worker.Resurrect, Refused: output.OrNull(f.Refused),
	}
}
