package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
)

type answerOptions struct {
	question string
	json     bool
}

func newAnswer(a *app) *cobra.Command {
	o := &answerOptions{}
	cmd := &cobra.Command{
		Use:   "answer NAME CHOICE",
		Short: "Answer the dialog that an agent shows",
		Long: `Pick a choice of the dialog that an agent shows, by its key or by the beginning of
its label, and check on its screen that the dialog is gone. 'swarm status' shows the
question and the choices.

The dialog is read again right before a key is pressed: if it has changed, nothing is
answered. With --question, the question must contain that text, so that a script
answers only the dialog that it expects. A dialog that follows is shown and not
answered. An agent can't answer its own dialog.`,
		Example: `  swarm answer agent 1
  swarm answer agent no
  swarm answer agent yes --question 'trust the files'`,
		Args:              arguments(2, 2, "name of a worker and the choice"),
		ValidArgsFunction: a.completeOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answerDialog(cmd.Context(), args[0], args[1], o)
		},
	}
	cmd.Flags().StringVar(&o.question, "question", "", "answer only if the question contains this text")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

// answerJSON is what "answer --json" prints.
type answerJSON struct {
	Name     string         `json:"name"`
	Question string         `json:"question"`
	Choice   profile.Choice `json:"choice"`
	// Next is what it asks now, or null.
	Next *dialogJSON `json:"next"`
}

type dialogJSON struct {
	Question string           `json:"question"`
	Choices  []profile.Choice `json:"choices"`
}

func (a *app) answerDialog(ctx context.Context, name, choice string, o *answerOptions) error {
	finishWriting()
	return a.withHost(ctx, func(h *host.Host) error {
		sel, err := h.ByAgent(ctx, host.Selection{Names: []string{name}})
		if err != nil {
			return err
		}
		out, err := h.Answer(ctx, sel.Names[0], choice, o.question)
		if err != nil {
			return err
		}
		if o.json {
			j := answerJSON{Name: name, Question: out.Question, Choice: out.Choice}
			if out.Next != nil {
				j.Next = &dialogJSON{Question: out.Next.Question, Choices: append([]profile.Choice{}, out.Next.Choices...)}
			}
			return a.printJSON(j)
		}
		a.printf("answered %s: %s (%s)\n", name, deliver.Dialog(out.Question, nil), deliver.Dialog(out.Choice.Label, nil))
		if out.Next != nil {
			a.warn(fmt.Sprintf("'%s' asks now: %s", name, deliver.Dialog(out.Next.Question, out.Next.Choices)), "")
		}
		return nil
	})
}
