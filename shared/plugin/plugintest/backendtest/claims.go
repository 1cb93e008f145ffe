package backendtest

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func capabilityCases() []testCase {
	return []testCase{{
		name: "capabilities-are-true",
		rule: "what a plugin says that it can do it does not answer with ErrUnsupported, and everything else it does",
		run: func(k *kit) {
			w := k.ready(script.Sleep)
			for _, c := range k.claims(w) {
				ctx, cancel := context.WithTimeout(k.ctx, shortGrace)
				err := c.call(ctx)
				cancel()
				unsupported := errors.Is(err, swarm.ErrUnsupported)
				switch claimed := k.has(c.capability); {
				case claimed && unsupported:
					k.broken("it claims %q: %v", c.capability, err)
				// A call that took too long was not refused.
				case !claimed && !unsupported && !errors.Is(err, context.DeadlineExceeded):
					k.broken("it does not claim %q: want ErrUnsupported, got %v", c.capability, err)
				}
			}
		},
	}}
}

// claim is a call that needs a capability.
type claim struct {
	capability swarm.Capability
	call       func(context.Context) error
}

// claims are those that the backend has a method for. A worker may be another
// after them.
func (k *kit) claims(w *worker) []claim {
	var claims []claim
	add := func(ok bool, c swarm.Capability, call func(context.Context) error) {
		if ok {
			claims = append(claims, claim{c, call})
		}
	}
	finder, ok := k.Backend.(swarm.Finder)
	add(ok, swarm.CapFind, func(ctx context.Context) error {
		_, err := finder.Find(ctx, w.lookup())
		return err
	})
	sweeper, ok := k.Backend.(swarm.Sweeper)
	add(ok, swarm.CapSweep, func(ctx context.Context) error {
		_, err := sweeper.Sweep(ctx, nil, []swarm.Handle{w.handle})
		return err
	})
	lister, ok := k.Backend.(swarm.Lister)
	add(ok, swarm.CapList, func(ctx context.Context) error {
		return lister.List(ctx, func(swarm.Listed) error { return nil })
	})
	outputter, ok := k.Backend.(swarm.Outputter)
	add(ok, swarm.CapOutput, func(ctx context.Context) error {
		return outputter.Output(ctx, w.handle, swarm.OutputOptions{}, func(swarm.Output) error { return nil })
	})
	watcher, ok := k.Backend.(swarm.Watcher)
	add(ok, swarm.CapWatch, func(ctx context.Context) error {
		return watcher.Watch(ctx, w.handle, func(swarm.Status) error { return nil })
	})
	screener, ok := k.Backend.(swarm.Screener)
	add(ok, swarm.CapScreen, func(ctx context.Context) error {
		_, err := screener.Screen(ctx, w.handle, swarm.ScreenOptions{})
		return err
	})
	screens, ok := k.Backend.(swarm.BatchScreener)
	add(ok, swarm.CapBatchScreen, func(ctx context.Context) error {
		_, err := screens.ScreenBatch(ctx, []swarm.Handle{w.handle}, swarm.ScreenOptions{})
		return err
	})
	measurer, ok := k.Backend.(swarm.Measurer)
	add(ok, swarm.CapStats, func(ctx context.Context) error {
		_, err := measurer.Stats(ctx, []swarm.Handle{w.handle})
		return err
	})
	pauser, ok := k.Backend.(swarm.Pauser)
	add(ok, swarm.CapPause, func(ctx context.Context) error {
		return pauser.SetPaused(ctx, w.handle, false)
	})
	progresser, ok := k.Backend.(swarm.Progresser)
	add(ok, swarm.CapProgress, func(ctx context.Context) error {
		return progresser.Progress(ctx, w.spec.ID, func(string) error { return nil })
	})
	limiter, ok := k.Backend.(swarm.Limiter)
	add(ok, swarm.CapSetLimits, func(ctx context.Context) error {
		return limiter.SetLimits(ctx, w.handle, swarm.Limits{})
	})
	attacher, ok := k.Backend.(swarm.Attacher)
	add(ok, swarm.CapAttach, func(ctx context.Context) error {
		_, err := attacher.Attach(ctx, w.handle, swarm.AttachOptions{})
		return err
	})
	inputter, ok := k.Backend.(swarm.Inputter)
	add(ok, swarm.CapInput, func(ctx context.Context) error {
		_, err := inputter.Input(ctx, w.handle, swarm.Input{Enter: true})
		return err
	})
	signaller, ok := k.Backend.(swarm.Signaller)
	add(ok, swarm.CapSignal, func(ctx context.Context) error {
		return signaller.Signal(ctx, w.handle, swarm.SignalOptions{Signal: "SIGWINCH"})
	})
	completer, ok := k.Backend.(swarm.Completer)
	add(ok, swarm.CapComplete, func(ctx context.Context) error {
		return completer.Complete(ctx, w.handle, "done", gentle())
	})
	return claims
}
