package ssh

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/swarm"
)

// perHost asks each host once for all its workers, all hosts at the same time and each with
// its own deadline, and puts the answers into the order of the handles. A host that can't be
// asked is the error of its workers.
func perHost[R any](ctx context.Context, b *Backend, hs []swarm.Handle,
	ask func(*client.Backend, context.Context, []swarm.Handle) ([]R, error), failed func(error) R,
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
			answers, err := again(limited, l, func(s *session) ([]R, error) { return ask(s.backend, limited, hs) })
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
				} else {
					results[at] = answers[j]
				}
			}
		})
	}
	asking.Wait()
	return results, ctx.Err()
}

// StatusBatch asks each host once.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	results, err := perHost(ctx, b, hs, (*client.Backend).StatusBatch,
		func(err error) swarm.StatusResult { return swarm.StatusResult{Err: err} })
	for i, h := range hs {
		if results[i].Err == nil {
			r, _ := decode(h) // which was possible before
			placed(r.Host, &results[i].Status)
		}
	}
	return results, err
}

func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	results, err := b.StatusBatch(ctx, []swarm.Handle{h})
	if err != nil {
		return swarm.Status{}, err
	}
	return results[0].Status, results[0].Err
}

func (b *Backend) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	return perHost(ctx, b, hs, (*client.Backend).Stats,
		func(err error) swarm.StatsResult { return swarm.StatsResult{Err: err} })
}

func (b *Backend) CPUTimes(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	return perHost(ctx, b, hs, (*client.Backend).CPUTimes,
		func(err error) swarm.StatsResult { return swarm.StatsResult{Err: err} })
}

func (b *Backend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	return perHost(ctx, b, hs,
		func(far *client.Backend, ctx context.Context, hs []swarm.Handle) ([]swarm.ScreenResult, error) {
			return far.ScreenBatch(ctx, hs, o)
		},
		func(err error) swarm.ScreenResult { return swarm.ScreenResult{Err: err} })
}

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
	result, err := again(ctx, l, func(s *session) (swarm.KillResult, error) { return s.backend.Kill(ctx, far, o) })
	placed(r.Host, &result.Status)
	return result, err
}

// Output reads the worker's output. After a break it continues behind the last piece that was
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
		_, err = call(ctx, l, func(s *session) (none struct{}, err error) {
			return none, s.backend.Output(ctx, far, o, func(out swarm.Output) error {
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
		case !errors.Is(err, errBroken) && (!begun || !errors.Is(err, errNoConnection)):
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
	var last *swarm.Status
	for {
		_, err := call(ctx, l, func(s *session) (none struct{}, err error) {
			return none, s.backend.Watch(ctx, far, func(st swarm.Status) error {
				pause = 0
				placed(r.Host, &st)
				if last != nil && reflect.DeepEqual(*last, st) {
					return nil // it was reported before the connection broke
				}
				last = &st
				stopped = each(st)
				return stopped
			})
		})
		switch {
		case stopped != nil:
			return stopped
		case errors.Is(err, errBroken):
		case last == nil || !errors.Is(err, errNoConnection):
			return err
		}
		if pause, err = wait(ctx, pause, err); err != nil {
			return err
		}
	}
}

// Input gives the worker input. It is not repeated: it may have arrived.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	r, err := call(ctx, l, func(s *session) (swarm.InputResult, error) { return s.backend.Input(ctx, far, in) })
	return r, unclear(err, "the input")
}

// Signal sends the worker a signal. It is not repeated.
func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = call(ctx, l, func(s *session) (none struct{}, err error) { return none, s.backend.Signal(ctx, far, o) })
	return unclear(err, "the signal")
}

// unclear adds to the error of a broken connection that it may have arrived.
func unclear(err error, what string) error {
	if errors.Is(err, errBroken) {
		return fmt.Errorf("%w: %s has arrived whole or not at all; look before you repeat it", err, what)
	}
	return err
}

func (b *Backend) SetLimits(ctx context.Context, h swarm.Handle, limits swarm.Limits) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) {
		return none, s.backend.SetLimits(ctx, far, limits)
	})
	return err
}

func (b *Backend) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) {
		return none, s.backend.SetPaused(ctx, far, paused)
	})
	return err
}

func (b *Backend) Resize(ctx context.Context, h swarm.Handle, columns, rows int) error {
	_, l, far, err := b.of(h)
	if err != nil {
		return err
	}
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) {
		return none, s.backend.Resize(ctx, far, columns, rows)
	})
	return err
}

// Attach returns an ssh that shows the worker's terminal, or what it writes if it has none.
func (b *Backend) Attach(ctx context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	_, err = again(ctx, l, func(s *session) (swarm.Attachment, error) {
		return s.backend.Attach(ctx, far, swarm.AttachOptions{})
	})
	if err != nil {
		return swarm.Attachment{}, err
	}
	args, err := l.shows(true, "attach", remote.Attached{Handle: far, ReadOnly: o.ReadOnly})
	if err != nil {
		return swarm.Attachment{}, err
	}
	command := append([]string{l.client.config.Program}, args...)
	return swarm.Attachment{Command: command, Unset: l.client.said().unsent, ReadOnly: o.ReadOnly}, nil
}

// Exec returns an ssh that runs a command in the worker, over there by the same program as here. Without a
// terminal its output goes through the plugin's own program, since a login shell may write too.
func (b *Backend) Exec(ctx context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.Program{}, err
	}
	_, err = again(ctx, l, func(s *session) (swarm.Program, error) { return s.backend.Exec(ctx, far, o) })
	if err != nil {
		return swarm.Program{}, err
	}
	if !o.TTY {
		return l.through(StreamVerb, "exec", func(mark string) any { return remote.Execution{Handle: far, Options: o, Mark: mark} })
	}
	args, err := l.shows(true, "exec", remote.Execution{Handle: far, Options: o})
	if err != nil {
		return swarm.Program{}, err
	}
	return swarm.Program{Command: append([]string{l.client.config.Program}, args...), Unset: l.client.said().unsent}, nil
}

// Copy returns the plugin itself, with an ssh that copies files of the worker, over there by swarm-remote.
func (b *Backend) Copy(ctx context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.Program{}, err
	}
	_, err = again(ctx, l, func(s *session) (swarm.Program, error) { return s.backend.Copy(ctx, far, o) })
	if err != nil {
		return swarm.Program{}, err
	}
	return l.through(StreamVerb, "copy", func(mark string) any { return remote.CopyRequest{Handle: far, Options: o, Mark: mark} })
}

// shows returns the arguments of an ssh that shows what a command of swarm-remote shows, which takes a
// value: a person on a terminal, or any program.
func (l *link) shows(person bool, command string, value any) ([]string, error) {
	set, err := l.programs()
	if err != nil {
		return nil, err
	}
	data, err := rawjson.Marshal(value)
	if err != nil {
		return nil, err
	}
	return l.client.args(person, l.runs(set.hash, command+" "+base64.RawURLEncoding.EncodeToString(data))), nil
}
