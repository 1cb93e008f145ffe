package ralph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ralphStart removes an old loop if the flags say so, writes the state of the new one and
// starts its worker.
func ralphStart(ctx context.Context, a *app.App, h *host.Host, o *spawnOptions, st ralph.State, request spawn.Request) (worker.Worker, error) {
	loops := ralph.NewStore(h.Dir())
	release, err := loops.Claim(ctx, o.Name)
	if err != nil {
		return worker.Worker{}, err
	}
	defer release()
	if o.replace {
		if err := ralphReplace(ctx, a, h, loops, o); err != nil {
			return worker.Worker{}, err
		}
	}
	if err := mustNotExist(ctx, h, o.Name); err != nil {
		return worker.Worker{}, err
	}
	if o.cleanState {
		removed, err := loops.Remove(ctx, o.Name)
		if err != nil {
			return worker.Worker{}, fmt.Errorf("cannot remove ralph state for '%s': %w", o.Name, err)
		}
		if removed {
			note(a, o.JSON, "cleared ralph state for %s", o.Name)
		}
	}
	var worker worker.Worker
	err = loops.Create(ctx, st, func() (err error) {
		worker, err = h.Spawn().Spawn(ctx, request)
		return err
	})
	return worker, err
}

func mustNotExist(ctx context.Context, h *host.Host, name string) error {
	_, _, err := h.Workers(ctx, worker.Selection{Names: []string{name}})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return output.WithHint(fmt.Errorf("worker '%s' already exists", name),
		fmt.Sprintf("continue with 'swarm ralph resume %s', or begin anew with --replace", name))
}

// ralphReplace ends a worker and removes its worktree, record and loop. Uncommitted work in
// the worktree is saved first.
func ralphReplace(ctx context.Context, a *app.App, h *host.Host, loops ralph.Store, o *spawnOptions) error {
	name := o.Name
	selected := worker.Selection{Names: []string{name}}
	outcomes, err := h.Kill().Kill(ctx, selected, kill.Request{RemoveWorkspace: true, ForceDirty: true})
	switch {
	case errors.Is(err, store.ErrNotFound):
		_, err := loops.Remove(ctx, name)
		return err
	case err != nil:
		return err
	}
	killed := outcomes[0]
	view.Remarks(a, nil, killed.Notices)
	if killed.Err != nil {
		view.Remarks(a, killed.Warnings, nil)
		return killed.Err
	}
	if killed.Worker.Workspace != nil {
		view.Remarks(a, killed.Warnings, nil)
		return fmt.Errorf("cannot replace '%s': its worktree is kept", name)
	}
	cleaned, err := h.Kill().Clean(ctx, selected, kill.CleanRequest{KeepWorkspace: true})
	if err == nil && len(cleaned) > 0 {
		err = cleaned[0].Err
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if _, err := loops.Remove(ctx, name); err != nil {
		return fmt.Errorf("cannot remove ralph state for '%s': %w", name, err)
	}
	note(a, o.JSON, "replaced existing worker %s", name)
	return nil
}

// note prints a line of progress: where stdout is JSON, among the hints.
func note(a *app.App, json bool, format string, args ...any) {
	if json {
		a.Hint(fmt.Sprintf(format, args...))
	} else {
		a.Printf(format+"\n", args...)
	}
}

// undoLimit bounds what is done after a call was interrupted or has failed: a kill takes as
// long as its grace.
const undoLimit = time.Minute

// afterwards returns a context for that, which does not end with the call.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
}

// endAfterwards ends a worker, even if the call was interrupted.
func endAfterwards(ctx context.Context, h *host.Host, name string) error {
	ctx, cancel := afterwards(ctx)
	defer cancel()
	outcomes, err := h.Kill().Kill(ctx, worker.Selection{Names: []string{name}}, kill.Request{})
	for _, o := range outcomes {
		err = errors.Join(err, o.Err)
	}
	return err
}

// ralphFollow shows the output of a loop until it ends, and returns its exit code. An
// interrupted call ends the loop.
func ralphFollow(ctx context.Context, a *app.App, h *host.Host, name string) error {
	p := workers.LogPrinter{App: a, Form: workers.FormOfLogs(a), Live: true}
	err := p.Run(func(each func(swarm.Output) error) error {
		return h.Display().Logs(ctx, name, swarm.OutputOptions{Follow: true}, each)
	})
	if ctx.Err() != nil {
		if err := endAfterwards(ctx, h, name); err != nil {
			return err
		}
		a.Hint(fmt.Sprintf("killed %s; 'swarm ralph resume %s' continues", name, name))
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	code := 0
	err = h.Wait(context.WithoutCancel(ctx), worker.Selection{Names: []string{name}}, func(w worker.Worker) { code = view.ExitCode(w) })
	if err == nil && code != 0 {
		err = &output.CodeError{Code: code}
	}
	return err
}
