package spawn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// undo holds the steps of a spawn so far.
type undo struct {
	steps []undoStep
	// left names the step that could not be undone, and those before it stay; empty if none.
	left string
}

type undoStep struct {
	what string
	undo func(context.Context) error
	// asks says that it asks the plugin in whose call the spawn was interrupted, which may hang.
	asks bool
}

func (u *undo) add(what string, f func(context.Context) error) {
	u.steps = append(u.steps, undoStep{what: what, undo: f})
}

// addAsking is add for a step that asks a plugin which may hang.
func (u *undo) addAsking(what string, f func(context.Context) error) {
	u.steps = append(u.steps, undoStep{what: what, undo: f, asks: true})
}

const (
	// askLimit is how long a plugin that may hang gets for an undo.
	askLimit = 10 * time.Second
	// interruptLimit is the same when a person waits for the end of the call, from the interruption.
	interruptLimit = 1500 * time.Millisecond
)

// onError undoes everything, newest first, if err is not nil, and returns err.
// It does so even if ctx has ended. A step that can't be undone is named after
// the cause; the steps before it stay then, so that they are not forgotten.
func (u *undo) onError(ctx context.Context, log hclog.Logger, err error) error {
	if err == nil {
		return nil
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	for _, s := range slices.Backward(u.steps) {
		if uerr := s.run(ctx, caller); uerr != nil {
			log.Error("undo of a spawn failed", "step", s.what, "error", uerr)
			u.left = s.what
			return fmt.Errorf("%w; and its %s could not be undone: %w", err, s.what, uerr)
		}
	}
	return err
}

// run undoes the step. caller is the context of the call, whose interruption shortens the limit.
func (s undoStep) run(ctx, caller context.Context) error {
	if !s.asks {
		return s.undo(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	defer context.AfterFunc(caller, func() {
		if !isInterrupted(caller) {
			return
		}
		soon := time.NewTimer(interruptLimit)
		defer soon.Stop()
		select {
		case <-soon.C:
			cancel()
		case <-ctx.Done():
		}
	})()
	err := s.undo(ctx)
	if err != nil && ctx.Err() != nil && !isInterrupted(caller) {
		return fmt.Errorf("%w: no answer within %s", swarm.ErrUnavailable, askLimit)
	}
	return err
}

// isInterrupted reports whether a person, or whatever called, has ended the call. The end of a limit
// does not count.
func isInterrupted(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// interruption returns the error for a person who has interrupted a spawn.
func (u *undo) interruption(rec *registry.Record) worker.Warning {
	if u.left == "" {
		return worker.Warning{Text: fmt.Sprintf("interrupted: the spawn of '%s' was undone", rec.Name)}
	}
	return worker.Warning{
		Text: fmt.Sprintf("interrupted: plugin '%s' does not answer, so the spawn of '%s' is not undone yet", rec.Backend, rec.Name),
		Hint: fmt.Sprintf("the next command that starts a worker there does it, or 'swarm kill %s'", rec.Name),
	}
}

// hangLimit is how long a plugin that was given up may take to answer before another process of it is
// asked: it may hang in the call.
const hangLimit = 700 * time.Millisecond

// askGivenUp calls f with a plugin in whose call the spawn was given up, and again with a new
// process if the plugin does not answer soon.
func (s *Spawner) askGivenUp(ctx context.Context, e catalog.Entry, old *backend.Peer, f func(context.Context, *backend.Peer) error) error {
	defer s.Plugins.AnnounceWait("waiting for plugin '%s' to undo the spawn, for at most %s", e.Name, askLimit)()
	soon, cancel := context.WithTimeout(ctx, hangLimit)
	defer cancel()
	err := s.Plugins.Ask(soon, e, true, func(p *backend.Peer) error { return f(soon, p) })
	if err == nil || soon.Err() == nil || ctx.Err() != nil || old == nil {
		return err
	}
	again, err := s.Plugins.Restart(ctx, e, old)
	if err != nil {
		return err
	}
	return f(ctx, again)
}

// endUnrecorded ends the worker whose spawn failed, should it be there: a plugin
// that ended in it, or that was given up, could not undo it itself.
func (s *Spawner) endUnrecorded(ctx context.Context, p *plan) error {
	err := s.askGivenUp(ctx, p.backend, p.owner, func(ctx context.Context, owner *backend.Peer) error {
		if owner.Backend == nil || !owner.Has(swarm.CapFind) {
			return nil
		}
		handle, err := s.Plugins.Find(ctx, owner, &p.rec)
		if err != nil {
			return err
		}
		return settle.EndMade(ctx, owner, handle)
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return nil
	}
	return err
}

// endLeft ends the worker that a shim runs although its spawn failed: the plugin returned an error after it
// had started the shim, or a handle that can't be used, or has no [swarm.Finder] and ended. The error
// [swarm.ErrNotFound] of the shim is final: none comes later.
func (s *Spawner) endLeft(ctx context.Context, id string) error {
	dir := s.Dir.RunDir(id)
	if _, err := client.Recover(ctx, dir, id); err != nil {
		if errors.Is(err, swarm.ErrNotFound) {
			return nil
		}
		return err
	}
	_, err := client.Kill(ctx, dir, id, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	return err
}

// endRecorded ends the worker that was made.
func (s *Spawner) endRecorded(ctx context.Context, p *plan) error {
	return s.askGivenUp(ctx, p.backend, p.owner, func(ctx context.Context, owner *backend.Peer) error {
		return settle.EndMade(ctx, owner, p.rec.Handle)
	})
}

// removeUnrecorded removes the workspace whose creation failed, should it be
// there.
func (s *Spawner) removeUnrecorded(ctx context.Context, p *plan, spec swarm.WorkspaceSpec) error {
	var ref *swarm.WorkspaceRef
	err := s.askGivenUp(ctx, p.workspace, p.maker, func(ctx context.Context, maker *backend.Peer) error {
		if maker.Workspace == nil || !maker.Has(swarm.CapFindWorkspace) {
			return nil
		}
		found, err := maker.Workspace.FindWorkspace(ctx, spec)
		if err == nil {
			ref = &found
		}
		return err
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return nil
	}
	if err != nil || ref == nil {
		return err
	}
	return s.Plugins.UndoWorkspace(ctx, p.workspace, *ref)
}
