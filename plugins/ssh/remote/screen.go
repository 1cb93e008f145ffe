package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// visible is how many lines the screen of a worker without a terminal has.
const visible = 24

// Screen returns what a worker shows: its terminal, or without one the last lines of its
// output.
func (b *Backend) Screen(ctx context.Context, raw swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	h, err := b.handle(raw)
	if err != nil {
		return swarm.Screen{}, err
	}
	if h.Kind == KindTerminal {
		return b.opts.Terminal.Screen(ctx, h.inner(), o)
	}
	st, err := b.opts.Process.Status(ctx, h.inner())
	if err != nil {
		return swarm.Screen{}, err
	}
	w, err := b.worker(h)
	if err != nil {
		return swarm.Screen{}, err
	}
	shown, err := lastLines(ctx, w.Dir, cmp.Or(max(o.Lines, 0), visible))
	return swarm.Screen{Lines: shown, Taken: st.State != swarm.StateRunning}, err
}

// ScreenBatch returns what workers show.
func (b *Backend) ScreenBatch(ctx context.Context, raws []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(raws))
	for i, raw := range raws {
		results[i].Screen, results[i].Err = b.Screen(ctx, raw, o)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// control matches the control sequences of terminals, and other control characters.
var control = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[ -/]*[0-~])?|[\x00-\x08\x0b-\x1f\x7f]")

// lastLines returns the last lines of the output in a run directory, as text.
func lastLines(ctx context.Context, dir string, n int) ([]string, error) {
	var lines []string
	open := make(map[swarm.Stream][]byte)
	line := func(b []byte) {
		text := strings.TrimSuffix(string(b), "\r")
		text = text[strings.LastIndexByte(text, '\r')+1:]
		text = control.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
		lines = append(lines, strings.TrimRight(text, " \t"))
	}
	err := shim.Output(ctx, dir, swarm.OutputOptions{Tail: &n}, func(o swarm.Output) error {
		open[o.Stream] = drawn(append(open[o.Stream], o.Data...))
		if !o.Partial {
			line(open[o.Stream])
			delete(open, o.Stream)
		}
		return nil
	})
	for _, s := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		if len(open[s]) > 0 {
			line(open[s])
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines[max(0, len(lines)-n):], err
}

// maxDrawn is how much of a line is kept.
const maxDrawn = 64 << 10

// drawn leaves out of a line what was drawn over: a program that shows its progress may
// write megabytes to one line.
func drawn(line []byte) []byte {
	if i := bytes.LastIndexByte(bytes.TrimSuffix(line, []byte("\r")), '\r'); i >= 0 {
		line = append(line[:0], line[i+1:]...)
	}
	return line[max(0, len(line)-maxDrawn):]
}

// Attach reports whether a person's terminal can be connected with a worker. How is
// [Attached]'s business: the command would have to pass a shell on the way here.
func (b *Backend) Attach(ctx context.Context, raw swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	h, err := b.handle(raw)
	if err != nil {
		return swarm.Attachment{}, err
	}
	if h.Kind == KindTerminal {
		return b.opts.Terminal.Attach(ctx, h.inner(), o)
	}
	st, err := b.opts.Process.Status(ctx, h.inner())
	if err != nil {
		return swarm.Attachment{}, err
	}
	if st.State != swarm.StateRunning {
		return swarm.Attachment{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	return swarm.Attachment{Command: []string{"true"}}, nil
}

// ErrNoTerminal means that the worker has no terminal to show.
var ErrNoTerminal = errors.New("the worker has no terminal")

// Attached returns the command that shows the worker of a handle in this terminal;
// ErrNoTerminal for one without a terminal.
func (b *Backend) Attached(ctx context.Context, raw swarm.Handle, env []string) (swarm.Attachment, error) {
	h, err := b.handle(raw)
	if err == nil && h.Kind != KindTerminal {
		err = ErrNoTerminal
	}
	if err != nil {
		return swarm.Attachment{}, err
	}
	return b.opts.Terminal.Attach(ctx, h.inner(), swarm.AttachOptions{Env: env})
}

// Show writes what a worker writes to w until it has ended, after the last lines of its
// output.
func (b *Backend) Show(ctx context.Context, raw swarm.Handle, w io.Writer) error {
	return b.Kept.Output(ctx, raw, swarm.OutputOptions{Tail: new(visible), Follow: true}, func(o swarm.Output) error {
		if !o.Partial {
			o.Data = append(o.Data, '\n')
		}
		_, err := w.Write(o.Data)
		return err
	})
}
