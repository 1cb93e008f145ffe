package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"syscall"
)

// printer writes what a call says: data to stdout, warnings and hints to stderr.
type printer struct {
	out *stream
	err io.Writer
	// outWidth and errWidth are the widths of the terminals that stdout and stderr
	// are, 0 if they are none.
	outWidth, errWidth func() int
}

// stream is stdout. The first error is kept, so that a full disk becomes an exit
// code although nobody looks at single writes.
type stream struct {
	w   io.Writer
	err error
}

func (o *stream) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// printf writes data for the user or the next program. Whoever wrote the texts among
// args, they are made visible, each on one line, unless they are [made] here.
func (p *printer) printf(format string, args ...any) {
	for i, arg := range args {
		switch text := arg.(type) {
		case made:
		case error:
			args[i] = visible(text.Error())
		default:
			if reflect.ValueOf(arg).Kind() == reflect.String {
				args[i] = visible(fmt.Sprint(arg))
			}
		}
	}
	fmt.Fprintf(p.out, format, args...)
}

// made is text that is printed as it is: it has lines or colours of our own, and what
// others wrote in it is visible already.
type made string

// warn tells what went wrong without making the call fail.
func (p *printer) warn(text, hint string) {
	fmt.Fprintf(p.err, "swarm: warning: %s\n", visible(text))
	p.hint(hint)
}

// hint tells what to do about the line before; empty: nothing.
func (p *printer) hint(text string) {
	if text != "" {
		fmt.Fprintf(p.err, "swarm: %s\n", visible(text))
	}
}

// finishWriting makes the verb go on when nobody reads its output any more: what
// it does to workers must not depend on that. The signal is caught, not ignored,
// because plugins and workers would inherit that.
func finishWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
