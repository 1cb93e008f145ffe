package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/trust"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "config",
		Short: "Show, check and write config files",
		Long: `swarm reads ~/.config/swarm/config.toml, then the nearest swarm.toml in this
directory or above it, then flags; the later one takes precedence. Commands for
workers that exist already (ls, status, wait, logs, kill, clean and the like) never
read the project's file.`,
	}, newConfigPath(a), newConfigCheck(a), newConfigShow(a), newInit(a), newTrust(a), newSchema(a))
}

func newConfigPath(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the paths of the config files",
		Args:  command.Arguments(0, 0, ""),
		RunE:  func(*cobra.Command, []string) error { return runPath(a, json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print them as JSON")
	return cmd
}

type fileJSON struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Exists  bool   `json:"exists"`
	Trusted bool   `json:"trusted"`
	// Used is false for a file that does not exist or that others can write.
	Used bool `json:"used"`
	// reason says why it is not used.
	reason string
}

func runPath(a *app.App, json bool) error {
	files, err := configFiles(a)
	if err != nil {
		return err
	}
	if json {
		return a.PrintJSON(files)
	}
	for _, f := range files {
		remark := ""
		switch {
		case !f.Exists:
			remark = " (does not exist)"
		case !f.Used:
			remark = " (not used: " + f.reason + ")"
		case !f.Trusted:
			remark = " (not trusted: its plugins, its agent_command and paths out of the project are not used)"
		}
		a.Printf("%-8s %s%s\n", f.Kind, f.Path, remark)
	}
	return nil
}

func configFiles(a *app.App) ([]fileJSON, error) {
	dir, err := a.StateDir()
	if err != nil {
		return nil, err
	}
	files := []fileJSON{}
	if user := config.UserFile(a.Getenv); user != "" {
		_, err := os.Stat(user)
		f := fileJSON{Kind: "user", Path: user, Exists: err == nil, Trusted: true}
		f.obey(f.Exists, false)
		files = append(files, f)
	}
	if project := setup.ProjectFile(); project != "" {
		f := fileJSON{Kind: "project", Path: project, Exists: true, Trusted: setup.TrustStore(dir).HasFile(project)}
		f.obey(true, f.Trusted)
		files = append(files, f)
	}
	return files, nil
}

// obey checks that the file obeys the owner rule; a file that was trusted by its content
// need not.
func (f *fileJSON) obey(exists, accepted bool) {
	f.Used = exists
	if broken, ok := trust.As(trust.Path(f.Path)); ok && !accepted {
		f.Used, f.reason = false, broken.Error()
	}
}

func newConfigCheck(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Find all mistakes in the config files, or in FILE",
		Long: `Print every mistake in the config files: unknown keys with the key that was probably
meant, wrong types and values, missing files and directories, each with file, line
and column. Plugins with settings are started to check them.

Exit code: 0 if there are no mistakes, else 1.`,
		Example: `  swarm config check
  swarm config check ./swarm.toml`,
		Args: command.Arguments(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := runCheck(cmd.Context(), a, args)
			var problems config.Problems
			switch {
			case json && (err == nil || errors.As(err, &problems)):
				return errors.Join(a.PrintJSON(problemsJSON(problems)), err)
			case err == nil:
				a.Printf("no problems\n")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print them as JSON too")
	return cmd
}

// problemJSON is one mistake; unknown parts of its position are null.
type problemJSON struct {
	File   string  `json:"file"`
	Line   *int    `json:"line"`
	Column *int    `json:"column"`
	Key    *string `json:"key"`
	Text   string  `json:"text"`
}

func problemsJSON(problems config.Problems) []problemJSON {
	return output.List(problems, func(p config.Problem) problemJSON {
		return problemJSON{File: p.At.File, Line: output.OrNull(p.At.Line), Column: output.OrNull(p.At.Column), Key: output.OrNull(p.Key), Text: p.Text}
	})
}

func runCheck(ctx context.Context, a *app.App, args []string) error {
	if len(args) == 0 {
		loaded, err := a.LoadProject()
		if loaded == nil {
			return err
		}
		// Tables of a file that is not trusted are not in it.
		all := func(config.Plugin) bool { return true }
		return withProblems(declared.WithProblems(err, declared.WorkerProblems(ctx, a, loaded)), settingProblems(ctx, a, loaded, all))
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", args[0], errtext.Cause(err))
	}
	o := config.Options{Project: path, Home: a.Getenv("HOME"), Trusted: func(string, []byte) bool { return true }, Checks: setup.Checks()}
	if path == config.UserFile(a.Getenv) {
		o.User, o.Project = path, ""
	}
	loaded, err := config.Load(o)
	a.WarnRefused(loaded)
	a.WarnUserOnly(loaded)
	trusted := func(config.Plugin) bool {
		dir, derr := a.Setup().StateDir()
		return path == o.User || derr == nil && setup.TrustStore(dir).HasFile(path)
	}
	return withProblems(declared.WithProblems(err, declared.WorkerProblems(ctx, a, loaded)), settingProblems(ctx, a, loaded, trusted))
}

// withProblems adds problems to the error of a check.
func withProblems(err error, more []error) error {
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) || len(more) == 0 {
		return err
	}
	for _, m := range more {
		p, ok := errors.AsType[config.Problem](m)
		if !ok {
			return errors.Join(err, m)
		}
		problems = append(problems, p)
	}
	return problems
}

func newConfigShow(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the settings in effect here, and where they come from",
		Long: `Print every setting in effect in this directory, as TOML, and where it was set.
Mistakes in the files are reported as "swarm config check" does. Instead of a setting
that a plugin declares to be secret, *** is printed.`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runShow(cmd.Context(), a, json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print them as JSON")
	return cmd
}

// valueJSON is one setting; source is null for a default, and value for one that is not shown.
type valueJSON struct {
	Key    string  `json:"key"`
	Value  any     `json:"value"`
	Source *string `json:"source"`
}

func runShow(ctx context.Context, a *app.App, json bool) error {
	loaded, damaged := a.LoadProject()
	if loaded == nil {
		return damaged
	}
	if err := redact(ctx, a, loaded); err != nil {
		return err
	}
	values := []valueJSON{}
	var rows [][]string
	for _, v := range loaded.Values() {
		v = loaded.ConcealValue(v)
		j := valueJSON{Key: v.Key, Value: v.Data()}
		remark := "# default"
		if v.Origin != nil {
			j.Source = output.OrNull(v.Origin.String())
			remark = "# " + v.Origin.String()
		}
		values = append(values, j)
		rows = append(rows, []string{v.Key + " = " + v.Value, remark})
	}
	if json {
		return errors.Join(a.PrintJSON(values), damaged)
	}
	a.PrintTable(nil, rows)
	return damaged
}

func newSchema(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the config files",
		Long: `Print the JSON Schema of swarm.toml and of the user's config file, with the settings
of the plugins that swarm finds here. A plugin is started once to learn them. Editors
complete and check a file whose first line names it:

  #:schema ./swarm.schema.json`,
		Example: `  swarm config schema > swarm.schema.json
  taplo check --schema "file://$PWD/swarm.schema.json" swarm.toml`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.LoadProject()
			if loaded == nil {
				return err
			}
			settings, err := announced(cmd.Context(), a, loaded)
			if err != nil {
				return err
			}
			schema, err := config.JSONSchema(settings)
			if err != nil {
				return err
			}
			a.Printf("%s", output.Made(schema))
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON, which is the default")
	return cmd
}
