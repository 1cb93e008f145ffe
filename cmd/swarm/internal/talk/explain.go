package talk

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safetext"
)

func NewExplain(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain the state of an agent",
		Long: `Print the screen of a worker and how its profile reads it: the state, the rule and the
line that matched, and why the rules tried before did not match. Nothing is changed.
'swarm agent profiles' lists the profiles.`,
		Example: `  swarm explain agent
  swarm explain agent --json | jq -r .rule`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE:              func(cmd *cobra.Command, args []string) error { return runExplain(cmd.Context(), a, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the explanation as JSON")
	return cmd
}

type explanationJSON struct {
	Name     string          `json:"name"`
	Status   string          `json:"status"`
	Profile  *string         `json:"profile"`
	State    *view.StateJSON `json:"state"`
	Rule     *string         `json:"rule"`
	Evidence *string         `json:"evidence"`
	Draft    *string         `json:"draft"`
	Tried    []profile.Trial `json:"tried"`
	Screen   []string        `json:"screen"`
}

func runExplain(ctx context.Context, a *app.App, name string, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		e, err := h.Explain(ctx, name)
		if err != nil {
			return err
		}
		if asJSON {
			j := explanationJSON{
				Name: e.Worker.Name, Status: string(e.Worker.Status), State: view.StateJSONOf(e.Worker.State),
				Rule: output.OrNull(e.Look.Rule), Evidence: output.OrNull(e.Look.Evidence), Draft: output.OrNull(e.Look.Draft),
				Tried: append([]profile.Trial{}, e.Trials...), Screen: append([]string{}, e.Lines...),
			}
			if e.Profile != nil {
				j.Profile = output.OrNull(e.Profile.Name())
			}
			return a.PrintJSON(j)
		}
		printExplanation(a, e)
		return nil
	})
}

func printExplanation(a *app.App, e host.Explanation) {
	for _, line := range e.Lines {
		a.Printf("| %s\n", output.Made(safetext.Line(line)))
	}
	if len(e.Lines) > 0 {
		a.Printf("\n")
	}
	a.Printf("%s\n", view.StatusLine(e.Worker, time.Now()))
	switch {
	case e.Profile == nil:
		a.Printf("profile: none; '%s' is not the command of a known agent\n", strings.Join(e.Worker.Command, " "))
		return
	case e.Profile.Source == "":
		a.Printf("profile: %s (%s)\n", e.Profile.Name(), e.Profile.Title())
	default:
		a.Printf("profile: %s (%s), from %s\n", e.Profile.Name(), e.Profile.Title(), e.Profile.Source)
	}
	if e.Lines == nil {
		a.Printf("screen: none; its backend shows no screen\n")
		return
	}
	if len(e.Lines) == 0 {
		a.Printf("screen: blank\n")
	}
	if e.Look.Draft != "" {
		a.Printf("typed at the prompt, not submitted: %s\n", e.Look.Draft)
	}
	a.Printf("rules, in the order in which they are tried:\n")
	a.PrintTable(nil, output.List(e.Trials, func(t profile.Trial) []string {
		mark := "no"
		if t.Matched {
			mark = "yes"
		}
		return []string{"  " + t.Rule, string(t.State), mark, t.Why}
	}))
	switch {
	case e.Worker.Gone():
		a.Printf("It has ended and has no state: this is its last screen.\n")
	case e.Look.Rule == "":
		a.Printf("No rule matched: the state is %s.\n", e.Look.State)
	}
}
