package tool

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// BashInput is a command line to run.
type BashInput struct {
	Command         string `json:"command" jsonschema:"Command line, run by bash in the working directory" schema:"min=1"`
	Timeout         int    `json:"timeout,omitempty" jsonschema:"Milliseconds that it may take in the foreground; then all of it is ended" schema:"default=120000,over=0"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"Answer at once and let it go on; timeout does not apply" schema:"default=false"`
	Description     string `json:"description,omitempty" jsonschema:"What the command does, in a few words"`
}

// BashOutput is what came of a command, or where it goes on.
type BashOutput struct {
	outcome
	Stdout     string `json:"stdout" jsonschema:"What it wrote to standard output; empty in the background"`
	Stderr     string `json:"stderr" jsonschema:"What it wrote to standard error; empty in the background"`
	ExitCode   int    `json:"exit_code" jsonschema:"Exit code, 128+n after signal n; -1 in the background" schema:"number"`
	TaskID     string `json:"task_id,omitempty" jsonschema:"ID of the background shell, for BashOutput and KillShell"`
	OutputFile string `json:"output_file,omitempty" jsonschema:"File that the background shell writes to, standard output and error merged"`
	Error      string `json:"error,omitempty" jsonschema:"Why there is no exit code of the command's own"`
}

// Bash runs a command line.
func Bash(ctx context.Context, env Env, in BashInput) (BashOutput, error) {
	return bash.do(ctx, env, in)
}

var bash = &definition[BashInput, BashOutput]{
	tool: Tool{
		Name:  "Bash",
		Title: "Run a command",
		Description: `Run a command line with bash and return what it wrote and its exit code.

With run_in_background the answer comes at once: task_id names the background
shell for BashOutput (what it wrote since), KillShell (end it) and tasks (list
all); output_file is where its output goes. It goes on until it ends, is killed,
or the process of the session that started it is gone.`,
		Destructive: true,
	},
	run: runBash,
	failed: func(in BashInput, text string) BashOutput {
		return BashOutput{ExitCode: -1, Error: text}
	},
}

func runBash(ctx context.Context, h *host.Host, env Env, in BashInput) (BashOutput, error) {
	dir, err := env.dir("")
	if err != nil {
		return BashOutput{}, err
	}
	command := shell.Command{
		Command:     in.Command,
		Description: in.Description,
		Dir:         dir,
		Timeout:     milliseconds(in.Timeout),
		Session:     env.Session,
	}
	if in.RunInBackground {
		s, err := shell.Start(ctx, h, command)
		if err != nil {
			return BashOutput{}, err
		}
		return BashOutput{outcome: outcome{true}, ExitCode: -1, TaskID: s.ID, OutputFile: s.OutputFile}, nil
	}
	r, err := shell.Run(ctx, h, command)
	if err != nil {
		return BashOutput{}, err
	}
	return BashOutput{
		outcome:  outcome{r.ExitCode == 0 && r.Problem == ""},
		Stdout:   r.Stdout,
		Stderr:   r.Stderr,
		ExitCode: r.ExitCode,
		Error:    r.Problem,
	}, nil
}

// milliseconds is a duration of an input, at most some years: a longer one would
// overflow when it is added to a time.
func milliseconds(n int) time.Duration {
	const most = 10 * 365 * 24 * time.Hour
	if n > int(most/time.Millisecond) {
		return most
	}
	return time.Duration(n) * time.Millisecond
}
