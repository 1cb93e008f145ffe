package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func newRalphRun(a *app) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // the worker calls it
		Use:    "run NAME",
		Short:  "Be the main process of a ralph worker",
		Long: `Run the iterations of a loop. This is what 'swarm ralph spawn' starts as the main
process of its worker; elsewhere it only says why the loop can't be run there.`,
		Example:           `  swarm ralph run agent`,
		Args:              arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: a.completeOneRalph(),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.ralphRun(cmd.Context(), args[0]) },
	}
}

func (a *app) ralphRun(ctx context.Context, name string) error {
	if a.getenv(swarm.EnvWorker) != name {
		return a.refuseRun(ctx, name)
	}
	finishWriting()
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	store := ralph.NewStore(dir)
	// A faulty profile does not stop the loop; other commands report it.
	profiles, _ := profile.Load(config.ProfileDir(a.getenv))
	// The loop sees to signals itself.
	err = ralph.Run(context.WithoutCancel(ctx), ralph.Options{
		Store: store, Name: name, Stdin: os.Stdin, Stdout: os.Stdout, Profiles: profiles,
		Notify: a.tellOfLoop(ctx), RunDir: statedir.Dir(dir).RunDir(a.getenv(swarm.EnvWorkerID)),
	})
	if ended, ok := errors.AsType[*ralph.SignalError](err); ok {
		return &codeError{code: 128 + int(ended.Signal)}
	}
	if errors.Is(err, ralph.ErrFailed) {
		return failed // which the loop has told
	}
	return err
}

// refuseRun says what to do in place of running a loop outside of its worker.
func (a *app) refuseRun(ctx context.Context, name string) error {
	store, err := a.ralphStore()
	if err != nil {
		return err
	}
	return a.withHost(ctx, func(h *host.Host) error {
		worker, err := a.ralphWorker(ctx, h, name)
		if err != nil {
			return err
		}
		st, err := store.Load(worker.Name)
		if err != nil {
			return noLoop(err)
		}
		switch status, reason := loopStatus(st, runs(worker)); {
		case status == ralph.Paused:
			return fmt.Errorf("ralph loop for '%s' is paused (use 'swarm ralph resume %s' first)", worker.Name, worker.Name)
		case status == ralph.Running:
			return fmt.Errorf("ralph loop for '%s' is already running", worker.Name)
		case reason == ralph.ReasonKilled:
			return &hintError{
				err:  &ralph.EndedError{Name: worker.Name, Status: status},
				hint: fmt.Sprintf("use 'swarm ralph resume %s' to go on", worker.Name),
			}
		default:
			return &ralph.EndedError{Name: worker.Name, Status: status}
		}
	})
}
