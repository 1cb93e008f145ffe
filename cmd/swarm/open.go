package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
)

func (a *app) setup() setup.Setup {
	return setup.Setup{Env: a.env, Logger: a.logger(), Waiting: a.hint}
}

func (a *app) stateDir() (string, error) { return a.setup().StateDir() }

// with runs f with a host that has the settings of cfg.
func (a *app) with(ctx context.Context, cfg config.Config, f func(*host.Host) error) error {
	h, err := a.setup().Open(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Leave())
}

// withHost runs f with a host for a verb that works on workers which are there:
// the project's file is not even looked at, and a damaged user's file is a
// warning.
func (a *app) withHost(ctx context.Context, f func(*host.Host) error) error {
	return a.with(ctx, a.userConfig(), f)
}

// userConfig is what the user's file says.
func (a *app) userConfig() config.Config {
	loaded, err := a.setup().LoadUser()
	if problems, ok := errors.AsType[config.Problems](err); ok {
		a.warn(fmt.Sprintf("%s (%d problem(s) in this file)", problems[0], len(problems)),
			"run 'swarm config check' to see all of them")
	}
	a.warnRefused(loaded)
	return loaded.Config
}

// loadAll reads the user's and the project's file. What is right in them is
// returned with an error too, which is then a [config.Problems].
func (a *app) loadAll() (*config.Loaded, error) { return a.setup().Load("") }

// loadProject is loadAll, with a warning about what is left out of a file that is
// not trusted; what is missing for it may be the reason of an error.
func (a *app) loadProject() (*config.Loaded, error) { return a.loadProjectFor("") }

// loadProjectFor is loadProject for a call that may name its backend itself.
func (a *app) loadProjectFor(backend string) (*config.Loaded, error) {
	loaded, err := a.setup().Load(backend)
	if loaded == nil {
		return nil, err
	}
	a.warnRefused(loaded)
	var at config.Position
	var keys []string
	for _, ignored := range loaded.Ignored {
		// The values of declared workers matter to "up" alone, which refuses them.
		if !strings.HasPrefix(ignored.Key, "workers.") {
			if keys == nil {
				at = ignored.At
			}
			keys = append(keys, ignored.Key)
		}
	}
	if keys != nil {
		a.warn(fmt.Sprintf("%s: not used, since this file is not trusted: %s", at, strings.Join(keys, ", ")),
			"read it, then run 'swarm config trust' to use them")
	}
	return loaded, err
}

// warnRefused names the files that are not used because others have written them, or
// can.
func (a *app) warnRefused(loaded *config.Loaded) {
	for _, r := range loaded.Refused {
		a.warn(fmt.Sprintf("%s is not used: %s", r.Path, r.Reason), r.Advice())
	}
}
