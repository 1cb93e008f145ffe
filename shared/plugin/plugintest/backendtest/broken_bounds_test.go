package backendtest

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/swarm"
)

// boundsHooks change the answers of SetPaused, SetLimits, Resize and Progress.
type boundsHooks struct {
	resize func(right func(columns, rows int) error, columns, rows int) error
	paused func(paused bool, err error) error
	limits func(err error) error
	// progress is what Progress says.
	progress string
}

func (b *broken) Progress(ctx context.Context, id string, each func(string) error) error {
	if b.hooks.bounds.progress != "" {
		return each(b.hooks.bounds.progress)
	}
	return b.Backend.Progress(ctx, id, each)
}

func (b *broken) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	err := b.Backend.SetPaused(ctx, b.in(h), paused)
	if b.hooks.bounds.paused != nil {
		return b.hooks.bounds.paused(paused, err)
	}
	return err
}

func (b *broken) Resize(ctx context.Context, h swarm.Handle, columns, rows int) error {
	right := func(columns, rows int) error { return b.Backend.Resize(ctx, b.in(h), columns, rows) }
	if b.hooks.bounds.resize != nil {
		return b.hooks.bounds.resize(right, columns, rows)
	}
	return right(columns, rows)
}

func (b *broken) SetLimits(ctx context.Context, h swarm.Handle, l swarm.Limits) error {
	err := b.Backend.SetLimits(ctx, b.in(h), l)
	if b.hooks.bounds.limits != nil {
		return b.hooks.bounds.limits(err)
	}
	return err
}

// instead returns another error in the place of one.
func instead(of, other error) func(error) error {
	return func(err error) error {
		if errors.Is(err, of) {
			return other
		}
		return err
	}
}

// boundsWays are the ways to break the rules of pauses and limits.
func boundsWays() map[string]hooks {
	onPause := func(f func(error) error) hooks {
		return hooks{bounds: boundsHooks{paused: func(_ bool, err error) error { return f(err) }}}
	}
	onLimits := func(f func(error) error) hooks { return hooks{bounds: boundsHooks{limits: f}} }
	onResize := func(f func(error) error) hooks {
		return hooks{bounds: boundsHooks{resize: func(right func(int, int) error, columns, rows int) error { return f(right(columns, rows)) }}}
	}
	return map[string]hooks{
		// Its status never reports it.
		"pause": {status: func(_ *broken, _ swarm.Handle, st swarm.Status, err error) (swarm.Status, error) {
			st.Paused = false
			return st, err
		}},
		"pause-then-kill": {beforeKill: func(b *broken, h swarm.Handle, _ swarm.KillOptions) error {
			if st, err := b.Backend.Status(context.Background(), h); err == nil && st.Paused {
				_ = b.Backend.SetPaused(context.Background(), h, false)
				return errBroken
			}
			return nil
		}},
		"progress-after-spawn": {bounds: boundsHooks{progress: "fetching"}},
		"pause-after-the-end":  onPause(instead(swarm.ErrNotFound, nil)),
		"pause-bad-handle":     onPause(instead(swarm.ErrInvalidHandle, swarm.ErrNotFound)),
		"resize": {bounds: boundsHooks{resize: func(right func(int, int) error, columns, rows int) error {
			return right(rows, columns)
		}}},
		"resize-to-no-size":         onResize(instead(swarm.ErrInvalidSpec, nil)),
		"resize-after-the-end":      onResize(instead(swarm.ErrNotFound, nil)),
		"resize-bad-handle":         onResize(instead(swarm.ErrInvalidHandle, swarm.ErrNotFound)),
		"limits-that-make-no-sense": onLimits(instead(swarm.ErrInvalidSpec, nil)),
		"limits-after-the-end":      onLimits(instead(swarm.ErrNotFound, nil)),
		"limits-bad-handle":         onLimits(instead(swarm.ErrInvalidHandle, swarm.ErrNotFound)),
	}
}
