// Command swarm starts workers, shows their status, and ends them for good. It is the host:
// each call starts the plugins that own the selected workers, asks them, and ends.
//
// The package turns flags and config files into requests to the host, and
// answers into text, JSON and exit codes; it decides nothing about workers.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/pid1"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/errtext"
)

func main() {
	if code, ok := pid1.Run("gc"); ok {
		os.Exit(code)
	}
	a := app.New(os.Stdout, os.Stderr, os.Environ())
	os.Exit(execute(a, os.Args[1:]))
}

func execute(a *app.App, args []string) int {
	cobra.EnableCommandSorting = false // help lists the verbs in the order of their use
	ctx, stop, caught := interruptible()
	defer stop()
	root := newRoot(a, args...)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if code := caught(); code != 0 && errors.Is(err, context.Canceled) {
		return code
	}
	return report(a, cmd, err)
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM; the second
// one ends the process as usual. caught returns the exit code for the signal, or 0 without
// one.
func interruptible() (ctx context.Context, stop func(), caught func() int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		// A signal that is ignored stays ignored: swarm was started with nohup, or in the
		// background of a script.
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

// Is makes it match [context.Canceled], for code that returns the cause of a context.
func (e signalError) Is(target error) bool { return target == context.Canceled }

// report prints an error and returns the exit code. It is the only place that maps errors
// to messages and codes.
func report(a *app.App, cmd *cobra.Command, err error) int {
	if err == nil {
		err = a.HelpError
	}
	var code *output.CodeError
	silent := err == nil || errors.As(err, &code) && code.Err == nil
	if a.Out.Err != nil && (silent || errors.Is(err, a.Out.Err)) {
		err = fmt.Errorf("cannot write the output: %w", errtext.Cause(a.Out.Err))
	}
	var usage *output.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		a.Fail(usage)
		a.Hint(cmp.Or(usage.Hint, fmt.Sprintf("run '%s --help' for usage", cmd.CommandPath())))
		return output.ExitUsage
	case errors.As(err, &code):
		if code.Err != nil {
			a.Fail(code.Err)
		}
		return code.Code
	default:
		a.Fail(err)
		return output.ExitFailed
	}
}
