package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/shim/client"
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
	shown, err := lastLines(ctx, w.Dir, cmp.Or(max(o.Lines, 0), visible), o.Styles)
	s := swarm.Screen{Lines: shown, Taken: st.State != swarm.StateRunning}
	if o.Styles {
		s.Styled, s.Lines = shown, make([]string, len(shown))
		for i, line := range shown {
			s.Lines[i] = strings.TrimRight(screen.Plain(line), " \t")
		}
	}
	return s, err
}

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

// lastLines returns the last lines of the output in a run directory, as a terminal shows them, with
// SGR sequences if they are to have styles.
func lastLines(ctx context.Context, dir string, n int, styles bool) ([]string, error) {
	var all []string
	joined := make(map[swarm.Stream]*screen.Lines)
	screens := make(map[swarm.Stream]*screen.Screen)
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		joined[stream] = &screen.Lines{Line: func(l screen.Line) {
			text := strings.TrimRight(strings.ToValidUTF8(string(l.Text), "\uFFFD"), " \t")
			if styles {
				text = screen.Render(screen.Spans(text))
			}
			all = append(all, text)
		}}
		screens[stream] = &screen.Screen{Live: true, Colours: styles, Line: joined[stream].Add}
	}
	err := client.Output(ctx, dir, swarm.OutputOptions{Tail: &n}, func(o swarm.Output) error {
		if !o.Partial {
			o.Data = append(o.Data, '\n')
		}
		screens[o.Stream].Write(o.Data, o.Time)
		return nil
	})
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		screens[stream].Close()
		joined[stream].Close()
	}
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all[max(0, len(all)-n):], err
}

// Attach reports whether a person's terminal can be connected with a worker. How is
// [Backend.Attachment]'s business: the command would have to pass a shell on the way here.
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

// Resize sets the size of the terminal of a worker that has one.
func (b *Backend) Resize(ctx context.Context, raw swarm.Handle, columns, rows int) error {
	h, err := b.handle(raw)
	if err != nil {
		return err
	}
	if h.Kind == KindTerminal {
		return b.opts.Terminal.Resize(ctx, h.inner(), columns, rows)
	}
	st, err := b.opts.Process.Status(ctx, h.inner())
	switch {
	case err != nil:
		return err
	case st.State != swarm.StateRunning:
		return fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	default:
		return fmt.Errorf("%w: the worker is on no terminal: spawn it with --option tty=true", swarm.ErrInvalidSpec)
	}
}

var ErrNoTerminal = errors.New("the worker has no terminal")

// Attached is a worker that a person's terminal is to be connected with.
type Attached struct {
	Handle   swarm.Handle
	ReadOnly bool `json:",omitempty"`
}

// Attachment returns the command that shows a worker in this terminal; ErrNoTerminal for one
// without a terminal.
func (b *Backend) Attachment(ctx context.Context, to Attached, env []string) (swarm.Attachment, error) {
	h, err := b.handle(to.Handle)
	if err == nil && h.Kind != KindTerminal {
		err = ErrNoTerminal
	}
	if err != nil {
		return swarm.Attachment{}, err
	}
	return b.opts.Terminal.Attach(ctx, h.inner(), swarm.AttachOptions{Env: env, ReadOnly: to.ReadOnly})
}

// Execution is a command in a worker, as swarm-remote takes it.
type Execution struct {
	Handle  swarm.Handle      `json:"handle"`
	Options swarm.ExecOptions `json:"options"`
	// Mark is written in a line of its own before the command runs: before it, a login shell may write. Empty: none.
	Mark string `json:"mark,omitempty"`
}

// Exec returns the program that runs a command in a worker of this machine.
func (b *Backend) Exec(ctx context.Context, raw swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	o.Shim = b.opts.Shim
	return b.Kept.Exec(ctx, raw, o)
}

// CopyRequest is what to copy of a worker, as swarm-remote takes it.
type CopyRequest struct {
	Handle  swarm.Handle      `json:"handle"`
	Options swarm.CopyOptions `json:"options"`
	// Mark is as that of an [Execution].
	Mark string `json:"mark,omitempty"`
}

// Copy returns the program that copies files of a worker of this machine: swarm-remote itself.
func (b *Backend) Copy(ctx context.Context, raw swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	h, err := b.handle(raw)
	if err != nil {
		return swarm.Program{}, err
	}
	w, err := b.worker(h)
	if err != nil {
		return swarm.Program{}, err
	}
	r, err := b.store.read(w.ID)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: worker %s", swarm.ErrNotFound, w.ID)
	}
	if err != nil {
		return swarm.Program{}, err
	}
	if r.Spec.Dir == "" {
		if r.Spec.Dir, err = os.UserHomeDir(); err != nil {
			return swarm.Program{}, err
		}
	}
	o.Dir, o.Shim = r.Spec.Dir, filepath.Join(filepath.Dir(b.opts.Shim), Program)
	return b.Kept.Copy(ctx, raw, o)
}

// ForwardRequest is which port of a worker to connect with, as swarm-remote takes it.
type ForwardRequest struct {
	Handle swarm.Handle `json:"handle"`
	Port   int          `json:"port"`
	// Mark is written in a line of its own once the port is connected: before it, a login shell may write.
	Mark string `json:"mark"`
}

// Forward returns the program that connects with a port of this machine, whose network all workers here have:
// swarm-remote itself.
func (b *Backend) Forward(ctx context.Context, raw swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	st, err := b.Status(ctx, raw)
	switch {
	case err != nil:
		return swarm.Program{}, err
	case st.State == swarm.StateExited || st.State == swarm.StateLost:
		return swarm.Program{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	}
	program := filepath.Join(filepath.Dir(b.opts.Shim), Program)
	return swarm.Program{Command: append([]string{program}, relay.Args(o.Port)...)}, nil
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
