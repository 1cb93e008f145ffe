package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type sendOptions struct {
	selection
	stdin   bool
	noEnter bool
	json    bool
}

func newSend(a *app) *cobra.Command { return newSendWith(a, &sendOptions{}) }

func newSendWith(a *app, o *sendOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "send NAME TEXT | NAME --stdin | --all TEXT | --tag TAG TEXT",
		Short: "Type text into workers",
		Long: `Give TEXT to a worker as if somebody had typed it, and press Enter once the worker
has read it. The text arrives as it is, several lines too: what a terminal could
not take (a line of more than 4,095 bytes in line mode) is refused beforehand.

A worker that is on no terminal gets it on its standard input, if it was spawned
with --stdin. With --all and --tag, workers that take no input are passed over.`,
		Example: `  swarm send agent "run the tests again"
  swarm send agent --stdin < prompt.md
  swarm send shell --no-enter -- -v
  swarm send --tag reviewer "commit what you have"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, in, err := o.parse(cmd, args)
			if err != nil {
				return err
			}
			return a.give(cmd.Context(), sel, in, "sent to %s", o.json)
		},
	}
	o.addTo(cmd, a)
	cmd.ValidArgsFunction = a.completeOneWorker
	f := cmd.Flags()
	f.BoolVar(&o.stdin, "stdin", false, "send what is on stdin; one newline at its end is the Enter")
	f.BoolVar(&o.noEnter, "no-enter", false, "do not press Enter")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return withHint(flagError(cmd, err), "put -- before a text that begins with '-': swarm send NAME -- TEXT")
	})
	return cmd
}

// parse tells the names from the text.
func (o *sendOptions) parse(cmd *cobra.Command, args []string) (host.Selection, swarm.Input, error) {
	in := swarm.Input{Enter: !o.noEnter}
	crowd := o.all || cmd.Flags().Changed("tag")
	names := args
	if !o.stdin {
		switch {
		case len(args) == 0 && !crowd:
			return host.Selection{}, in, usagef("missing arguments: name of a worker and the text")
		case len(args) == 0 || len(args) == 1 && !crowd:
			return host.Selection{}, in, usagef("missing argument: the text, or --stdin")
		}
		last := len(args) - 1
		names, in.Data = args[:last], []byte(args[last])
	}
	if len(names) > 1 {
		return host.Selection{}, in, usagef("unexpected argument '%s'; a text of several words needs quotes", args[len(args)-1])
	}
	sel, err := o.of(cmd, names)
	if err != nil {
		return sel, in, err
	}
	if o.stdin {
		in.Data, err = readInput(cmd.Context(), cmd.InOrStdin(), in.Enter)
	}
	if err == nil && len(in.Data) == 0 && !in.Enter {
		err = usagef("there is nothing to send")
	}
	return sel, in, err
}

// withHint adds a hint to a usage error that has none.
func withHint(err error, hint string) error {
	if usage, ok := errors.AsType[*usageError](err); ok && usage.hint == "" {
		usage.hint = hint
	}
	return err
}

// give gives an input to workers and tells, line by line, who has it.
func (a *app) give(ctx context.Context, sel host.Selection, in swarm.Input, line string, asJSON bool) error {
	finishWriting()
	return a.withHost(ctx, func(h *host.Host) error {
		outcomes, err := h.Send(ctx, sel, in)
		if err != nil {
			return err
		}
		results := make([]sendJSON, len(outcomes))
		bad := false
		for i, out := range outcomes {
			results[i] = sendJSONOf(out)
			switch {
			case out.Err != nil:
				bad = true
				a.fail(out.Err)
			case !asJSON:
				a.printf(line+"\n", out.Worker.Name)
			}
			if out.Pending {
				a.warn(fmt.Sprintf("'%s' has not read all of it yet", out.Worker.Name), "")
			}
		}
		if asJSON {
			err = a.printJSON(results)
		}
		switch {
		case err != nil || !bad:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			return failed
		}
	})
}

// sendJSON is the result for one worker.
type sendJSON struct {
	Name    string  `json:"name"`
	ID      string  `json:"id"`
	Sent    bool    `json:"sent"`
	Pending bool    `json:"pending"`
	Error   *string `json:"error"`
}

func sendJSONOf(o host.SendOutcome) sendJSON {
	return sendJSON{Name: o.Worker.Name, ID: o.Worker.ID, Sent: o.Err == nil, Pending: o.Pending, Error: errorJSON(o.Err)}
}
