package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
)

func newConfigInit(a *app) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented config file",
		Long: `Write a config file that shows every setting with its default and explains it. A
file that exists is never overwritten.`,
		Example: `  swarm config init
  swarm config init --project`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.configInit(project) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "write swarm.toml in this directory, not the user's file")
	return cmd
}

func (a *app) configInit(project bool) error {
	path := config.UserFile(a.getenv)
	if project {
		path = config.ProjectFile
	}
	if path == "" {
		return errors.New("cannot tell where your config file is: neither XDG_CONFIG_HOME nor HOME is set")
	}
	if err := config.WriteExample(path); err != nil {
		return err
	}
	a.printf("wrote %s\n", path)
	return nil
}

func newConfigTrust(a *app) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Use the plugins and the agent_command of the project's file",
		Long: `Let the project's swarm.toml name plugins and what agents run (team.agent_command):
programs that swarm then starts as you. Read the file before. It is trusted as it is now; once it changes, it has to be
trusted again. The programs themselves are not looked at, unless the file gives
their sha256.`,
		Example: `  swarm config trust
  swarm config trust --revoke`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.configTrust(revoke) },
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust it no longer")
	return cmd
}

func (a *app) configTrust(revoke bool) error {
	path := setup.ProjectFile()
	if path == "" {
		return fmt.Errorf("no %s here or in a directory above", config.ProjectFile)
	}
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	store := setup.TrustStore(dir)
	if revoke {
		if err := store.Remove(path); err != nil {
			return err
		}
		a.printf("not trusted any more: %s\n", path)
		return nil
	}
	if err := store.Add(path); err != nil {
		return err
	}
	a.printf("trusted: %s\n", path)
	loaded, err := a.loadAll()
	if loaded == nil {
		return err
	}
	for _, v := range loaded.Values() {
		if v.Origin != nil && v.Origin.File == path && namesProgram(v.Key) {
			a.printf("  %s = %s\n", v.Key, v.Value)
		}
	}
	return err
}

// namesProgram reports whether a key says what swarm starts by itself.
func namesProgram(key string) bool {
	return key == "team.agent_command" || strings.HasPrefix(key, "plugins.") && strings.HasSuffix(key, ".command")
}
