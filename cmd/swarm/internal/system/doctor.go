package system

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/doctor"
)

type doctorOptions struct{ rebuild, json bool }

func NewDoctor(a *app.App) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find damage and leftovers, and say how to repair them",
		Long: `Check the state directory, the registry, the plugins and the programs that they need,
and the config files. Nothing is changed without --rebuild, which makes the registry
again from the run directories of the workers; a damaged registry is moved aside. To
find out whether the state directory can be written, a file is written there and
removed again.

Exit code: 0 if all is well, 1 if anything was found. A note does not count: it says
that git, tmux or a cluster can't be used, although no worker and no config file
needs it.`,
		Example: `  swarm doctor
  swarm doctor --rebuild`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.rebuild, "rebuild", false, "make the registry again from the run directories")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the findings as JSON")
	return cmd
}

func runDoctor(ctx context.Context, a *app.App, o *doctorOptions) error {
	loaded, findings, err := configFindings(a)
	if err != nil {
		return err
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		found, err := h.Doctor(ctx, o.rebuild, wantedPlugins(loaded.Config)...)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.WrongConfig }) { // the files are not without problems then
			findings = slices.DeleteFunc(findings, func(f doctor.Finding) bool { return f.Severity == doctor.SeverityOK })
		}
		findings = append(found, findings...)
		if !o.json {
			printFindings(a, findings)
		}
		return a.Conclude(o.json, findingsJSON(findings), slices.ContainsFunc(findings, func(f doctor.Finding) bool {
			return f.Severity != doctor.SeverityOK && f.Severity != doctor.SeverityNote
		}))
	})
}

func wantedPlugins(cfg config.Config) []string {
	wanted := []string{cfg.Defaults.Backend}
	for _, w := range cfg.Workers {
		wanted = append(wanted, w.Backend)
		if w.Workspace.Use {
			wanted = append(wanted, w.Workspace.Plugin)
		}
	}
	return wanted
}

// configFindings returns the findings about the config files. A damaged file does not keep
// the doctor from looking at the rest.
func configFindings(a *app.App) (*config.Loaded, []doctor.Finding, error) {
	loaded, err := a.Setup().Load("")
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, err
	}
	var findings []doctor.Finding
	add := func(s doctor.Severity, what, mend string) {
		findings = append(findings, doctor.Finding{Severity: s, Subject: "config", What: what, Mend: mend})
	}
	for _, p := range problems {
		add(doctor.SeverityError, p.Error(), "edit the file")
	}
	for _, r := range loaded.Refused {
		add(doctor.SeverityWarning, fmt.Sprintf("%s is not used: %s", r.Path, r.Reason), r.Advice())
	}
	for _, i := range loaded.Ignored {
		add(doctor.SeverityWarning, i.Reason(), i.Advice())
	}
	if len(findings) == 0 {
		add(doctor.SeverityOK, "no problems", "")
	}
	return loaded, findings, nil
}

func printFindings(a *app.App, findings []doctor.Finding) {
	const indent = 9
	line := func(format string, args ...any) {
		text := output.Visible(fmt.Sprintf(format, args...))
		a.Printf("%s\n", output.Made(output.WrappedUnder(text, indent, a.OutWidth())))
	}
	for _, f := range findings {
		line("%-8s %s: %s", f.Severity, f.Subject, f.What)
		if f.Mend != "" {
			line("%-8s mend: %s", "", f.Mend)
		}
	}
}

type findingJSON struct {
	Severity string  `json:"severity"`
	Subject  string  `json:"subject"`
	What     string  `json:"what"`
	Mend     *string `json:"mend"`
}

func findingsJSON(findings []doctor.Finding) []findingJSON {
	return output.List(findings, func(f doctor.Finding) findingJSON {
		return findingJSON{Severity: string(f.Severity), Subject: f.Subject, What: f.What, Mend: output.OrNull(f.Mend)}
	})
}

func NewVersion(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if json {
				return a.PrintJSON(setup.ReadBuild())
			}
			a.Printf("%s\n", setup.ReadBuild())
			return nil
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON")
	return cmd
}
