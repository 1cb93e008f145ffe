package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/shared/safetext"
)

// app is what every verb works with: the streams and the environment of one
// call. Fields are set once, before a verb runs.
type app struct {
	printer
	env []string
	// helpError is what was wrong with a request for help, which cobra can't return.
	helpError error
}

func newApp(stdout, stderr *os.File, env []string) *app {
	widthOf := func(f *os.File) func() int {
		return func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err == nil && width == 0 {
				return 80 // a terminal that does not tell, such as a serial line
			}
			return width
		}
	}
	return &app{printer: printer{
		out: &stream{w: stdout}, err: stderr,
		outWidth: widthOf(stdout), errWidth: widthOf(stderr),
	}, env: env}
}

// main runs the verb that args name and returns the exit code.
func (a *app) main(args []string) int {
	cobra.EnableCommandSorting = false // help lists the verbs in the order of their use
	ctx, stop, caught := interruptible()
	defer stop()
	root := newRoot(a, args...)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if code := caught(); code != 0 && errors.Is(err, context.Canceled) {
		return code
	}
	return a.report(cmd, err)
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM;
// the second one ends the process as usual. caught returns the exit code that
// tells of the signal, 0 if there was none.
func interruptible() (ctx context.Context, stop func(), caught func() int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		// Who started swarm with nohup, or in the background of a script, wants it
		// to be left alone.
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	stop = func() {
		signal.Stop(signals)
		cancel(nil)
	}
	return ctx, stop, func() int {
		if s, ok := errors.AsType[signalError](context.Cause(ctx)); ok {
			return 128 + int(s.Signal)
		}
		return 0
	}
}

// signalError is why the context of a call ended.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return e.String() }

// Is makes it what the end of a context is, for those who return its cause.
func (e signalError) Is(target error) bool { return target == context.Canceled }

// getenv returns the last value of a variable, as the environment has it.
func (a *app) getenv(key string) string { return setup.Setup{Env: a.env}.Getenv(key) }

// logger is nil unless SWARM_LOG asks for more than a user wants to read.
func (a *app) logger() hclog.Logger {
	level := hclog.LevelFromString(a.getenv("SWARM_LOG"))
	if level == hclog.NoLevel {
		return nil
	}
	return hclog.New(&hclog.LoggerOptions{Name: "swarm", Level: level, Output: safetext.Writer(a.err)})
}
