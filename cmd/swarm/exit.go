package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/errtext"
)

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
		hint := usage.Hint
		if hint == "" {
			hint = fmt.Sprintf("run '%s --help' for usage", cmd.CommandPath())
		}
		a.Hint(hint)
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
