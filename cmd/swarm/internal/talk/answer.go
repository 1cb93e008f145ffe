package talk

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
)

type answerOptions struct {
	question string
	digest   string
	submit   bool
	text     string
	json     bool
}

func NewAnswer(a *app.App) *cobra.Command {
	o := &answerOptions{}
	cmd := &cobra.Command{
		Use:   "answer [NAME [CHOICE...]]",
		Short: "Answer the dialog that an agent shows",
		Long: `Pick a choice of the dialog that an agent shows, by its key or by the beginning of
its label, and check on its screen that the dialog is gone. 'swarm status' shows the
question and the choices.

If the choices have boxes, several can be given. The box of each is checked, or cleared
if it was checked, and the screen has to show that. With --submit, exactly the given
ones are checked, and then sent; without a choice, what is checked is sent.

--text types a text into the field that a dialog has for an answer of your own, and
sends it, in a dialog with boxes only with --submit. Enter is not pressed unless the
screen shows the text there.

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
  swarm answer agent yes --question 'trust the files'
  swarm answer agent honey jam --submit
  swarm answer agent --text 'rye, but only if it is fresh'`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && cmd.Flags().NFlag() == 0:
				return nil
			case o.submit || cmd.Flags().Changed("text"):
				return command.Arguments(1, -1, "name of a worker")(cmd, args)
			}
			return command.Arguments(2, -1, "name of a worker and a choice")(cmd, args)
		},
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return answerAll(cmd.Context(), a)
			}
			if cmd.Flags().Changed("text") && strings.TrimSpace(o.text) == "" {
				return output.Usagef("--text is empty")
			}
			return answerDialog(cmd.Context(), a, args[0], o.reply(args[1:]), o.json)
		},
	}
	cmd.Flags().StringVar(&o.question, "question", "", "answer only if the question contains this text")
	cmd.Flags().StringVar(&o.digest, "digest", "", "answer only the dialog with this digest")
	cmd.Flags().BoolVar(&o.submit, "submit", false, "send what is checked")
	cmd.Flags().StringVar(&o.text, "text", "", "type this text into the dialog's field")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func (o *answerOptions) reply(choices []string) deliver.Reply {
	return deliver.Reply{Choices: choices, Submit: o.submit, Text: o.text, Question: o.question, Digest: o.digest}
}

type answerJSON struct {
	Name     string         `json:"name"`
	Question string         `json:"question"`
	Choice   profile.Choice `json:"choice"`
	// Choices are those that were named, with their boxes as they are now.
	Choices []profile.Choice `json:"choices"`
	// Answered is false if boxes were changed and nothing was sent.
	Answered bool `json:"answered"`
	// Next is what it asks now, or null.
	Next *dialogJSON `json:"next"`
}

type dialogJSON struct {
	Question string           `json:"question"`
	Choices  []profile.Choice `json:"choices"`
	Dialog   *view.DialogJSON `json:"dialog"`
}

func answerDialog(ctx context.Context, a *app.App, name string, r deliver.Reply, asJSON bool) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		sel, err := h.Roster().ByAgent(ctx, worker.Selection{Names: []string{name}})
		if err != nil {
			return err
		}
		out, err := h.Input().Answer(ctx, sel.Names[0], r)
		if err != nil {
			return err
		}
		if asJSON {
			j := answerJSON{Name: name, Question: out.Question, Choice: out.Choice, Choices: append([]profile.Choice{}, out.Choices...), Answered: !out.Open}
			if out.Next != nil {
				j.Next = &dialogJSON{Question: out.Next.Question, Choices: append([]profile.Choice{}, out.Next.Choices...), Dialog: view.DialogJSONOf(out.Next.Dialog)}
			}
			return a.PrintJSON(j)
		}
		question, picked := deliver.Dialog(out.Question, nil), deliver.Dialog(out.Picked(), nil)
		if out.Open {
			a.Printf("not sent yet, %s: %s (%s)\n", name, question, picked)
			a.Hint(fmt.Sprintf("'swarm answer %s --submit' sends what is checked", name))
			return nil
		}
		a.Printf("answered %s: %s (%s)\n", name, question, picked)
		if out.Next != nil {
			a.Warn(fmt.Sprintf("'%s' asks now: %s", name, deliver.Dialog(out.Next.Question, out.Next.Choices)), out.Next.Hint())
		}
		return nil
	})
}
