package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/safetext"
)

func newProfiles(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "profiles [NAME]",
		Short: "List the profiles of coding agents",
		Long: `List the profiles of coding agents: the commands that each one matches, and the file
that defines it. With NAME, print that profile as TOML.

VERIFIED are the versions of the agent whose recorded screens the rules are tested with.
The rules of an unverified profile were written from what is known about the agent.

A file in the directory "profiles" beside the user's config file overrides the profile
of its name, or adds one; with extends = "claude" it inherits everything that it does
not set itself. The user must own the file. A file with mistakes is left out with an
error; the other profiles still work.`,
		Example: `  swarm agent profiles
  swarm agent profiles codex`,
		Args:              command.Arguments(0, 1, ""),
		ValidArgsFunction: app.OfferOne(func(context.Context) ([]string, error) { return a.ProfileNames(), nil }),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return runProfiles(cmd.Context(), a, name, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the profiles as JSON")
	return cmd
}

type profileJSON struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Recognised []string `json:"recognised"`
	Source     *string  `json:"source"`
	// Verified are the versions with which the rules are tested; empty: they are not.
	Verified []string `json:"verified"`
	Flags    []string `json:"flags"`
	Headless []string `json:"headless"`
	Resume   []string `json:"resume"`
	Env      []string `json:"env"`
}

func profileJSONOf(p *profile.Profile) profileJSON {
	return profileJSON{
		Name: p.Name(), Title: p.Title(), Recognised: p.Recognised(), Source: output.OrNull(p.Source),
		Verified: append([]string{}, p.Verified()...),
		Flags:    append([]string{}, p.Flags()...), Headless: append([]string{}, p.HeadlessCommand()...),
		Resume: append([]string{}, p.ResumeCommand("{session}")...), Env: append([]string{}, p.Env()...),
	}
}

// verified describes for people which versions the rules are tested with.
func verified(p *profile.Profile) string {
	switch {
	case len(p.Verified()) > 0:
		return strings.Join(p.Verified(), ", ")
	case p.Bare():
		return "-" // shells have a prompt, and no versions that matter
	default:
		return "unverified"
	}
}

func runProfiles(ctx context.Context, a *app.App, name string, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		set, problems := h.Profiles()
		profiles := set.All()
		if name != "" {
			p := set.Named(name)
			if p == nil {
				hint := output.DidYouMean(nearest.Name(name, a.ProfileNames()), "'swarm agent profiles' lists them")
				return output.WithHint(fmt.Errorf("unknown profile '%s'", name), hint)
			}
			profiles = []*profile.Profile{p}
		}
		switch {
		case asJSON:
			list := make([]profileJSON, len(profiles))
			for i, p := range profiles {
				list[i] = profileJSONOf(p)
			}
			if err := a.PrintJSON(list); err != nil {
				return err
			}
		case name != "":
			a.Printf("%s", output.Made(safetext.Block(profiles[0].Text)))
		default:
			rows := make([][]string, len(profiles))
			for i, p := range profiles {
				rows[i] = []string{p.Name(), p.Title(), verified(p), strings.Join(p.Recognised(), ", "), output.OrText(p.Source, "embedded")}
			}
			a.PrintTable([]string{"NAME", "AGENT", "VERIFIED", "RECOGNISED BY", "SOURCE"}, rows)
		}
		return problems
	})
}
