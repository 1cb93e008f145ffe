package talk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

type sendOptions struct {
	command.Selection
	stdin   bool
	noEnter bool
	anyway  bool
	timeout *time.Duration
	wait    bool
	limit   *time.Duration
	json    bool
}

func NewSend(a *app.App) *cobra.Command { return newSendWith(a, &sendOptions{}) }

func newSendWith(a *app.App, o *sendOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "send NAME TEXT | NAME --stdin | --all TEXT | --tag TAG TEXT",
		Short: "Type text into workers",
		Long: `Type TEXT into a worker as a person would, and press Enter once the worker has read
it. The text arrives unchanged, several lines too; text that a terminal would cut (a
line of more than 4,095 bytes in line mode) is refused beforehand.

If the worker has a profile that knows its prompt, as coding agents do, send reads its
screen first. If the agent asks something, nothing is typed and the question is the
error; the same holds if it shows an error, or unsent text at its prompt. If the agent
is not at its prompt yet, send waits for it, up to --timeout. If a dialog appears after
the text was typed, Enter is not pressed. "sent to NAME" then means that the screen
shows that the agent took the text; if the screen can't show it, the answer is "sent to
NAME, not confirmed". Nothing is ever typed twice. --anyway types without looking.

A worker without a terminal gets the text on its standard input, if it was spawned
with --stdin. With --all and --tag, workers that take no input are skipped.

With --wait, send returns when the turn of the agent has ended, with its background work,
and prints how: idle (at its prompt), asks, limited (at a usage limit), broken (with an
error, or it needs a sign-in) or ended (its worker has). An agent that takes the text and
is not seen to begin is stalled.

NAME may also be the name of an agent, if no worker and no agent of another team has it.

Exit code with --wait: 0 idle, 3 asks, 4 limited, 5 broken, 6 ended, 7 stalled, 124 if
--wait-timeout has run out.`,
		Example: `  swarm send agent "run the tests again"
  swarm send agent --stdin < prompt.md
  swarm send agent "run the tests again" --wait || swarm status agent
  swarm send shell --no-enter -- -v
  swarm send --tag reviewer "commit what you have"
  swarm send agent --anyway "and nothing else"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, in, err := o.parse(cmd, args)
			if err != nil {
				return err
			}
			if o.wait || cmd.Flags().Changed("wait-timeout") {
				return o.sendAndWait(cmd.Context(), a, sel, in)
			}
			if o.anyway {
				return give(cmd.Context(), a, sel, in, "sent to %s", o.json)
			}
			req := input.DeliverRequest{Text: in.Data, Enter: in.Enter, Timeout: output.ValueOr(o.timeout, 0)}
			ctx := cmd.Context()
			return reportSent(ctx, a, sel, "sent to %s", o.json, func(h *host.Host, sel worker.Selection) ([]input.Outcome, error) {
				return h.Input().Deliver(ctx, sel, req)
			})
		},
	}
	o.AddTo(cmd, a)
	cmd.ValidArgsFunction = a.CompleteOneWorker
	f := cmd.Flags()
	f.BoolVar(&o.stdin, "stdin", false, "send what is on stdin; one newline at its end is the Enter")
	f.BoolVar(&o.noEnter, "no-enter", false, "do not press Enter")
	f.BoolVar(&o.anyway, "anyway", false, "type without reading an agent's screen first")
	f.Var(command.Duration(&o.timeout), "timeout", "how long to wait for an agent's prompt (default 30s)")
	f.BoolVar(&o.wait, "wait", false, "return when the agent's turn has ended, and say how")
	f.Var(command.Duration(&o.limit), "wait-timeout", "how long to wait for that at most; implies --wait")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return output.WithHint(command.FlagError(cmd, err), "put -- before a text that begins with '-': swarm send NAME -- TEXT")
	})
	return cmd
}

func (o *sendOptions) parse(cmd *cobra.Command, args []string) (worker.Selection, swarm.Input, error) {
	in := swarm.Input{Enter: !o.noEnter}
	crowd := o.All || cmd.Flags().Changed("tag")
	names := args
	if !o.stdin {
		switch {
		case len(args) == 0 && !crowd:
			return worker.Selection{}, in, output.Usagef("missing arguments: name of a worker and a text")
		case len(args) == 0 || len(args) == 1 && !crowd:
			return worker.Selection{}, in, output.Usagef("missing argument: the text, or --stdin")
		}
		last := len(args) - 1
		names, in.Data = args[:last], []byte(args[last])
	}
	if len(names) > 1 {
		return worker.Selection{}, in, output.Usagef("unexpected argument '%s'; a text of several words needs quotes", args[len(args)-1])
	}
	sel, err := o.Of(cmd, names)
	if err != nil {
		return sel, in, err
	}
	if o.stdin {
		in.Data, err = app.ReadInput(cmd.Context(), cmd.InOrStdin(), in.Enter)
	}
	if err == nil && len(in.Data) == 0 && !in.Enter {
		err = output.Usagef("there is nothing to send")
	}
	return sel, in, err
}

func give(ctx context.Context, a *app.App, sel worker.Selection, in swarm.Input, line string, asJSON bool) error {
	return reportSent(ctx, a, sel, line, asJSON, func(h *host.Host, sel worker.Selection) ([]input.Outcome, error) {
		outcomes, err := h.Input().Send(ctx, sel, in)
		for i := range outcomes {
			// Keys are pressed: there is nothing to confirm.
			outcomes[i].Confirmed = outcomes[i].Confirmed || in.Kind != swarm.InputText
		}
		return outcomes, err
	})
}

type sender func(*host.Host, worker.Selection) ([]input.Outcome, error)

func reportSent(ctx context.Context, a *app.App, sel worker.Selection, line string, asJSON bool, send sender) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		sel, err := h.Roster().ByAgent(ctx, sel)
		if err != nil {
			return err
		}
		outcomes, err := send(h, sel)
		if err != nil {
			return err
		}
		if len(outcomes) == 0 {
			a.NoWorkers(sel, "running")
		}
		failed := false
		for _, out := range outcomes {
			failed = failed || out.Err != nil
			switch {
			case out.Err != nil && ctx.Err() != nil && errors.Is(out.Err, context.Canceled):
				a.Hint(fmt.Sprintf("interrupted; '%s' may have read a part of it", out.Worker.Name))
			case out.Err != nil:
				a.Fail(out.Err)
			case asJSON:
			case out.Confirmed || out.Pending:
				a.Printf(line+"\n", out.Worker.Name)
			default:
				a.Printf(line+", not confirmed\n", out.Worker.Name)
			}
			if out.Pending {
				a.Warn(fmt.Sprintf("'%s' has not read all of it yet", out.Worker.Name), "")
			}
		}
		err = a.Conclude(asJSON, output.List(outcomes, sendJSONOf), failed)
		if errors.Is(err, output.Failed) && ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
}

// turnCodes are the exit codes of turns.
var turnCodes = map[host.TurnEnd]int{
	host.TurnAsks: output.ExitAsks, host.TurnLimited: output.ExitLimited, host.TurnBroken: output.ExitBroken,
	host.TurnEnded: output.ExitEnded, host.TurnStalled: output.ExitStalled,
}

// sendAndWait gives a text to one agent and waits until its turn has ended.
func (o *sendOptions) sendAndWait(ctx context.Context, a *app.App, sel worker.Selection, in swarm.Input) error {
	switch {
	case len(sel.Names) != 1:
		return output.Usagef("--wait is for one worker")
	case o.anyway || o.noEnter:
		return output.Usagef("--wait needs a text that is seen to be taken: neither --anyway nor --no-enter")
	}
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		sel, err := h.Roster().ByAgent(ctx, sel)
		if err != nil {
			return err
		}
		outcomes, err := h.Input().Deliver(ctx, sel, input.DeliverRequest{Text: in.Data, Enter: true, Timeout: output.ValueOr(o.timeout, 0)})
		if err != nil {
			return err
		}
		out := outcomes[0]
		if out.Err != nil {
			return out.Err
		}
		if !out.Confirmed {
			return fmt.Errorf("'%s' was sent the text, but swarm can't see the turns of this program", out.Worker.Name)
		}
		waiting, cancel := command.Limit(ctx, o.limit)
		defer cancel()
		turn, err := h.AwaitTurn(waiting, out.Worker.Name, string(in.Data))
		if err != nil {
			return cmp.Or(command.Over(waiting, err), err)
		}
		if o.json {
			j := turnJSON{sendJSON: sendJSONOf(out), Outcome: string(turn.End), Reason: output.OrNull(turn.Reason())}
			if err := a.PrintJSON(j); err != nil {
				return err
			}
		} else {
			printTurn(a, turn)
		}
		if code := turnCodes[turn.End]; code != 0 {
			return &output.CodeError{Code: code}
		}
		return nil
	})
}

func printTurn(a *app.App, t host.Turn) {
	name, reason := t.Worker.Name, t.Reason()
	switch {
	case t.End == host.TurnAsks && t.Worker.State != nil:
		e := &deliver.AsksError{Name: name, Question: t.Worker.State.Question, Choices: t.Worker.State.Choices, Dialog: t.Worker.State.Dialog}
		a.Printf("%s: asks: %s\n", name, deliver.Dialog(e.Question, e.Choices))
		a.Hint(e.Hint())
	case t.End == host.TurnEnded:
		a.Printf("%s: ended (%s)\n", name, view.ExitText(t.Worker))
	case reason != "":
		a.Printf("%s: %s: %s\n", name, t.End, deliver.Dialog(reason, nil))
	default:
		a.Printf("%s: %s\n", name, t.End)
	}
	if t.End == host.TurnStalled {
		a.Hint(fmt.Sprintf("look with 'swarm peek %[1]s'; 'swarm explain %[1]s' shows what was looked for", name))
	}
}

type turnJSON struct {
	sendJSON
	Outcome string  `json:"outcome"`
	Reason  *string `json:"reason"`
}

type sendJSON struct {
	Name      string  `json:"name"`
	ID        string  `json:"id"`
	Sent      bool    `json:"sent"`
	Confirmed bool    `json:"confirmed"`
	Pending   bool    `json:"pending"`
	Error     *string `json:"error"`
}

func sendJSONOf(o input.Outcome) sendJSON {
	return sendJSON{
		Name: o.Worker.Name, ID: o.Worker.ID, Sent: o.Err == nil, Confirmed: o.Confirmed && o.Err == nil,
		Pending: o.Pending, Error: view.ErrorJSON(o.Err),
	}
}
