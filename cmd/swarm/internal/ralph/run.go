package ralph

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func newRun(a *app.App) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // the worker calls it
		Use:    "run NAME",
		Short:  "Be the main process of a ralph worker",
		Long: `Run the iterations of a loop. This is what 'swarm ralph spawn' starts as the main
process of its worker; elsewhere it only says why the loop can't be run there.`,
		Example:           `  swarm ralph run agent`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE:              func(cmd *cobra.Command, args []string) error { return runLoop(cmd.Context(), a, args[0]) },
	}
}

func runLoop(ctx context.Context, a *app.App, name string) error {
	if a.Getenv(swarm.EnvWorker) != name {
		return refuseRun(ctx, a, name)
	}
	output.FinishWriting()
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	loops := ralph.NewStore(dir)
	// A faulty profile does not stop the loop; other commands report it.
	profiles, _ := a.ProfileDirs().Load()
	// The loop handles signals itself.
	err = ralph.Run(context.WithoutCancel(ctx), ralph.Options{
		Store: loops, Name: name, Stdin: os.Stdin, Stdout: os.Stdout, Profiles: profiles,
		Notify: recorder(ctx, a), RunDir: statedir.Dir(dir).RunDir(a.Getenv(swarm.EnvWorkerID)),
	})
	if ended, ok := errors.AsType[*ralph.SignalError](err); ok {
		return &output.CodeError{Code: 128 + int(ended.Signal)}
	}
	if errors.Is(err, ralph.ErrFailed) {
		return output.Failed // which the loop has recorded
	}
	return err
}

func refuseRun(ctx context.Context, a *app.App, name string) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		w, err := ralphWorker(ctx, a, h, name)
		if err != nil {
			return err
		}
		st, err := ralph.NewStore(h.Dir()).Load(w.Name)
		if err != nil {
			return noLoop(err)
		}
		switch status, reason := loopStatus(st, runs(w)); {
		case status == ralph.Paused:
			return fmt.Errorf("ralph loop for '%s' is paused (use 'swarm ralph resume %s' first)", w.Name, w.Name)
		case status == ralph.Running:
			return fmt.Errorf("ralph loop for '%s' is already running", w.Name)
		case reason == ralph.ReasonKilled:
			return output.WithHint(ralph.Ended(w.Name, status),
				fmt.Sprintf("use 'swarm ralph resume %s' to continue", w.Name))
		default:
			return ralph.Ended(w.Name, status)
		}
	})
}
