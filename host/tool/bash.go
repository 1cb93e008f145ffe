package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

type BashInput struct {
	Command         string `json:"command" jsonschema:"Command line" schema:"min=1"`
	Timeout         int    `json:"timeout,omitempty" jsonschema:"Ms after which a foreground command is ended" schema:"default=120000,over=0"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"Answer at once; no timeout" schema:"default=false"`
	Description     string `json:"description,omitempty" jsonschema:"What the command does, in a few words"`
}

// BashOutput is the result of a command, or the shell in which it continues.
type BashOutput struct {
	outcome
	shell.Result
	Note string `json:"note,omitempty" jsonschema:"Why a command continues in the background"`

	AfterAnswer func(context.Context) error `json:"-"`
	failure
}

func (out BashOutput) commandFailed() bool {
	return out.ExitCode != 0 && out.TaskID == "" && out.Error == ""
}

func (out BashOutput) handedOver() string {
	if out.Note == "" {
		return ""
	}
	return out.TaskID
}

var bash = &definition[BashInput, BashOutput]{
	tool: Tool{
		Name:  "Bash",
		Title: "Run a command",
		Set:   Shells,
		Description: `Run a command line with bash and return its output and exit code. With run_in_background
it returns a task_id at once, for BashOutput and KillShell. A long command moves to the
background by itself. All of them end with this session.`,
		Destructive: true,
	},
	run: runBash,
	failed: func(BashInput) BashOutput {
		return BashOutput{Result: shell.Result{ExitCode: shell.Unknown}}
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
		HandOver:    env.Patience,
		Most:        maxCharacters,
	}
	if env.TaskAfter > 0 && command.Timeout > env.Patience {
		command.HandOver = env.TaskAfter
	}
	if in.RunInBackground {
		s, err := shell.Start(ctx, h, command)
		if err != nil {
			return BashOutput{}, err
		}
		return bashOutputOf(shell.Result{ExitCode: shell.Unknown, TaskID: s.ID, OutputFile: s.OutputFile}), nil
	}
	r, err := shell.Run(ctx, h, command)
	if err != nil {
		return BashOutput{}, err
	}
	out := bashOutputOf(r)
	if r.TaskID != "" {
		out.AfterAnswer = r.Transcribe
		out.Note = fmt.Sprintf("It did not end within %s and continues in the background, without a timeout.", command.HandOver)
	}
	return out, nil
}

func bashOutputOf(r shell.Result) BashOutput {
	return BashOutput{Result: r, failure: failure{r.Problem}}
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

func (out BashOutput) text() string {
	if out.TaskID != "" {
		text := fmt.Sprintf("Runs in the background as %s. BashOutput returns its output, KillShell ends it.\nOutput file: %s", out.TaskID, out.OutputFile)
		if out.Note != "" {
			text = out.Note + "\n" + text
		}
		return text
	}
	parts := []string{}
	add := func(text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	if out.Error != "" {
		add("Error: " + out.Error)
	}
	add(out.Stdout)
	if out.Stderr != "" {
		add("[stderr]\n" + out.Stderr)
	}
	if len(parts) == 0 {
		add("(no output)")
	}
	if out.ExitCode != 0 {
		add(fmt.Sprintf("[exit code %d]", out.ExitCode))
	}
	return strings.Join(parts, "\n")
}

// BashOutcome is the answer that Bash would have given if it had waited for the end of a
// command which continued in the background as the shell id, and which has ended since.
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
	settle(&out)
	return resultOf(&out), nil
}
