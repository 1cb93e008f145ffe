package workers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
)

type adoptOptions struct {
	backend string
	all     bool
	json    bool
}

func NewAdopt(a *app.App) *cobra.Command {
	o := &adoptOptions{}
	cmd := &cobra.Command{
		Use:   "adopt --backend PLUGIN NAME... | --all",
		Short: "Take over workers that another host spawned",
		Long: `Add workers to the list here that another host spawned on the same engine, such as
another machine on the same cluster. From then on this host can show and end them as
if it had spawned them; the other host keeps them as well. The workers themselves are
not touched.

NAME is the name or id of a worker that runs or has ended; --all takes all that have
not ended. A worker that is already listed is unchanged. A worker whose name is taken
here is not adopted, and the exit code is 1. If one of several hosts can't be asked, the
workers of the others are adopted; with --all the exit code is 1 then. An adopted worker stays listed until
"swarm clean".`,
		Example: `  swarm adopt --backend nomad --all
  swarm adopt --backend nomad build && swarm logs build --follow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.backend == "":
				return output.Usagef("required flag --backend not set")
			case o.all && len(args) > 0:
				return output.Usagef("worker names and --all exclude each other")
			case !o.all && len(args) == 0:
				return output.Usagef("must specify worker name or --all")
			}
			return runAdopt(cmd.Context(), a, args, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.backend, "backend", "", "`PLUGIN` that owns the workers; required")
	f.BoolVar(&o.all, "all", false, "all workers that have not ended")
	f.BoolVar(&o.json, "json", false, "print the workers as JSON")
	return cmd
}

func runAdopt(ctx context.Context, a *app.App, names []string, o *adoptOptions) error {
	output.FinishWriting()
	loaded, err := a.LoadProjectFor(o.backend)
	if err != nil {
		return err
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		outcomes, warnings, err := h.Spawn().Adopt(ctx, spawn.AdoptRequest{Backend: o.backend, Names: names, All: o.all})
		view.Remarks(a, warnings, nil)
		if err != nil && len(outcomes) == 0 {
			return err
		}
		failed := err != nil
		if failed {
			a.Fail(err)
		}
		for _, out := range outcomes {
			switch {
			case out.Err != nil:
				failed = true
				a.Fail(out.Err)
			case o.json:
			case !out.Known:
				a.Printf("adopted %s%s\n", out.Worker.Name, view.SpawnedWhere(out.Worker))
			case !o.all:
				a.Printf("%s is here already\n", out.Worker.Name)
			}
		}
		return a.Conclude(o.json, output.List(outcomes, func(out spawn.AdoptOutcome) adoptedJSON {
			adopted := out.Err == nil && !out.Known
			return adoptedJSON{view.WorkerJSONIn(a, out.Worker), adopted, view.ErrorJSON(out.Err)}
		}), failed)
	})
}

type adoptedJSON struct {
	view.WorkerJSON
	Adopted bool    `json:"adopted"`
	Error   *string `json:"error"`
}
