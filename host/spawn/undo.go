package spawn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/shared/swarm"
)

// undo holds the steps of a spawn so far.
type undo struct{ steps []undoStep }

type undoStep struct {
	what string
	undo func(context.Context) error
}

func (u *undo) add(what string, f func(context.Context) error) {
	u.steps = append(u.steps, undoStep{what, f})
}

// onError undoes everything, newest first, if err is not nil, and returns err.
// It does so even if ctx is over. A step that can't be undone is named after
// the cause; the steps before it stay then, so that they are not forgotten.
func (u *undo) onError(ctx context.Context, log hclog.Logger, err error) error {
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	for _, s := range slices.Backward(u.steps) {
		if uerr := s.undo(ctx); uerr != nil {
			log.Error("undo of a spawn failed", "step", s.what, "error", uerr)
			return fmt.Errorf("%w; and its %s could not be undone: %w", err, s.what, uerr)
		}
	}
	return err
}

func (s *Spawner) endMade(ctx context.Context, p *backend.Peer, handle swarm.Handle) error {
	res, err := p.Backend.Kill(ctx, handle, swarm.KillOptions{Force: true})
	if err == nil {
		err = kill.Confirmed(p.Name, res)
	}
	return err
}

// endUnrecorded ends the worker whose spawn failed, should it be there: a plugin
// that ended in it, or that was given up, could not undo it itself.
func (s *Spawner) endUnrecorded(ctx context.Context, p *plan) error {
	err := s.opts.Plugins.AskBackend(ctx, p.backend, true, func(owner *backend.Peer) error {
		if !owner.Has(swarm.CapFind) {
			return nil
		}
		handle, err := s.opts.Plugins.Find(ctx, owner, &p.rec)
		if err != nil {
			return err
		}
		return s.endMade(ctx, owner, handle)
	})
	if errors.Is(err, swarm.ErrNotFound) {
		return nil
	}
	return err
}

// removeUnrecorded removes the workspace whose creation failed, should it be
// there.
func (s *Spawner) removeUnrecorded(ctx context.Context, p *plan, spec swarm.WorkspaceSpec) error {
	ref, err := s.opts.Plugins.FindWorkspace(ctx, p.workspace, spec)
	if err != nil || ref == nil {
		return err
	}
	return s.opts.Plugins.UndoWorkspace(ctx, p.workspace, *ref)
}
