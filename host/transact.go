package host

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/swarmhost/swarm/host/registry"
)

// Change runs change in one transaction of the registry, which it makes where there
// never was one. Nothing was changed if change returns an error. It must not call
// the Host, which would wait for the transaction.
//
// It is for the packages that build on this one, such as host/agent.
func (h *Host) Change(ctx context.Context, change func(context.Context, *registry.Tx) error) error {
	reg, err := h.writing(ctx)
	if err != nil {
		return err
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		tx.Quiet = h.opts.NoWake
		return change(ctx, tx)
	})
}

// View is as [Host.Change] for what only reads: all that view reads is of one
// moment. Where there never was a registry it is [fs.ErrNotExist], and view is not
// called.
func (h *Host) View(ctx context.Context, view func(context.Context, *registry.Tx) error) error {
	reg, err := h.reading(ctx)
	if err != nil {
		return err
	}
	if reg == nil {
		return fmt.Errorf("the registry in %s: %w", h.opts.Dir, fs.ErrNotExist)
	}
	return reg.View(ctx, view)
}

// AwaitChange calls check now and after every change of the registry, by whomever,
// until check says that it is done or returns an error, or ctx ends.
func (h *Host) AwaitChange(ctx context.Context, check func(context.Context) (done bool, err error)) error {
	c, err := registry.Watch(h.opts.Dir)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		if c.Replaced() {
			h.reopen() // what is open is the file that was there before
		}
		if done, err := check(ctx); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err, ok := <-c.Failed:
			if ok {
				return err
			}
		case <-c.C:
		}
	}
}
