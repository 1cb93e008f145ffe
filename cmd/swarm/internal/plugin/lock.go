package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/locked"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
)

func newLock(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Write swarm.lock: the plugins of the project, exactly",
		Long: `Write swarm.lock next to the project's swarm.toml: the version of each plugin that the
file sets or uses, where it was installed from, and the hash of every file of it that
runs. Plugins that come with swarm are left out. Of a plugin that is a program of the project, the
hash of the program is written. Entries of the same version for other kinds of machines
stay: run the command on each, and commit the file. The project has to be trusted before,
by "swarm config trust".

Commands in the project then use these versions, and "swarm up" and "swarm plugin verify" report
every difference. In a clone, "swarm config trust" comes first, and again once swarm.lock has
changed; then "swarm up" asks whether to install what is missing, and "swarm plugin install
--locked" does it without a question.`,
		Example: `  swarm plugin lock
  swarm plugin lock --json`,
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return runLock(a, json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the plugins as JSON")
	return cmd
}

// loadTrusted reads the files of a project that has to be trusted. With anyLock its lock may be damaged.
func loadTrusted(a *app.App, anyLock bool) (*config.Loaded, error) {
	path := setup.ProjectFile()
	if path == "" {
		return nil, fmt.Errorf("no %s here or in a directory above", config.ProjectFile)
	}
	loaded, err := a.Setup().Load(declared.BackendOfEach)
	if problems, ok := errors.AsType[config.Problems](err); ok && anyLock {
		problems = slices.DeleteFunc(problems, func(p config.Problem) bool {
			return p.At.File == pluginlock.Path(path) && p.Text != config.ErrUntrustedLock.Error()
		})
		if err = problems; len(problems) == 0 {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if loaded.TrustedProject() == "" {
		return nil, output.WithHint(fmt.Errorf("%s is not trusted, so its plugins are not used", path), "read it, then run 'swarm config trust'")
	}
	return loaded, nil
}

type lockedJSON struct {
	Name string `json:"name"`
	// Version is null for a program of the project.
	Version *string `json:"version"`
	Origin  *string `json:"origin"`
	Source  *string `json:"source"`
	SHA256  string  `json:"sha256"`
}

func runLock(a *app.App, json bool) error {
	loaded, err := loadTrusted(a, true)
	if err != nil {
		return err
	}
	lock, err := locked.Make(a, loaded)
	if err != nil {
		return err
	}
	path, err := lock.Write(loaded.TrustedProject())
	if err != nil {
		return err
	}
	if err := trustLock(a, path, lock); err != nil {
		return err
	}
	list := output.List(lock.Plugins, func(p pluginlock.Plugin) lockedJSON {
		return lockedJSON{
			Name: p.Name, Version: output.OrNull(p.Version), Origin: output.OrNull(p.Origin), Source: output.OrNull(p.Builds[0].Source),
			SHA256: p.Builds[0].Files[0].SHA256,
		}
	})
	if json {
		return a.PrintJSON(list)
	}
	for _, p := range list {
		a.Printf("%s %s\n", p.Name, output.ValueOr(p.Version, "sha256 "+p.SHA256))
	}
	a.Printf("wrote %s\n", path)
	return nil
}

// trustLock trusts the lock that the user has made just now.
func trustLock(a *app.App, path string, lock *pluginlock.Lock) error {
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	text, err := lock.Text()
	if err != nil {
		return err
	}
	return setup.TrustStore(dir).Add(path, text, nil)
}

func runInstallLocked(ctx context.Context, a *app.App, json bool) error {
	output.FinishWriting()
	loaded, err := loadTrusted(a, false)
	if err != nil {
		return err
	}
	if loaded.Lock() == nil {
		return fmt.Errorf("%s does not exist: 'swarm plugin lock' writes it", pluginlock.Path(loaded.TrustedProject()))
	}
	done, err := locked.Install(ctx, a, loaded)
	if json {
		return errors.Join(err, a.PrintJSON(output.List(done, pluginInstalledJSONOf)))
	}
	for _, p := range done {
		a.Printf("installed %s %s (%s)\n", p.Name, p.Version, p.Kind)
	}
	if err == nil && len(done) == 0 {
		a.Hint("all that " + pluginlock.FileName + " names is installed")
	}
	if err != nil {
		return withInstallHint(err)
	}
	return nil
}

// lockProblems returns how the plugins of the project differ from its lock; nil without a trusted project or a
// lock.
func lockProblems(a *app.App) ([]string, error) {
	loaded, err := a.Setup().Load(declared.BackendOfEach)
	if err != nil || setup.ProjectFile() == "" {
		return nil, err
	}
	s, err := locked.Check(a, loaded)
	for _, m := range s.Missing {
		s.Problems = append(s.Problems, fmt.Sprintf("plugin '%s': version %s is not installed", m.Name, m.Version))
	}
	return s.Problems, err
}
