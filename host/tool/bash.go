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

// BashInput is a command line to run.
type BashInput struct {
	Command         string `json:"command" jsonschema:"Command line" schema:"min=1"`
	Timeout         int    `json:"timeout,omitempty" jsonschema:"Ms after which a foreground command is ended" schema:"default=120000,over=0"`
	RunInBackground bool   `json:"run_in_background,omitempty" jsonschema:"Answer at once; no timeout" schema:"default=false"`
	Description     string `json:"description,omitempty" jsonschema:"What the command does, in a few words"`
}

// BashOutput is what came of a command, or where it goes on.
type BashOutput struct {
	outcome
	Stdout     string `json:"stdout" jsonschema:"Its standard output; empty in the background"`
	Stderr     string `json:"stderr" jsonschema:"Its standard error; empty in the background"`
	ExitCode   int    `json:"exit_code" jsonschema:"Exit code, 128+n after signal n; -1 in the background" schema:"number"`
	TaskID     string `json:"task_id,omitempty" jsonschema:"ID of the background shell, for BashOutput and KillShell"`
	OutputFile string `json:"output_file,omitempty" jsonschema:"File that the background shell writes to, standard output and error merged; in the foreground only if the output was too long; the file holds all of it"`
	Note       string `json:"note,omitempty" jsonschema:"What became of a command that did not end in the time that a call has"`
	Error      string `json:"error,omitempty" jsonschema:"Why the command has no exit code of its own"`
	later
}

// onlyCommand reports whether the command has an exit code of its own, whatever its value.
func (out BashOutput) onlyCommand() bool { return out.Error == "" }

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
		return BashOutput{outcome: outcome{true}, ExitCode: -1, TaskID: s.ID, OutputFile: s.OutputFile}, nil
	}
	r, err := shell.Run(ctx, h, command)
	if err != nil {
		return BashOutput{}, err
	}
	if s := r.HandedOver; s != nil {
		return BashOutput{
			outcome: outcome{true}, ExitCode: -1, TaskID: s.ID, OutputFile: s.OutputFile,
			later: later{r.Transcribe},
			Note:  fmt.Sprintf("It did not end within %s and goes on in the background, without a timeout.", command.HandOver),
		}, nil
	}
	return bashOutputOf(r), nil
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
