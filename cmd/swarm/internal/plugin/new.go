package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/scaffold"
	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/shared/errtext"
)

type pluginNewOptions struct {
	kind     string
	lang     string
	dir      string
	checkout string
}

func newNew(a *app.App) *cobra.Command {
	o := &pluginNewOptions{}
	cmd := &cobra.Command{
		Use:   "new NAME [flags]",
		Short: "Create a small working plugin to start from",
		Long: `Create the folder swarm-plugin-NAME, with a working plugin of a kind, its conformance
test and a README that says what to do next. A backend runs workers, a workspace plugin
makes directories for them, tools are functions that people and agents call, and a
notifier reports events elsewhere. Existing files are never overwritten. A plugin in Go
is built against the newest release of swarm, or with --checkout against a checkout of it.
docs/writing-a-plugin.md continues from there.`,
		Example: `  swarm plugin new mine
  swarm plugin new mine --lang python
  swarm plugin new mine --kind tools
  swarm plugin new mine --kind notifier
  swarm plugin new notes --kind tools --lang typescript
  swarm plugin new mine --checkout ~/src/swarm`,
		Args:              command.Arguments(1, 1, "NAME"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(_ *cobra.Command, args []string) error { return runNew(a, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.kind, "kind", scaffold.Kinds()[0], "`kind`: "+strings.Join(scaffold.Kinds(), " or "))
	f.StringVar(&o.lang, "lang", scaffold.Languages()[0], "`language`: "+strings.Join(scaffold.Languages(), " or "))
	f.StringVar(&o.dir, "dir", "", "the folder to create, instead of swarm-plugin-NAME")
	f.StringVar(&o.checkout, "checkout", "", "build against this checkout of swarm, not against a release (Go)")
	command.CompleteWith(cmd, "kind", scaffold.Kinds()...)
	command.CompleteWith(cmd, "lang", scaffold.Languages()...)
	return cmd
}

func runNew(a *app.App, name string, o *pluginNewOptions) error {
	p := scaffold.Plugin{Name: name, Kind: o.kind, Language: o.lang}
	if o.checkout != "" {
		checkout, err := filepath.Abs(o.checkout)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(checkout, "shared", "plugin")); err != nil {
			return fmt.Errorf("'%s' is not a checkout of swarm: %w", o.checkout, errtext.Cause(err))
		}
		p.Checkout = checkout
	}
	dir := cmp.Or(o.dir, "swarm-plugin-"+name)
	files, err := p.Write(dir)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("cannot write %s: %w", pathErr.Path, pathErr.Err)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		a.Printf("created %s\n", filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	a.Hint("read " + filepath.Join(dir, "README.md") + " for what is next")
	if p.Language == "go" && p.Checkout == "" && isFromCheckout(setup.ReadBuild().Version) {
		a.Hint("this swarm was not released: if 'go mod tidy' finds none either, name your checkout of swarm with --checkout DIR")
	}
	return nil
}

// isFromCheckout reports whether a version of swarm is that of a build from a checkout, not of a release.
func isFromCheckout(version string) bool {
	return !strings.HasPrefix(version, "v") || strings.HasPrefix(version, "v0.0.0-") || strings.HasSuffix(version, "+dirty")
}
