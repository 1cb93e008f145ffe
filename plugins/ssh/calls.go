package ssh

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// perHost asks each host once for all its workers, all hosts at the same time and each with
// its own deadline, and puts the answers into the order of the handles. A host that can't be
// asked is the error of its workers.
func perHost[R any](ctx context.Context, b *Backend, hs []swarm.Handle,
	ask func(context.Context, *plugin.Backend, []swarm.Handle) ([]R, error), placed func(host string, r *R), failed func(error) R,
) ([]R, error) {
	results := make([]R, len(hs))
	handles, places := make(map[*link][]swarm.Handle), make(map[*link][]int)
	for i, h := range hs {
		_, l, far, err := b.of(h)
		if err != nil {
			results[i] = failed(err)
			continue
		}
		handles[l], places[l] = append(handles[l], far), append(places[l], i)
	}
	var asking sync.WaitGroup
	for l, hs := range handles {
		asking.Go(func() {
			limit := l.silence.limit()
			limited, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			answers, err := again(limited, l, func(far *plugin.Backend) ([]R, error) { return ask(limited, far, hs) })
			late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
			copied := l.copied.text()
			switch {
			case late && copied != "":
				err = fmt.Errorf("%w: %s needs other programs of swarm, and copying them takes longer than %s (%s so far): "+
					"'swarm logs' of a worker there waits for the copy", swarm.ErrUnavailable, l.client.host, limit, copied)
			case late || err == nil:
				l.silence.note(late, limit)
				if late {
					err = fmt.Errorf("%w: %s did not answer within %s", swarm.ErrUnavailable, l.client.host, limit)
				}
			}
			for j, at := range places[l] {
				if err != nil {
					results[at] = failed(err)
					continue
				}
				results[at] = answers[j]
				placed(l.client.host, &results[at])
			}
		})
	}
	asking.Wait()
	return results, ctx.Err()
}

// StatusBatch asks each host once.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	return perHost(ctx, b, hs,
		func(ctx context.Context, far *plugin.Backend, hs []swarm.Handle) ([]swarm.StatusResult, error) {
			return far.StatusBatch(ctx, hs)
		},
		func(host string, r *swarm.StatusResult) {
			if r.Err == nil {
				placed(host, &r.Status)
			}
		},
		func(err error) swarm.StatusResult { return swarm.StatusResult{Err: err} })
}

// Status tells how a worker is.
func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	results, err := b.StatusBatch(ctx, []swarm.Handle{h})
	if err != nil {
		return swarm.Status{}, err
	}
	return results[0].Status, results[0].Err
}

// Stats measures workers.
func (b *Backend) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	return perHost(ctx, b, hs,
		func(ctx context.Context, far *plugin.Backend, hs []swarm.Handle) ([]swarm.StatsResult, error) {
			return far.Stats(ctx, hs)
		},
		func(string, *swarm.StatsResult) {},
		func(err error) swarm.StatsResult { return swarm.StatsResult{Err: err} })
}

// ScreenBatch returns what workers show.
func (b *Backend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	return perHost(ctx, b, hs,
		func(ctx context.Context, far *plugin.Backend, hs []swarm.Handle) ([]swarm.ScreenResult, error) {
			return far.ScreenBatch(ctx, hs, o)
		},
		func(string, *swarm.ScreenResult) {},
		func(err error) swarm.ScreenResult { return swarm.ScreenResult{Err: err} })
}

// Screen returns what a worker shows.
func (b *Backend) Screen(ctx context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	results, err := b.ScreenBatch(ctx, []swarm.Handle{h}, o)
	if err != nil {
		return swarm.Screen{}, err
	}
	return results[0].Screen, results[0].Err
}

// Kill ends a worker and everything that it started. It is asked again if the connection
// breaks.
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	r, l, far, err := b.of(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	result, err := again(ctx, l, func(backend *plugin.Backend) (swarm.KillResult, error) { return backend.Kill(ctx, far, o) })
	placed(r.Host, &result.Status)
	return result, err
}

// Output reads the worker's output. After a break it goes on behind the last piece that was
// passed to each.
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	r, l, _, err := b.of(h)
	if err != nil {
		return err
	}
	var pause time.Duration
	var stopped error // as each said
	begun := false
	for {
		far, err := r.far()
		if err != nil {
			return err
		}
		_, err = call(ctx, l, func(backend *plugin.Backend) (none struct{}, err error) {
			return none, backend.Output(ctx, far, o, func(out swarm.Output) error {
				at, text, err := remote.Unpack(out.Data)
				if err == nil {
					r.Worker.From, out.Data, pause, begun = at, text, 0, true
					err = each(out)
				}
				stopped = err
				return err
			})
		})
		switch {
		case stopped != nil:
			return stopped
		case !isBroken(err) && (!begun || !errors.Is(err, errNoConnection)):
			return err
		case !o.Follow && pause == retryMax:
			return err
		}
		begun = true
		if pause, err = wait(ctx, pause, err); err != nil {
			return err
		}
	}
}

// Watch reports the changes of the worker. It waits for a host that can't be reached for a
// while.
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	r, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	var pause time.Duration
	var stopped error // as each said
	var told *swarm.Status
	for {
		_, err := call(ctx, l, func(backend *plugin.Backend) (none struct{}, err error) {
			return none, backend.Watch(ctx, far, func(s swarm.Status) error {
				pause = 0
				placed(r.Host, &s)
				if told != nil && reflect.DeepEqual(*told, s) {
					return nil // it was told before the connection broke
				}
				told = &s
				stopped = each(s)
				return stopped
			})
		})
		switch {
		case stopped != nil:
			return stopped
		case isBroken(err):
		case told == nil || !errors.Is(err, errNoConnection):
			return err
		}
		if pause, err = wait(ctx, pause, err); err != nil {
			return err
		}
	}
}

// Input gives the worker input. It is not repeated: nobody can tell whether it arrived.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	r, err := call(ctx, l, func(backend *plugin.Backend) (swarm.InputResult, error) { return backend.Input(ctx, far, in) })
	return r, unclear(err, "the input")
}

// Signal sends the worker a signal. It is not repeated.
func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = call(ctx, l, func(backend *plugin.Backend) (none struct{}, err error) { return none, backend.Signal(ctx, far, o) })
	return unclear(err, "the signal")
}

// unclear adds to the error of a broken connection that it may have arrived.
func unclear(err error, what string) error {
	if isBroken(err) {
		return fmt.Errorf("%w: %s has arrived whole or not at all; look before you repeat it", err, what)
	}
	return err
}

// SetLimits changes the limits of the worker.
func (b *Backend) SetLimits(ctx context.Context, h swarm.Handle, limits swarm.Limits) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = again(ctx, l, func(backend *plugin.Backend) (none struct{}, err error) {
		return none, backend.SetLimits(ctx, far, limits)
	})
	return err
}

// SetPaused pauses the worker or lets it go on.
func (b *Backend) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = again(ctx, l, func(backend *plugin.Backend) (none struct{}, err error) {
		return none, backend.SetPaused(ctx, far, paused)
	})
	return err
}

// Attach returns an ssh that shows the worker's terminal, or what it writes if it has none.
func (b *Backend) Attach(ctx context.Context, h swarm.Handle, _ swarm.AttachOptions) (swarm.Attachment, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	_, err = again(ctx, l, func(backend *plugin.Backend) (swarm.Attachment, error) {
		return backend.Attach(ctx, far, swarm.AttachOptions{})
	})
	if err != nil {
		return swarm.Attachment{}, err
	}
	set, err := l.programs.get()
	if err != nil {
		return swarm.Attachment{}, err
	}
	data, err := json.Marshal(far)
	if err != nil {
		return swarm.Attachment{}, err
	}
	command := "exec " + l.where(set.hash) + "/" + remote.Program + " attach " + base64.RawURLEncoding.EncodeToString(data)
	return swarm.Attachment{
		Command: append([]string{l.client.config.Program}, l.client.args(true, command)...), Unset: l.client.said().unsent,
	}, nil
}
