package backendtest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// talkHooks are called around the methods by which one talks with a worker. right
// is the method of the right backend.
type talkHooks struct {
	input    func(b *broken, h swarm.Handle, in swarm.Input, right func(swarm.Input) error) error
	signal   func(b *broken, h swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error
	screen   func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error)
	screens  func([]swarm.ScreenResult, error) ([]swarm.ScreenResult, error)
	attach   func(swarm.Attachment, error) (swarm.Attachment, error)
	exec     func(b *broken, h swarm.Handle, o swarm.ExecOptions, right func(swarm.ExecOptions) (swarm.Program, error)) (swarm.Program, error)
	copy     func(b *broken, h swarm.Handle, o swarm.CopyOptions, right func(swarm.CopyOptions) (swarm.Program, error)) (swarm.Program, error)
	forward  func(b *broken, h swarm.Handle, o swarm.ForwardOptions, right func(swarm.ForwardOptions) (swarm.Program, error)) (swarm.Program, error)
	watch    func(each func(swarm.Status) error, right func(func(swarm.Status) error) error) error
	complete func(summary string, right func(string) error) error
}

// specOf returns the spec of a worker.
func (b *broken) specOf(h swarm.Handle) swarm.Spec {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.spawned {
		if bytes.HasSuffix(h.Data, []byte(s.ID)) {
			return s
		}
	}
	return swarm.Spec{}
}

func (b *broken) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (r swarm.InputResult, err error) {
	right := func(in swarm.Input) (err error) {
		r, err = b.Backend.Input(ctx, b.in(h), in)
		return err
	}
	if b.hooks.talk.input != nil {
		err = b.hooks.talk.input(b, h, in, right)
		return r, err
	}
	err = right(in)
	return r, err
}

func (b *broken) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	right := func(o swarm.SignalOptions) error { return b.Backend.Signal(ctx, b.in(h), o) }
	if b.hooks.talk.signal != nil {
		return b.hooks.talk.signal(b, h, o, right)
	}
	return right(o)
}

func (b *broken) Screen(ctx context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	s, err := b.Backend.Screen(ctx, b.in(h), o)
	if b.hooks.talk.screen != nil {
		return b.hooks.talk.screen(o, s, err)
	}
	return s, err
}

func (b *broken) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	in := make([]swarm.Handle, len(hs))
	for i, h := range hs {
		in[i] = b.in(h)
	}
	results, err := b.Backend.ScreenBatch(ctx, in, o)
	if b.hooks.talk.screen != nil {
		for i, r := range results {
			results[i].Screen, results[i].Err = b.hooks.talk.screen(o, r.Screen, r.Err)
		}
	}
	if b.hooks.talk.screens != nil {
		return b.hooks.talk.screens(results, err)
	}
	return results, err
}

func (b *broken) Attach(ctx context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	a, err := b.Backend.Attach(ctx, b.in(h), o)
	if b.hooks.talk.attach != nil {
		return b.hooks.talk.attach(a, err)
	}
	return a, err
}

func (b *broken) Exec(ctx context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	right := func(o swarm.ExecOptions) (swarm.Program, error) { return b.Backend.Exec(ctx, b.in(h), o) }
	if b.hooks.talk.exec != nil {
		return b.hooks.talk.exec(b, h, o, right)
	}
	return right(o)
}

func (b *broken) Copy(ctx context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	right := func(o swarm.CopyOptions) (swarm.Program, error) { return b.Backend.Copy(ctx, b.in(h), o) }
	if b.hooks.talk.copy != nil {
		return b.hooks.talk.copy(b, h, o, right)
	}
	return right(o)
}

func (b *broken) Forward(ctx context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	right := func(o swarm.ForwardOptions) (swarm.Program, error) { return b.Backend.Forward(ctx, b.in(h), o) }
	if b.hooks.talk.forward != nil {
		return b.hooks.talk.forward(b, h, o, right)
	}
	return right(o)
}

func (b *broken) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	right := func(each func(swarm.Status) error) error { return b.Backend.Watch(ctx, b.in(h), each) }
	if b.hooks.talk.watch != nil {
		return b.hooks.talk.watch(each, right)
	}
	return right(each)
}

func (b *broken) Complete(ctx context.Context, h swarm.Handle, summary string, o swarm.KillOptions) error {
	right := func(summary string) error { return b.Backend.Complete(ctx, b.in(h), summary, o) }
	if b.hooks.talk.complete != nil {
		return b.hooks.talk.complete(summary, right)
	}
	return right(summary)
}

// input, signal, screen and the like make hooks of one function each.
func onInput(f func(b *broken, h swarm.Handle, in swarm.Input, right func(swarm.Input) error) error) hooks {
	return hooks{talk: talkHooks{input: f}}
}

func onSignal(f func(b *broken, h swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error) hooks {
	return hooks{talk: talkHooks{signal: f}}
}

func onScreen(f func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error)) hooks {
	return hooks{talk: talkHooks{screen: f}}
}

func onScreens(f func([]swarm.ScreenResult, error) ([]swarm.ScreenResult, error)) hooks {
	return hooks{talk: talkHooks{screens: f}}
}

func onAttach(f func(swarm.Attachment, error) (swarm.Attachment, error)) hooks {
	return hooks{talk: talkHooks{attach: f}}
}

// talkWays are the ways to break the rules of talking with a worker.
func talkWays() map[string]hooks {
	ctx := context.Background()
	return map[string]hooks{
		"input-arrives": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			in.Data = bytes.ReplaceAll(in.Data, []byte("#"), nil)
			return right(in)
		}),
		"input-in-parts": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			in.Enter = true
			return right(in)
		}),
		"input-of-many-lines": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if len(in.Data) > 4095 && len(in.Data) <= swarm.MaxInput {
				in.Data = append(in.Data[:4095:4095], bytes.Repeat([]byte("\n"), 20)...)
			}
			return right(in)
		}),
		"input-is-not-mixed": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			first, rest, ok := bytes.Cut(in.Data, []byte("\n"))
			if !ok || len(in.Data) > 100 {
				return right(in)
			}
			return errors.Join(right(swarm.Input{Data: rest, Enter: true}), right(swarm.Input{Data: first, Enter: true}))
		}),
		"input-ends": onInput(func(b *broken, h swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			err := right(in)
			if err == nil && in.Kind == swarm.InputEOF {
				_, err = b.Backend.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
			}
			return err
		}),
		"input-interrupts": onInput(func(b *broken, h swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if in.Kind == swarm.InputInterrupt && b.specOf(h).Command[0] == string(script.Interrupt) {
				_, err := b.Backend.Kill(ctx, h, swarm.KillOptions{Signal: "SIGINT", Force: true})
				return err
			}
			return right(in)
		}),
		"input-without-stdin": onInput(func(b *broken, h swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if spec := b.specOf(h); in.Kind == swarm.InputText && spec.ID != "" && !spec.Stdin {
				return errBroken
			}
			return right(in)
		}),
		"input-too-large": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			// As a backend that gives what there is space for; with a megabyte of lines the other
			// cases would get nothing in time on a busy machine.
			if len(in.Data) > swarm.MaxInput {
				in.Data = in.Data[:len("line\n")]
			}
			return right(in)
		}),
		"input-of-an-unknown-kind": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if in.Kind > swarm.InputKeys {
				in.Kind = swarm.InputText
			}
			return right(in)
		}),
		"input-enter-after": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			in.EnterAfter = 0
			return right(in)
		}),
		"input-keys": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if in.Kind == swarm.InputKeys {
				in.Kind = swarm.InputText
			}
			return right(in)
		}),
		"input-after-the-end": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if err := right(in); !errors.Is(err, swarm.ErrNotFound) {
				return err
			}
			return nil
		}),
		"signal-arrives": onSignal(func(b *broken, h swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error {
			if o.Signal == "SIGUSR1" && o.Mode == swarm.KillMain {
				_, err := b.Backend.Kill(ctx, h, swarm.KillOptions{Signal: o.Signal, Force: true})
				return err
			}
			return right(o)
		}),
		"capabilities-are-true": onSignal(func(_ *broken, _ swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error {
			err := right(o)
			if o.Signal == "SIGWINCH" && err == nil {
				return swarm.ErrUnsupported
			}
			return err
		}),
		"signal-by-any-name": onSignal(func(_ *broken, _ swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error {
			if o.Signal != strings.ToUpper(o.Signal) {
				return swarm.ErrInvalidSpec
			}
			return right(o)
		}),
		"signal-after-the-end": onSignal(func(_ *broken, _ swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error {
			if err := right(o); !errors.Is(err, swarm.ErrNotFound) {
				return err
			}
			return nil
		}),
		"screen-shows-the-last-lines": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if o.Lines == 3 {
				s.Lines = s.Lines[:2]
			}
			return s, err
		}),
		"screen-shows-what-is-visible": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if o.Lines == 0 {
				s.Lines = append(s.Lines, "")
			}
			return s, err
		}),
		"screen-of-all": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if o.Lines > 1000 {
				return swarm.Screen{}, errBroken
			}
			return s, err
		}),
		"screen-after-the-end": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			s.Taken = s.Taken && o.Lines != 2
			return s, err
		}),
		"screen-after-a-kill": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if s.Taken && o.Lines == 5 {
				return swarm.Screen{}, swarm.ErrNotFound
			}
			return s, err
		}),
		"screen-with-styles": onScreen(func(o swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if o.Styles {
				s.Styled = []string{"\x1b[31manother line\x1b[0m"}
			}
			return s, err
		}),
		"screen-size-and-cursor": onScreen(func(_ swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if s.Cursor != nil {
				s.Cursor = &swarm.Cursor{Row: s.Cursor.Row + 1, Visible: true} // as terminals count
			}
			return s, err
		}),
		"input-bad-handle": onInput(func(_ *broken, _ swarm.Handle, in swarm.Input, right func(swarm.Input) error) error {
			if err := right(in); !errors.Is(err, swarm.ErrInvalidHandle) {
				return err
			}
			return swarm.ErrNotFound
		}),
		"signal-bad-handle": onSignal(func(_ *broken, _ swarm.Handle, o swarm.SignalOptions, right func(swarm.SignalOptions) error) error {
			if err := right(o); !errors.Is(err, swarm.ErrInvalidHandle) {
				return err
			}
			return swarm.ErrNotFound
		}),
		"attach-bad-handle": onAttach(func(a swarm.Attachment, err error) (swarm.Attachment, error) {
			if errors.Is(err, swarm.ErrInvalidHandle) {
				return swarm.Attachment{}, swarm.ErrNotFound
			}
			return a, err
		}),
		"screen-bad-handle": onScreen(func(_ swarm.ScreenOptions, s swarm.Screen, err error) (swarm.Screen, error) {
			if errors.Is(err, swarm.ErrInvalidHandle) {
				return swarm.Screen{}, swarm.ErrNotFound
			}
			return s, err
		}),
		"screens-equal-singles": onScreens(func(results []swarm.ScreenResult, err error) ([]swarm.ScreenResult, error) {
			if len(results) > 1 {
				results[0], results[1] = results[1], results[0]
			}
			return results, err
		}),
		"screens-of-none": onScreens(func(results []swarm.ScreenResult, err error) ([]swarm.ScreenResult, error) {
			if len(results) == 0 {
				return nil, errBroken
			}
			return results, err
		}),
		"attach-returns-a-command": onAttach(func(a swarm.Attachment, err error) (swarm.Attachment, error) {
			return swarm.Attachment{}, err
		}),
		"attach-after-the-end": onAttach(func(a swarm.Attachment, err error) (swarm.Attachment, error) {
			if errors.Is(err, swarm.ErrNotFound) {
				return swarm.Attachment{Command: []string{"true"}}, nil
			}
			return a, err
		}),
	}
}
