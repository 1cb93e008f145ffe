package talk

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

func NewExplain(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain the state of an agent",
		Long: `Print the screen of a worker and how its profile reads it: the state, the rule and the
line that matched, and why the rules tried before did not match; what its hooks reported
last; and the state that both give, with the source of each part and the reason why that
source counts. Nothing is changed.
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
	// Sources are what the screen and the hooks say, Origins which of them counts.
	Sources sourcesJSON        `json:"sources"`
	Origins *judgement.Origins `json:"origins"`
}

type sourcesJSON struct {
	Screen *screenJSON `json:"screen"`
	Hook   *hookJSON   `json:"hook"`
}

type screenJSON struct {
	State    string  `json:"state"`
	Question *string `json:"question"`
	Broken   *string `json:"broken"`
	Limit    *string `json:"limit"`
}

type hookJSON struct {
	Client   string  `json:"client"`
	Live     bool    `json:"live"`
	State    *string `json:"state"`
	Question *string `json:"question"`
	Tool     *string `json:"tool"`
	Command  *string `json:"command"`
	Reason   *string `json:"reason"`
	Since    *string `json:"since"`
	At       *string `json:"at"`
}

func sourcesOf(e display.Explanation) (s sourcesJSON) {
	if e.Lines != nil {
		s.Screen = &screenJSON{
			State: string(e.Look.State), Question: output.OrNull(e.Look.Question), Broken: output.OrNull(e.Look.Broken), Limit: output.OrNull(e.Look.Limit),
		}
	}
	if c := e.Hook; c != nil {
		s.Hook = &hookJSON{
			Client: c.Client, Live: e.Live, State: output.OrNull(c.State), Question: output.OrNull(c.Question), Tool: output.OrNull(c.Tool),
			Command: output.OrNull(c.Command), Reason: output.OrNull(c.Reason), Since: output.TimeJSON(c.Since), At: output.TimeJSON(c.At),
		}
	}
	return s
}

func runExplain(ctx context.Context, a *app.App, name string, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		e, err := h.Display().Explain(ctx, name)
		if err != nil {
			return err
		}
		if asJSON {
			j := explanationJSON{
				Name: e.Worker.Name, Status: string(e.Worker.Status), State: view.StateJSONOf(e.Worker.State),
				Rule: output.OrNull(e.Look.Rule), Evidence: output.OrNull(e.Look.Evidence), Draft: output.OrNull(e.Look.Draft),
				Tried: append([]profile.Trial{}, e.Trials...), Screen: append([]string{}, e.Lines...),
				Sources: sourcesOf(e),
			}
			if s := e.Worker.State; s != nil {
				j.Origins = &s.Origins
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

// printSources prints what the hooks reported, and the source of each part of the state.
func printSources(a *app.App, e display.Explanation) {
	if c := e.Hook; c == nil {
		a.Printf("hooks: none has reported\n")
	} else {
		parts := []string{cmp.Or(c.State, "no state")}
		for _, more := range []string{c.Question, c.Reason, c.Command} {
			if more != "" {
				parts = append(parts, safetext.Line(more))
			}
		}
		text := strings.Join(parts, ": ")
		if !e.Live {
			text += "; the agent that reported has ended"
		}
		a.Printf("hooks: %s (%s, %s ago)\n", text, c.Client, humane.Age(time.Since(c.At)))
	}
	s := e.Worker.State
	if s == nil {
		return
	}
	a.Printf("state, by part:\n")
	var rows [][]string
	add := func(part, value string, o judgement.Origin) {
		if o.Why != "" {
			rows = append(rows, []string{"  " + part, output.OrDash(value), output.OrDash(o.Source), o.Why})
		}
	}
	add("state", string(s.State), s.Origins.State)
	if !s.Since.IsZero() {
		add("since", humane.Age(time.Since(s.Since))+" ago", s.Origins.Since)
	}
	add("question", s.Question, s.Origins.Question)
	add("choices", strings.TrimSuffix(strings.TrimPrefix(deliver.Dialog("", s.Choices), " ("), ")"), s.Origins.Choices)
	add("command", safetext.Line(s.Command), s.Origins.Command)
	add("reason", s.Reason, s.Origins.Reason)
	a.PrintTable(nil, rows)
}

func printExplanation(a *app.App, e display.Explanation) {
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
	case e.Profile.Source == "" && e.Profile.Installed:
		a.Printf("profile: %s (%s), from the bundle %s\n", e.Profile.Name(), e.Profile.Title(), e.Profile.Bundle())
	case e.Profile.Source == "":
		a.Printf("profile: %s (%s)\n", e.Profile.Name(), e.Profile.Title())
	default:
		a.Printf("profile: %s (%s), from %s\n", e.Profile.Name(), e.Profile.Title(), e.Profile.Source)
	}
	printSources(a, e)
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
	a.PrintTable(nil, view.TrialRows("  ", e.Trials))
	switch {
	case e.Worker.Gone():
		a.Printf("It has ended and has no state: this is its last screen.\n")
	case e.Look.Rule == "":
		a.Printf("No rule matched: the state is %s.\n", e.Look.State)
	}
}
