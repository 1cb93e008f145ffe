package fake

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Input implements [swarm.Inputter]. Only the program "echo" reads it.
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	w, err := b.runningWorker(h)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return swarm.InputResult{}, err
	}
	switch in.Kind {
	case swarm.InputText:
		return swarm.InputResult{}, w.read(in)
	case swarm.InputEOF:
		return swarm.InputResult{}, w.closeInput()
	case swarm.InputInterrupt:
		w.signal("SIGINT", swarm.CauseExited)
		return swarm.InputResult{}, nil
	case swarm.InputKeys:
		return swarm.InputResult{}, fmt.Errorf("%w: worker '%s' is on no terminal: no key can be pressed", swarm.ErrInvalidSpec, w.spec.Name)
	default:
		return swarm.InputResult{}, fmt.Errorf("%w: unknown kind of input %d", swarm.ErrInvalidSpec, in.Kind)
	}
}

// runningWorker returns the worker of a handle, which must not have ended.
func (b *Backend) runningWorker(h swarm.Handle) (*worker, error) {
	w, err := b.worker(h)
	if err != nil {
		return nil, err
	}
	select {
	case <-w.done:
		return nil, fmt.Errorf("%w: worker '%s' has ended", swarm.ErrNotFound, w.spec.Name)
	default:
		return w, nil
	}
}

func (w *worker) read(in swarm.Input) error {
	if err := in.Check(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.open(); err != nil {
		return err
	}
	w.typed += string(in.Data)
	if in.Enter {
		w.typed += "\n"
	}
	lines := strings.Split(w.typed, "\n")
	w.typed = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		w.hears("got " + line)
	}
	return nil
}

func (w *worker) closeInput() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.open(); err != nil {
		return err
	}
	w.closed = true
	w.hears("eof")
	return nil
}

func (w *worker) hears(line string) {
	if w.spec.Command[0] == "echo" {
		w.put(line, false)
	}
}

func (w *worker) open() error {
	switch {
	case !w.spec.Stdin:
		return fmt.Errorf("%w: worker '%s' has no standard input", swarm.ErrInvalidSpec, w.spec.Name)
	case w.closed:
		return fmt.Errorf("%w: the input of worker '%s' has ended", swarm.ErrInvalidSpec, w.spec.Name)
	}
	return nil
}

// Signal implements [swarm.Signaller].
func (b *Backend) Signal(_ context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	signal, err := swarm.ParseSignal(o.Signal)
	if err != nil {
		return err
	}
	w, err := b.runningWorker(h)
	if err != nil {
		return err
	}
	w.signal(signal, swarm.CauseExited)
	return nil
}

// The size of a new terminal.
const (
	width  = 80
	height = 24
)

// Screen implements [swarm.Screener]: a screen shows the last of the output.
func (b *Backend) Screen(_ context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	w, err := b.worker(h)
	if err != nil {
		return swarm.Screen{}, err
	}
	pieces, ended, _ := w.since(0)
	_, rows := w.size()
	n := cmp.Or(max(o.Lines, 0), rows)
	s := swarm.Screen{Taken: ended}
	if !ended {
		s.Columns, s.Rows = w.size()
		s.Cursor = &swarm.Cursor{Row: min(len(pieces), s.Rows-1), Visible: true}
	}
	for _, p := range pieces[max(0, len(pieces)-n):] {
		s.Lines = append(s.Lines, string(p.Data))
	}
	return s, nil
}

// size returns the size of the terminal.
func (w *worker) size() (columns, rows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.columns, width), cmp.Or(w.rows, height)
}

// Resize implements [swarm.Resizer].
func (b *Backend) Resize(_ context.Context, h swarm.Handle, columns, rows int) error {
	if err := swarm.CheckSize(columns, rows); err != nil {
		return err
	}
	return b.change(h, func(w *worker) { w.columns, w.rows = columns, rows })
}

// ScreenBatch implements [swarm.BatchScreener].
func (b *Backend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(hs))
	for i, h := range hs {
		results[i].Screen, results[i].Err = b.Screen(ctx, h, o)
	}
	return results, nil
}

// Attach implements [swarm.Attacher].
func (b *Backend) Attach(_ context.Context, h swarm.Handle, _ swarm.AttachOptions) (swarm.Attachment, error) {
	w, err := b.runningWorker(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	return swarm.Attachment{Command: []string{"echo", "attached to " + w.spec.Name}}, nil
}

// within is a shell script that runs a command while a file exists, and while it runs itself. Its
// arguments are the file, the worker's directory, the command's, and the command.
const within = `alive=$1; [ -z "$2" ] || cd "$2" || exit 126; [ -z "$3" ] || cd "$3" || exit 126; shift 3
exec 3<&0; "$@" <&3 3<&- & pid=$!
(while [ -e "$alive" ] && kill -0 $$ 2>/dev/null; do sleep 0.02; done; kill $pid) 3<&- >/dev/null 2>&1 & watch=$!
trap 'kill $pid' TERM HUP INT; wait $pid; code=$?; kill $watch 2>/dev/null; exit $code`

// Exec implements [swarm.Execer]. Workers of the engine have no processes, but the command is one,
// on this machine.
func (b *Backend) Exec(_ context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	w, err := b.runningWorker(h)
	if err != nil {
		return swarm.Program{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alive == "" && w.exit == nil {
		f, err := os.CreateTemp("", "swarm-fake-")
		if err != nil {
			return swarm.Program{}, err
		}
		_ = f.Close()
		w.alive = f.Name()
	}
	command := append([]string{"env", "-i", "PATH=" + os.Getenv("PATH")}, w.spec.Environ()...)
	command = append(append(command, o.Env...), "sh", "-c", within, "within", w.alive, w.spec.Dir, o.Dir)
	return swarm.Program{Command: append(command, o.Command...)}, nil
}

// pack and unpack are shell scripts with tar, whose arguments are the worker's directory and a path.
const (
	pack = `cd "$1" || exit 1
case $2 in .|*/.) exec tar -cf - -C "$2" . ;; *) exec tar -cf - -C "$(dirname -- "$2")" -- "$(basename -- "$2")" ;; esac`
	unpack = `cd "$1" || exit 1
exec tar -xf - -C "$2"`
	refuse = `echo "$2 leads out of the directory" >&2; exit 1`
)

// Copy implements [swarm.Copier] with the tar of this machine. A worker without a directory gets one, for as long as
// it runs.
func (b *Backend) Copy(_ context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	w, err := b.runningWorker(h)
	if err != nil {
		return swarm.Program{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.home == "" && w.spec.Dir == "" && w.exit == nil {
		if w.home, err = os.MkdirTemp("", "swarm-fake-"); err != nil {
			return swarm.Program{}, err
		}
	}
	script := pack
	switch clean := path.Clean(o.Path); {
	case clean == ".." || strings.HasPrefix(clean, "../"):
		script = refuse
	case o.Into:
		script = unpack
	}
	return swarm.Program{Command: []string{"sh", "-c", script, "copy", cmp.Or(w.spec.Dir, w.home), o.Path}}, nil
}
