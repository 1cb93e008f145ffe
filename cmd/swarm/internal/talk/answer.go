package talk

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
)

type answerOptions struct {
	question string
	digest   string
	json     bool
}

func NewAnswer(a *app.App) *cobra.Command {
	o := &answerOptions{}
	cmd := &cobra.Command{
		Use:   "answer [NAME CHOICE]",
		Short: "Answer the dialog that an agent shows",
		Long: `Pick a choice of the dialog that an agent shows, by its key or by the beginning of
its label, and check on its screen that the dialog is gone. 'swarm status' shows the
question and the choices.

The dialog is read again right before a key is pressed: if it has changed, nothing is
answered. With --question, the question must contain that text, so that a script
answers only the dialog that it expects. With --digest, it must be the very dialog
that 'swarm status --json' has shown (state.dialog.digest). A dialog that follows is
shown and not answered. An agent can't answer its own dialog.

Without a name, on a terminal, it takes the open questions of all agents one after the
other: it shows each dialog and asks for a choice. 'swarm questions' only lists them.`,
		Example: `  swarm answer
  swarm answer agent 1
  swarm answer agent no
  swarm answer agent yes --question 'trust the files'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return nil
			}
			return command.Arguments(2, 2, "name of a worker and a choice")(cmd, args)
		},
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return answerAll(cmd.Context(), a)
			}
			return answerDialog(cmd.Context(), a, args[0], args[1], o)
		},
	}
	cmd.Flags().StringVar(&o.question, "question", "", "answer only if the question contains this text")
	cmd.Flags().StringVar(&o.digest, "digest", "", "answer only the dialog with this digest")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

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
	Dialog   *view.DialogJSON `json:"dialog"`
}

func answerDialog(ctx context.Context, a *app.App, name, choice string, o *answerOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		sel, err := h.ByAgent(ctx, host.Selection{Names: []string{name}})
		if err != nil {
			return err
		}
		out, err := h.Answer(ctx, sel.Names[0], deliver.Reply{Choice: choice, Question: o.question, Digest: o.digest})
		if err != nil {
			return err
		}
		if o.json {
			j := answerJSON{Name: name, Question: out.Question, Choice: out.Choice}
			if out.Next != nil {
				j.Next = &dialogJSON{Question: out.Next.Question, Choices: append([]profile.Choice{}, out.Next.Choices...), Dialog: view.DialogJSONOf(out.Next.Dialog)}
			}
			return a.PrintJSON(j)
		}
		a.Printf("answered %s: %s (%s)\n", name, deliver.Dialog(out.Question, nil), deliver.Dialog(out.Choice.Label, nil))
		if out.Next != nil {
			a.Warn(fmt.Sprintf("'%s' asks now: %s", name, deliver.Dialog(out.Next.Question, out.Next.Choices)), out.Next.Hint())
		}
		return nil
	})
}
