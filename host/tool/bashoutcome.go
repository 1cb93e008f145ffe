package tool

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/shell"
)

// BashOutcome is the answer that Bash would have given if it had waited for the end of a
// command which went on in the background as the shell id, and which has ended since.
func BashOutcome(ctx context.Context, env Env, id string) (Result, error) {
	h, err := env.Open(ctx)
	if err != nil {
		return Result{}, err
	}
	r, err := shell.Outcome(ctx, h, env.Session, id, maxCharacters)
	if err := errors.Join(err, h.Close()); err != nil {
		return Result{}, err
	}
	out := bashOutputOf(r)
	return Result{Output: out, Failed: !out.Success, OnlyCommand: !out.Success && out.onlyCommand()}, nil
}

// bashOutputOf is the answer for a command that has ended.
func bashOutputOf(r shell.Result) BashOutput {
	return BashOutput{
		outcome:    outcome{r.ExitCode == 0 && r.Problem == ""},
		Stdout:     r.Stdout,
		Stderr:     r.Stderr,
		ExitCode:   r.ExitCode,
		OutputFile: r.OutputFile,
		Error:      r.Problem,
	}
}
