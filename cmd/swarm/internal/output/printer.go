package output

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"syscall"
)

// Printer writes what a call says: data to stdout, warnings and hints to stderr.
type Printer struct {
	Out *Stream
	Err io.Writer
	// OutWidth and ErrWidth are the widths of the terminals that stdout and stderr
	// are, 0 if they are not terminals.
	OutWidth, ErrWidth func() int
}

// Stream is stdout. The first error is kept, so that a full disk becomes an exit
// code although nobody looks at single writes.
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

// Printf writes data for the user or the next program. Whoever wrote the texts among
// args, they are made visible, each on one line, unless they are [Made] here.
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

// Made is text that is printed as it is: it has lines or colours of our own, and what
// others wrote in it is visible already.
type Made string

// Warn tells what went wrong without making the call fail.
func (p *Printer) Warn(text, hint string) {
	fmt.Fprintf(p.Err, "swarm: warning: %s\n", Visible(text))
	p.Hint(hint)
}

// Hint tells what to do about the line before; empty: nothing.
func (p *Printer) Hint(text string) {
	if text != "" {
		fmt.Fprintf(p.Err, "swarm: %s\n", Visible(text))
	}
}

// FinishWriting makes the verb go on when nobody reads its output any more: what
// it does to workers must not depend on that. The signal is caught, not ignored,
// because plugins and workers would inherit that.
func FinishWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
