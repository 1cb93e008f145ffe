package command

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Sandbox are the flags that say what a worker is kept from.
type Sandbox struct {
	on      *bool
	network *ChoiceFlag
	home    string
	write   []string
}

// AddTo adds the flags to a command.
func (s *Sandbox) AddTo(cmd *cobra.Command) {
	YesNo(cmd, &s.on, "sandbox", "run where it can write only to its directory; see docs/sandbox.md")
	s.network = Choice(cmd, "sandbox-network", "the network in the sandbox (default: host)", "", config.NetworkHost, config.NetworkNone)
	f := cmd.Flags()
	f.StringVar(&s.home, "sandbox-home", "", "its home in the sandbox: empty, read-only or a `DIR` (default: empty)")
	f.StringArrayVar(&s.write, "sandbox-write", nil, "`PATH` that it can change, too; may be repeated")
	CompleteWith(cmd, "sandbox", "true", "false")
	homes := []string{config.HomeEmpty, config.HomeReadOnly}
	CompleteFlag(cmd, "sandbox-home", cobra.FixedCompletions(homes, cobra.ShellCompDirectiveDefault))
}

// Given reports whether the flags say whether there is a sandbox.
func (s *Sandbox) Given() bool { return s.on != nil }

// Of returns the sandbox that the flags and the config say; nil for none.
func (s *Sandbox) Of(configured config.Sandbox) (*swarm.Sandbox, error) {
	if s.on != nil {
		configured.Use = *s.on
	}
	for name, given := range map[string]bool{
		"--sandbox-network": s.network != nil && s.network.Value != "", "--sandbox-home": s.home != "", "--sandbox-write": len(s.write) > 0,
	} {
		if given && !configured.Use {
			return nil, output.Usagef("%s needs --sandbox", name)
		}
	}
	if s.network != nil && s.network.Value != "" {
		configured.Network = s.network.Value
	}
	switch s.home {
	case "":
	case config.HomeEmpty, config.HomeReadOnly:
		configured.Home = s.home
	default:
		dir, err := filepath.Abs(s.home)
		if err != nil {
			return nil, err
		}
		configured.Home = dir
	}
	box := setup.Sandbox(configured, false)
	if box == nil {
		return nil, nil
	}
	for _, path := range s.write {
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		box.Write = append(box.Write, path)
	}
	return box, nil
}
