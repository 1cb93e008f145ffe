package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/trust"
)

func newInit(a *app.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented config file",
		Long: `Write a config file that shows every setting with its default and explains it. A
file that exists is never overwritten. With --project it has a first worker, which 'swarm
up' starts.`,
		Example: `  swarm config init
  swarm config init --project`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return runInit(a, project) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "write swarm.toml in this directory, not the user's file")
	return cmd
}

func runInit(a *app.App, project bool) error {
	path, text := config.ProjectFile, config.ProjectExample()
	if !project {
		path, text = config.UserFile(a.Getenv), config.Example()
		if path == "" {
			return errors.New("cannot find your config file: neither XDG_CONFIG_HOME nor HOME is set")
		}
		if err := checkHome(path); err != nil {
			return err
		}
	}
	if err := config.WriteNew(path, text); err != nil {
		return err
	}
	a.Printf("wrote %s\n", path)
	return nil
}

// checkHome refuses to make a file below a directory of another user, such as root's
// first call with the home of the user who called sudo: that user could not change it.
func checkHome(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		err := trust.Path(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if broken, ok := trust.As(err); ok {
			return output.WithHint(fmt.Errorf("%s is not written: %w", path, broken),
				"set HOME or XDG_CONFIG_HOME to a directory of your own")
		}
		return nil
	}
}

func newTrust(a *app.App) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust the project's config file",
		Long: `Let the project's swarm.toml name plugins and the command of agents
(team.agent_command), which are programs that swarm then starts as you, and paths
outside the project.

A file that another user wrote or can write is not used at all before it is trusted.

The settings that the file adds are shown, then the file is trusted with exactly the
contents shown; once it changes, it has to be trusted again. So do plugins that are
programs of the project itself: the hashes of these are shown and remembered, and a
program that was changed since does not run before it is trusted again. Other programs
are not checked, unless the file gives their sha256. swarm.lock next to the file is trusted
in the same way: what it names is shown.`,
		Example: `  swarm config trust
  swarm config trust --revoke`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return runTrust(a, revoke) },
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "stop trusting it")
	return cmd
}

func runTrust(a *app.App, revoke bool) error {
	path := setup.ProjectFile()
	if path == "" {
		return fmt.Errorf("no %s here or in a directory above", config.ProjectFile)
	}
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	store := setup.TrustStore(dir)
	if revoke {
		if err := errors.Join(store.Remove(path), store.Remove(pluginlock.Path(path))); err != nil {
			return err
		}
		a.Printf("not trusted any more: %s\n", path)
		return nil
	}
	// The file is read once, and exactly this content is shown and then trusted: others may
	// be able to change the file meanwhile.
	content, err := config.Read(path)
	if err != nil {
		return err
	}
	shown, err := whatTrustAdds(a, path, content)
	if err != nil {
		return err
	}
	for _, v := range shown {
		a.Printf("  %s = %s\n", v.Key, v.Value)
	}
	if a.Out.Err != nil {
		return a.Out.Err // no user has seen it
	}
	programs, err := projectPrograms(a, path, content)
	if err != nil {
		return err
	}
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		a.Printf("  program %s: sha256 %s\n", program, programs[program])
	}
	lock, locked, err := readLock(path)
	if err != nil {
		a.Warn(fmt.Sprintf("%s is not trusted: %s", pluginlock.Path(path), setup.Message(err)), "")
	}
	for _, p := range locked {
		a.Printf("  locked %s\n", p)
	}
	if a.Out.Err != nil {
		return a.Out.Err
	}
	if lock != nil {
		if err := store.Add(pluginlock.Path(path), lock, nil); err != nil {
			return err
		}
	}
	if err := store.Add(path, content, programs); err != nil {
		return err
	}
	a.Printf("trusted: %s\n", path)
	return nil
}

// readLock returns the content of the lock next to a project's file, nil without a valid one, and a line for each
// of its plugins that can be installed.
func readLock(path string) (text []byte, plugins []string, err error) {
	text, err = pluginlock.ReadText(path)
	if text == nil || err != nil {
		return nil, nil, err
	}
	lock, err := pluginlock.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range lock.Plugins {
		if p.Version == "" {
			continue
		}
		line := fmt.Sprintf("plugin %s %s", p.Name, p.Version)
		if b := p.Build(runtime.GOOS, runtime.GOARCH); b != nil {
			line += " from "
			if p.Origin != "" {
				line += p.Origin + ", " // where upgrades will come from
			}
			line += fmt.Sprintf("%s, sha256 %s", b.Source, b.SHA256)
		}
		plugins = append(plugins, line)
	}
	return text, plugins, nil
}

// projectPrograms returns the files of the project that its plugins run, with their hashes.
func projectPrograms(a *app.App, path string, content []byte) (map[string]string, error) {
	loaded, err := config.Load(config.Options{
		Project: path, Content: content, Home: a.Getenv("HOME"), Checks: setup.Checks(), Trusted: func(string, []byte) bool { return true },
	})
	if err != nil {
		return nil, err
	}
	programs := map[string]string{}
	for _, p := range loaded.Config.Plugins {
		for _, part := range p.Command {
			if !catalog.InProject(path, part) {
				continue
			}
			switch hash, err := pluginlock.Hash(part); {
			case errors.Is(err, fs.ErrNotExist): // it may be built later, and is trusted then
			case err != nil:
				return nil, err
			default:
				programs[part] = hash
			}
		}
	}
	return programs, nil
}

// whatTrustAdds returns the settings of a project's file that take effect only if it is
// trusted. In a file that breaks the owner rule these are all settings. A file that can't
// be read completely is an error, since it can't be shown completely.
func whatTrustAdds(a *app.App, path string, content []byte) ([]config.Value, error) {
	o := config.Options{Project: path, Content: content, Home: a.Getenv("HOME"), Checks: setup.Checks()}
	before, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	o.Trusted = func(string, []byte) bool { return true }
	after, err := config.Load(o)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(after.Values(), func(v config.Value) bool {
		if len(before.Refused) > 0 {
			return v.Origin == nil // all its settings
		}
		return v.Origin == nil || !slices.ContainsFunc(before.Ignored, func(i config.Ignored) bool {
			return v.Key == i.Key || strings.HasPrefix(v.Key, i.Key+".")
		})
	}), nil
}
