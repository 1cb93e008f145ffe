package locked

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

// Ensure returns nil if the plugins of a project are exactly those of its lock. Those that are not installed
// are installed, if a person at the terminal says so.
func Ensure(ctx context.Context, a *app.App, l *config.Loaded) error {
	s, err := Check(a, l)
	if err == nil {
		err = s.err()
	}
	if err == nil {
		err = s.readFiles()
	}
	if err != nil || len(s.Missing) == 0 {
		return err
	}
	var names []string
	for _, m := range s.Missing {
		names = append(names, m.Name+" "+m.Version)
	}
	text := fmt.Sprintf("%s names plugins that are not installed: %s", pluginlock.FileName, strings.Join(names, ", "))
	if !a.Asks() {
		return output.WithHint(errors.New(text), "'swarm plugin install --locked' installs exactly these")
	}
	a.Hint(text)
	for _, m := range s.Missing {
		a.Hint(fmt.Sprintf("  %s %s from %s, sha256 %s", m.Name, m.Version, m.Build.Source, m.Build.SHA256))
	}
	if err := a.Ask(ctx, "install exactly these?"); err != nil {
		return err
	}
	_, err = Install(ctx, a, l)
	return err
}

// Install installs the plugins of the lock that are not installed, and returns them.
func Install(ctx context.Context, a *app.App, l *config.Loaded) ([]pluginadmin.Installed, error) {
	s, err := Check(a, l)
	if err == nil {
		err = s.err()
	}
	if err != nil {
		return nil, err
	}
	var done []pluginadmin.Installed
	err = a.With(ctx, l.Config, func(h *host.Host) error {
		for _, m := range s.Missing {
			p, err := h.Plugins().InstallLocked(ctx, pluginadmin.Locked{
				Name: m.Name, Version: m.Version, SHA256: m.Build.SHA256,
				Provenance: catalog.Provenance{Source: m.Build.Source, Origin: m.Origin},
			})
			if err != nil {
				return err
			}
			done = append(done, p)
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	if s, err = Check(a, l); err == nil {
		err = s.err()
	}
	return done, err
}

// err returns an error for the problems, but not for what is missing.
func (s State) err() error {
	if len(s.Problems) == 0 {
		return nil
	}
	return output.WithHint(errors.New(strings.Join(s.Problems, "; ")),
		"look at the difference; 'swarm plugin lock' makes "+pluginlock.FileName+" what the project uses now")
}
