// Package profiles is "swarm profiles": the profiles of coding agents are listed, updated, tested
// with recorded screens, and new screens are recorded.
package profiles

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

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "profiles",
		Short: "List, update and test how the screens of coding agents are read",
	}, newLs(a), newUpdate(a), newTest(a), newRecord(a))
}

func newLs(a *app.App) *cobra.Command {
	cmd := NewList(a, "ls", "  swarm profiles ls\n  swarm profiles ls codex\n  swarm profiles ls --json | jq -r '.[] | select(.verified == []) | .name'")
	cmd.Aliases = []string{"list"}
	return cmd
}

// NewList returns the verb that lists profiles, with a name of its own.
func NewList(a *app.App, name, example string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name + " [NAME]",
		Short: "List the profiles of coding agents",
		Long: `List the profiles of coding agents: the commands that each one matches, and where it is
from. With NAME, print that profile as TOML.

VERIFIED are the versions of the agent whose recorded screens the rules are tested with.
The rules of an unverified profile were written from what is known about the agent. A profile
of yours is tested now: the screens that it reads in another way than expected are counted.

A profile is built in, or in the bundle that "swarm profiles update" has installed, or
yours: a file in the directory "profiles" next to the user's config file replaces the profile
of its name, or adds one; with extends = "claude" it inherits everything that it does
not set itself, rule by rule and key by key. --json shows what it overrides. The user must
own the file. A file with mistakes is left out with an error; the other profiles still work.`,
		Example:           example,
		Args:              command.Arguments(0, 1, ""),
		ValidArgsFunction: app.OfferOne(func(context.Context) ([]string, error) { return a.ProfileNames(), nil }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runList(cmd.Context(), a, strings.Join(args, ""), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the profiles as JSON")
	return cmd
}

type profileJSON struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Recognised []string `json:"recognised"`
	// Source is the user's own file, Bundle the version of the bundle that has the profile or
	// the one that it extends; Installed: of the installed bundle, not of the built-in one.
	Source    *string `json:"source"`
	Bundle    *string `json:"bundle"`
	Installed bool    `json:"installed"`
	// Verified are the versions of the agent of which it was tested with recorded screens;
	// Screens is the number of all of its screens, and Failed are those that it reads in another
	// way than expected.
	Verified  []string          `json:"verified"`
	Screens   int               `json:"screens"`
	Failed    []string          `json:"failed"`
	Overrides *profile.Override `json:"overrides"`
	Flags     []string          `json:"flags"`
	Headless  []string          `json:"headless"`
	Resume    []string          `json:"resume"`
	Env       []string          `json:"env"`
}

func profileJSONOf(p *profile.Profile, v profile.Verification) profileJSON {
	return profileJSON{
		Name: p.Name(), Title: p.Title(), Recognised: p.Recognised(),
		Source: output.OrNull(p.Source), Bundle: output.OrNull(p.Bundle()), Installed: p.Installed,
		Verified: append([]string{}, v.Versions...), Screens: v.Screens, Failed: append([]string{}, v.Failed...),
		Overrides: p.Override,
		Flags:     append([]string{}, p.Flags()...), Headless: append([]string{}, p.HeadlessCommand()...),
		Resume: append([]string{}, p.ResumeCommand("{session}")...), Env: append([]string{}, p.Env()...),
	}
}

// verified describes for people which versions the rules are tested with.
func verified(p *profile.Profile, v profile.Verification) string {
	switch {
	case len(v.Failed) > 0:
		return fmt.Sprintf("%d of %d screens fail", len(v.Failed), v.Screens)
	case len(v.Versions) > 0:
		return strings.Join(v.Versions, ", ")
	case p.Bare():
		return "-" // shells have a prompt, and no versions that matter
	}
	return "unverified"
}

func source(p *profile.Profile) string {
	from := "built in " + p.Bundle()
	if p.Installed {
		from = "bundle " + p.Bundle()
	}
	switch {
	case p.Source == "":
		return from
	case p.Override == nil:
		return p.Source
	case p.Bundle() == "":
		return p.Source + ", over " + p.Override.Base
	}
	return p.Source + ", over " + from
}

func runList(ctx context.Context, a *app.App, name string, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		set, problems := h.Profiles()
		profiles := set.All()
		if name != "" {
			p := set.Named(name)
			if p == nil {
				hint := output.DidYouMean(nearest.Name(name, a.ProfileNames()), "'swarm profiles ls' lists them")
				return output.WithHint(fmt.Errorf("unknown profile '%s'", name), hint)
			}
			profiles = []*profile.Profile{p}
		}
		if name != "" && !asJSON {
			a.Printf("%s", output.Made(safetext.Block(profiles[0].Text)))
			return problems
		}
		tested, err := set.Verify()
		if err != nil {
			a.Warn(err.Error(), "")
		}
		if asJSON {
			if err := a.PrintJSON(output.List(profiles, func(p *profile.Profile) profileJSON { return profileJSONOf(p, tested[p.Name()]) })); err != nil {
				return err
			}
		} else {
			printProfiles(a, profiles, tested)
		}
		if err := set.Damaged(); err != nil {
			a.Warn(fmt.Sprintf("installed, and not used: %v", err), "'swarm profiles update --builtin' goes back to the built-in profiles")
		}
		if in := set.Installed(); in != nil && in.Ignored != "" && in.Version != "" {
			a.Warn(fmt.Sprintf("the installed profiles %s are not used: %s", in.Version, in.Ignored), "'swarm profiles update --builtin' removes them")
		}
		return problems
	})
}

func printProfiles(a *app.App, profiles []*profile.Profile, tested map[string]profile.Verification) {
	row := func(p *profile.Profile) []string {
		return []string{p.Name(), p.Title(), verified(p, tested[p.Name()]), strings.Join(p.Recognised(), ", "), source(p)}
	}
	width := a.OutWidth()
	if width == 0 {
		a.PrintTable([]string{"NAME", "AGENT", "VERIFIED", "RECOGNISED BY", "SOURCE"}, output.List(profiles, row))
		return
	}
	t := output.Table{
		Columns: []output.Column{
			{Header: "NAME"},
			{Header: "AGENT", Least: 8, Spare: true},
			{Header: "VERIFIED", Least: 12},
			{Header: "RECOGNISED BY", Least: 8, Spare: true},
			{Header: "SOURCE", Least: 12},
		},
		Width: width, Colours: a.Colours(), Plain: a.Plain(),
	}
	for _, p := range profiles {
		t.Rows = append(t.Rows, output.Texts(row(p)))
	}
	a.PrintFitted(t)
}
