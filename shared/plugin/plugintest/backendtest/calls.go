package backendtest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// call is a call that needs a capability. It may change or end the worker.
type call struct {
	name       string
	capability swarm.Capability
	do         func(ctx context.Context, b swarm.Backend, t target) error
}

type target struct {
	handle swarm.Handle
	lookup swarm.Lookup
}

// optional returns a call of a method of T; a backend without T does not support it.
func optional[T any](name string, c swarm.Capability, do func(ctx context.Context, b T, t target) error) call {
	return call{name, c, func(ctx context.Context, b swarm.Backend, t target) error {
		if b, ok := b.(T); ok {
			return do(ctx, b, t)
		}
		return swarm.ErrUnsupported
	}}
}

func handleCalls() []call {
	return []call{
		optional("Output", swarm.CapOutput, func(ctx context.Context, b swarm.Outputter, t target) error {
			return b.Output(ctx, t.handle, swarm.OutputOptions{}, func(swarm.Output) error { return nil })
		}),
		optional("Watch", swarm.CapWatch, func(ctx context.Context, b swarm.Watcher, t target) error {
			return b.Watch(ctx, t.handle, func(swarm.Status) error { return nil })
		}),
		optional("Screen", swarm.CapScreen, func(ctx context.Context, b swarm.Screener, t target) error {
			_, err := b.Screen(ctx, t.handle, swarm.ScreenOptions{})
			return err
		}),
		optional("Stats", swarm.CapStats, func(ctx context.Context, b swarm.Measurer, t target) error {
			results, err := b.Stats(ctx, []swarm.Handle{t.handle})
			if err == nil && len(results) == 1 {
				err = results[0].Err
			}
			return err
		}),
		optional("Pause", swarm.CapPause, func(ctx context.Context, b swarm.Pauser, t target) error {
			return b.SetPaused(ctx, t.handle, false)
		}),
		optional("Limits", swarm.CapSetLimits, func(ctx context.Context, b swarm.Limiter, t target) error {
			return b.SetLimits(ctx, t.handle, swarm.Limits{})
		}),
		optional("Attach", swarm.CapAttach, func(ctx context.Context, b swarm.Attacher, t target) error {
			_, err := b.Attach(ctx, t.handle, swarm.AttachOptions{})
			return err
		}),
		optional("Resize", swarm.CapResize, func(ctx context.Context, b swarm.Resizer, t target) error {
			err := b.Resize(ctx, t.handle, 100, 30)
			if errors.Is(err, swarm.ErrInvalidSpec) {
				return nil // the workers of the kit may be on no terminal
			}
			return err
		}),
		optional("Exec", swarm.CapExec, func(ctx context.Context, b swarm.Execer, t target) error {
			_, err := b.Exec(ctx, t.handle, swarm.ExecOptions{Command: []string{"true"}})
			return err
		}),
		optional("Copy", swarm.CapCopy, func(ctx context.Context, b swarm.Copier, t target) error {
			_, err := b.Copy(ctx, t.handle, swarm.CopyOptions{Path: "."})
			return err
		}),
		optional("Forward", swarm.CapForward, func(ctx context.Context, b swarm.Forwarder, t target) error {
			_, err := b.Forward(ctx, t.handle, swarm.ForwardOptions{Port: 80})
			return err
		}),
		optional("Input", swarm.CapInput, func(ctx context.Context, b swarm.Inputter, t target) error {
			_, err := b.Input(ctx, t.handle, swarm.Input{Enter: true})
			return err
		}),
		optional("Signal", swarm.CapSignal, func(ctx context.Context, b swarm.Signaller, t target) error {
			return b.Signal(ctx, t.handle, swarm.SignalOptions{Signal: "SIGWINCH"})
		}),
		optional("Complete", swarm.CapComplete, func(ctx context.Context, b swarm.Completer, t target) error {
			return b.Complete(ctx, t.handle, "done", gentle())
		}),
	}
}

func otherCalls() []call {
	return []call{
		optional("Find", swarm.CapFind, func(ctx context.Context, b swarm.Finder, t target) error {
			_, err := b.Find(ctx, t.lookup)
			return err
		}),
		optional("List", swarm.CapList, func(ctx context.Context, b swarm.Lister, _ target) error {
			return b.List(ctx, func(swarm.Listed) error { return nil })
		}),
		optional("CheckSpawn", swarm.CapCheckSpawn, func(ctx context.Context, b swarm.SpawnChecker, t target) error {
			l := t.lookup
			spec := swarm.Spec{ID: l.ID, Name: l.Name, Command: []string{"true"}, Options: l.Options, Local: l.Local}
			return b.CheckSpawn(ctx, swarm.SpawnCheck{Spec: spec, Replaces: t.handle})
		}),
		optional("Progress", swarm.CapProgress, func(ctx context.Context, b swarm.Progresser, t target) error {
			return b.Progress(ctx, t.lookup.ID, func(string) error { return nil })
		}),
		optional("ScreenBatch", swarm.CapBatchScreen, func(ctx context.Context, b swarm.BatchScreener, t target) error {
			_, err := b.ScreenBatch(ctx, []swarm.Handle{t.handle}, swarm.ScreenOptions{})
			return err
		}),
		optional("Sweep", swarm.CapSweep, func(ctx context.Context, b swarm.Sweeper, t target) error {
			_, err := b.Sweep(ctx, nil, []swarm.Handle{t.handle})
			return err
		}),
	}
}

func capabilityCases() []testCase {
	return []testCase{newCase("capabilities-are-true", scope{},
		"calls return ErrUnsupported for capabilities that the plugin does not claim, and never for those that it claims",
		func(k *kit) {
			w := k.ready(script.Sleep)
			for _, c := range slices.Concat(otherCalls(), handleCalls()) {
				ctx, cancel := context.WithTimeout(k.Ctx, shortGrace)
				err := c.do(ctx, k.Backend, target{w.handle, w.lookup()})
				cancel()
				unsupported := errors.Is(err, swarm.ErrUnsupported)
				switch claimed := k.has(c.capability); {
				case claimed && unsupported:
					k.Broken("the plugin claims %q: %v", c.capability, err)
				// A call that took too long was not refused.
				case !claimed && !unsupported && !errors.Is(err, context.DeadlineExceeded):
					k.Broken("the plugin does not claim %q: want ErrUnsupported, got %v", c.capability, err)
				}
			}
		})}
}

func badHandleCases() []testCase {
	var cases []testCase
	for _, c := range handleCalls() {
		cases = append(cases, c.refused("-bad-handle", "a handle that can't be read is ErrInvalidHandle", swarm.ErrInvalidHandle,
			func(*kit) swarm.Handle { return badHandle() }))
	}
	return cases
}

// endedCases are about calls that need a running worker. Other files have the cases that check
// more than the error.
func endedCases() []testCase {
	needRunning := []swarm.Capability{swarm.CapStats, swarm.CapPause, swarm.CapSetLimits, swarm.CapAttach, swarm.CapResize, swarm.CapExec, swarm.CapForward, swarm.CapSignal}
	var cases []testCase
	for _, c := range handleCalls() {
		if slices.Contains(needRunning, c.capability) {
			cases = append(cases, c.refused("-after-the-end", "a worker that has ended is ErrNotFound", swarm.ErrNotFound,
				func(k *kit) swarm.Handle { return k.finished(script.True).handle }))
		}
	}
	return cases
}

// refused returns the case in which the call for a handle returns the error want.
func (c call) refused(suffix, rule string, want error, handle func(k *kit) swarm.Handle) testCase {
	return newCase(strings.ToLower(c.name)+suffix, scope{needs: c.capability}, c.name+" for "+rule, func(k *kit) {
		h := handle(k)
		ctx, cancel := k.limited()
		defer cancel()
		k.WantErr(c.name, c.do(ctx, k.Backend, target{handle: h}), want)
	})
}
