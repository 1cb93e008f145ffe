package profiles

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/profile/bundle"
)

func newTest(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [DIR|FILE] [flags]",
		Short: "Read recorded screens with profiles",
		Long: `Read each recorded screen with each profile, and compare the result with what the name of
the screen and its first line say: the state, and the rule, the question and the choices if
they are named there.

DIR is a bundle, or a directory such as ~/.config/swarm/profiles: files NAME.toml, which may
extend the profiles that are there, and screens/NAME/STATE-….txt, as "swarm profiles record"
writes them. FILE is an archive .tar.gz of a bundle. Without both, the profiles that are used
here are tested, yours included. Nothing is changed.

Exit code: 0 if all screens are read as expected, else 1.`,
		Example: `  swarm profiles test
  swarm profiles test ./profiles
  swarm profiles test ./profiles --json | jq -r '.screens[] | select(.problems != []) | .name'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTest(cmd.Context(), a, strings.Join(args, ""), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

type testJSON struct {
	Screens []testedJSON `json:"screens"`
	// Untested are the rules that no recorded screen shows, by the names of profiles.
	Untested map[string][]string `json:"untested"`
}

type testedJSON struct {
	Client   string           `json:"client"`
	Name     string           `json:"name"`
	Version  *string          `json:"version"`
	State    string           `json:"state"`
	Rule     *string          `json:"rule"`
	Question *string          `json:"question"`
	Choices  []profile.Choice `json:"choices"`
	// Problems are the differences from what is expected.
	Problems []string        `json:"problems"`
	Tried    []profile.Trial `json:"tried"`
}

func runTest(ctx context.Context, a *app.App, path string, asJSON bool) error {
	set, verdicts, problems := tested(ctx, a, path)
	if verdicts == nil {
		return explained(problems)
	}
	untested := set.Untested(verdicts)
	result := problems
	if len(profile.Failures(verdicts)) > 0 {
		result = errors.Join(result, output.Failed)
	}
	if asJSON {
		list := output.List(verdicts, func(v profile.Verdict) testedJSON {
			return testedJSON{
				Client: v.Client, Name: v.Name, Version: output.OrNull(v.Version), State: string(v.Look.State), Rule: output.OrNull(v.Look.Rule),
				Question: output.OrNull(v.Look.Question), Choices: append([]profile.Choice{}, v.Look.Choices...),
				Problems: append([]string{}, v.Problems...), Tried: append([]profile.Trial{}, v.Trials...),
			}
		})
		return errors.Join(a.PrintJSON(testJSON{Screens: list, Untested: untested}), result)
	}
	printTested(a, verdicts, untested)
	return result
}

// tested returns the profiles at a path, and what became of the recorded screens. The error says
// which profiles of a user are left out; without verdicts, why nothing was tested.
func tested(ctx context.Context, a *app.App, path string) (*profile.Set, []profile.Verdict, error) {
	dirs := a.ProfileDirs()
	if path != "" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if _, err := os.Lstat(filepath.Join(path, bundle.ManifestFile)); !info.IsDir() || !errors.Is(err, fs.ErrNotExist) {
			b, _, err := readBundle(ctx, path, "")
			if err != nil {
				return nil, nil, err
			}
			return profile.Check(b)
		}
		dirs.Own = path
	}
	set, left := dirs.Load()
	verdicts, err := set.ReplayAll()
	return set, verdicts, errors.Join(left, err)
}

func printTested(a *app.App, verdicts []profile.Verdict, untested map[string][]string) {
	a.PrintTable([]string{"RESULT", "SCREEN", "STATE", "RULE"}, output.List(verdicts, func(v profile.Verdict) []string {
		result := "ok"
		if len(v.Problems) > 0 {
			result = "FAILED"
		}
		return []string{result, v.Client + "/" + v.Name, string(v.Look.State), output.OrDash(v.Look.Rule)}
	}))
	failed := profile.Failures(verdicts)
	for _, v := range failed {
		a.Printf("\n%s/%s:\n", v.Client, v.Name)
		for _, problem := range v.Problems {
			a.Printf("  %s\n", problem)
		}
		a.PrintTable(nil, view.TrialRows("    ", v.Trials))
	}
	a.Printf("\n")
	for _, client := range slices.Sorted(maps.Keys(untested)) {
		a.Printf("no screen shows these rules of %s: %s\n", client, strings.Join(untested[client], ", "))
	}
	if len(failed) > 0 {
		a.Printf("%d of %d screens are not read as expected\n", len(failed), len(verdicts))
		return
	}
	a.Printf("%d screens are read as expected\n", len(verdicts))
}
