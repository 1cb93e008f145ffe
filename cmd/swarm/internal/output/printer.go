package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

// Printer writes the output of a call: data to stdout, warnings and hints to stderr.
type Printer struct {
	Out *Stream
	Err io.Writer
	// OutWidth and ErrWidth are the widths of the terminals that stdout and stderr
	// are, 0 if they are not terminals.
	OutWidth, ErrWidth func() int
	// ErrColours reports whether stderr is to be coloured; nil: it is not.
	ErrColours func() bool
}

// Stream is stdout. It keeps the first error, so that a full disk leads to an exit code
// although callers ignore errors of single writes.
type Stream struct {
	W   io.Writer
	Err error
}

func (o *Stream) Write(p []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	n, err := o.W.Write(p)
	o.Err = err
	return n, err
}

// Printf writes data for the user or the next program. Each text among args is made
// visible, on one line, unless it is [Made].
func (p *Printer) Printf(format string, args ...any) {
	for i, arg := range args {
		switch text := arg.(type) {
		case Made:
		case error:
			args[i] = Visible(text.Error())
		default:
			if reflect.ValueOf(arg).Kind() == reflect.String {
				args[i] = Visible(fmt.Sprint(arg))
			}
		}
	}
	fmt.Fprintf(p.Out, format, args...)
}

// Made is text that is printed unchanged: it has lines or colours of our own, and text of
// others in it was made visible before.
type Made string

// Warn prints a warning; the call does not fail.
func (p *Printer) Warn(text, hint string) {
	fmt.Fprintf(p.Err, "swarm: %s %s\n", p.onErr(Yellow, "warning:"), Visible(humane.Brief(text)))
	p.Hint(hint)
}

// WarnAll prints warnings without hints.
func (p *Printer) WarnAll(texts []string) {
	for _, text := range texts {
		p.Warn(text, "")
	}
}

func (p *Printer) Error(text string) {
	fmt.Fprintf(p.Err, "swarm: %s %s\n", p.onErr(Red, "error:"), Visible(humane.Brief(text)))
}

func (p *Printer) onErr(s Style, word string) string {
	if p.ErrColours == nil || !p.ErrColours() {
		return word
	}
	return s.Paint(word)
}

// Hint prints a hint about the line before, unless it is empty.
func (p *Printer) Hint(text string) {
	if text != "" {
		fmt.Fprintf(p.Err, "swarm: %s\n", Visible(humane.Brief(text)))
	}
}

// Tip prints a hint that is not about a line before, paler than other lines.
func (p *Printer) Tip(text string) {
	fmt.Fprintf(p.Err, "%s\n", p.onErr(Faint, "swarm: "+Visible(text)))
}

// FinishWriting makes the verb continue after its output was closed: its effect on workers
// must not depend on a reader. The signal is caught, not ignored, because plugins and
// workers would inherit that.
func FinishWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// OrNull is null for the zero value.
func OrNull[V comparable](v V) *V {
	var zero V
	if v == zero {
		return nil
	}
	return &v
}

// ValueOr returns what p points to, or otherwise for nil.
func ValueOr[V any](p *V, otherwise V) V {
	if p == nil {
		return otherwise
	}
	return *p
}

// List returns what f makes of each of xs. It is never nil: JSON shows [] for none.
func List[X, Y any](xs []X, f func(X) Y) []Y {
	list := make([]Y, len(xs))
	for i, x := range xs {
		list[i] = f(x)
	}
	return list
}

// OneOrList returns the only element of list for a call with one name, else list.
func OneOrList[V any](list []V, one bool) any {
	if one && len(list) == 1 {
		return list[0]
	}
	return list
}

func TimeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(t.UTC().Format(time.RFC3339Nano))
}

// PrintJSON is all that a verb with --json writes to stdout.
func (p *Printer) PrintJSON(v any) error { return p.writeJSON(v, "  ") }

// Conclude ends a verb that printed its results one by one. With --json it prints v; the
// call fails if one of them has failed.
func (p *Printer) Conclude(asJSON bool, v any, failed bool) error {
	if asJSON {
		if err := p.PrintJSON(v); err != nil {
			return err
		}
	}
	if failed {
		return Failed
	}
	return nil
}

// PrintJSONLine writes one object of a stream that a verb prints with --json.
func (p *Printer) PrintJSONLine(v any) error { return p.writeJSON(v, "") }

// writeJSON writes v with all control characters escaped, so that it is safe for a
// terminal.
func (p *Printer) writeJSON(v any, indent string) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, v, "", indent); err != nil {
		return err
	}
	_, err := p.Out.Write(safetext.JSON(b.Bytes()))
	return err
}

func encodeJSON(to io.Writer, v any, prefix, indent string) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	return e.Encode(v)
}
