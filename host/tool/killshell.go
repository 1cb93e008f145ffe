package tool

import (
	"cmp"
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

type KillShellInput struct {
	ShellID string `json:"shell_id" jsonschema:"ID of the background shell to kill"`
	Signal  string `json:"signal,omitempty" jsonschema:"Signal to send" schema:"default=SIGTERM,enum=SIGTERM|SIGKILL|SIGINT"`
	Force   bool   `json:"force" jsonschema:"Force kill after timeout" schema:"default=true"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"Ms to wait before SIGKILL" schema:"default=5000,over=0"`
}

type KillShellOutput struct {
	outcome
	ShellID     string `json:"shell_id" jsonschema:"ID of the shell"`
	SignalSent  string `json:"signal_sent" jsonschema:"Signal that was sent; none if the shell had ended"`
	ForceKilled *bool  `json:"force_killed,omitempty" jsonschema:"True if SIGKILL was needed"`
	ExitCode    *int   `json:"exit_code,omitempty" jsonschema:"Exit code, 128+n after signal n" schema:"number"`

	// Command is the command line of the shell, if it exists, and Timeout the time that it
	// had. Both are for people, and not part of the answer.
	Command string        `json:"-"`
	Timeout time.Duration `json:"-"`

	AfterAnswer func(context.Context) error `json:"-"`
	failure
}

var killShell = &definition[KillShellInput, KillShellOutput]{
	tool: Tool{
		Name:  "KillShell",
		Title: "Kill a background shell",
		Set:   Shells,
		Description: `Terminate a running background shell process.

Parameters:
- shell_id: The ID of the background shell to kill
  (returned by Bash tool with run_in_background=true)
- signal: Signal to send (SIGTERM, SIGKILL, SIGINT). Default: SIGTERM
- force: If true, send SIGKILL after timeout. Default: true
- timeout: Milliseconds to wait before force kill. Default: 5000

Use /tasks command to see running background shells and their IDs.

Returns success status and whether force kill was required.
`,
		Destructive: true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in KillShellInput) (KillShellOutput, error) {
		progress, stop := killProgress(env, in.ShellID)
		defer stop()
		r, err := shell.Kill(ctx, h, env.Session, shell.KillRequest{
			ID: in.ShellID, Signal: in.Signal, Force: in.Force, Timeout: milliseconds(in.Timeout), Progress: progress,
		})
		if err != nil {
			return KillShellOutput{}, err
		}
		return KillShellOutput{
			outcome:     outcome{r.Success},
			failure:     failure{r.Problem},
			ShellID:     in.ShellID,
			SignalSent:  r.SignalSent,
			ForceKilled: r.ForceKilled,
			ExitCode:    r.ExitCode,
			Command:     r.Shell.Command,
			Timeout:     milliseconds(in.Timeout),
			AfterAnswer: r.AfterAnswer,
		}, nil
	},
	failed: func(in KillShellInput) KillShellOutput {
		return KillShellOutput{ShellID: in.ShellID, SignalSent: cmp.Or(in.Signal, "SIGTERM")}
	},
}
