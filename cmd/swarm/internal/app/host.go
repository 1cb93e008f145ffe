package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (a *App) Setup() setup.Setup {
	s := setup.Setup{Env: a.Env, Command: a.Command, Waiting: a.Hint, Warn: func(text string) { a.Warn(text, "") }}
	s.LogTo("swarm", a.Err)
	return s
}

func (a *App) StateDir() (string, error) { return a.Setup().StateDir() }

// With runs f with a host that has the settings of cfg.
func (a *App) With(ctx context.Context, cfg config.Config, f func(*host.Host) error) error {
	h, err := a.Setup().Open(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Close())
}

// WithHost runs f with a host for a verb that works on existing workers: the project's file
// is not read, and a damaged user's file is a warning.
func (a *App) WithHost(ctx context.Context, f func(*host.Host) error) error {
	return a.With(ctx, a.UserConfig(), f)
}

// UserConfig returns the user's file.
func (a *App) UserConfig() config.Config {
	loaded, err := a.Setup().LoadUser()
	if problems, ok := errors.AsType[config.Problems](err); ok {
		a.Warn(fmt.Sprintf("%s (%d problem(s) in this file)", problems[0], len(problems)),
			"run 'swarm config check' to see all of them")
	}
	a.WarnRefused(loaded)
	return loaded.Config
}

// LoadProject reads the user's and the project's file, and warns of the settings of an
// untrusted file that are not used; their absence may be the reason for an error. The valid
// part of damaged files is returned with the error, which is then a [config.Problems].
func (a *App) LoadProject() (*config.Loaded, error) { return a.LoadProjectFor("") }

// LoadProjectFor is LoadProject for a call that may name its backend itself.
func (a *App) LoadProjectFor(backend string) (*config.Loaded, error) {
	loaded, err := a.Setup().Load(backend)
	if loaded == nil {
		return nil, err
	}
	a.WarnRefused(loaded)
	a.WarnUserOnly(loaded)
	var at config.Position
	var keys []string
	for _, ignored := range loaded.Ignored {
		// The values of declared workers matter to "up" alone, which refuses them.
		if !ignored.UserOnly && !strings.HasPrefix(ignored.Key, "workers.") {
			if keys == nil {
				at = ignored.At
			}
			keys = append(keys, ignored.Key)
		}
	}
	if keys != nil {
		a.Warn(fmt.Sprintf("%s: not used, since this file is not trusted: %s", at, strings.Join(keys, ", ")),
			"read it, then run 'swarm config trust' to use them")
	}
	return loaded, err
}

// WarnRefused names the files that are not used because others have written them, or
// can.
func (a *App) WarnRefused(loaded *config.Loaded) {
	for _, r := range loaded.Refused {
		a.Warn(fmt.Sprintf("%s is not used: %s", r.Path, r.Reason), r.Advice())
	}
}

// WarnUserOnly names the settings of a project's file that count in the user's file alone.
func (a *App) WarnUserOnly(loaded *config.Loaded) {
	for _, i := range loaded.Ignored {
		if i.UserOnly {
			a.Warn(i.Reason(), i.Advice())
		}
	}
}

// ToolEnv is what tools work with here, on hosts that have the settings of cfg.
func (a *App) ToolEnv(cfg config.Config) tool.Env {
	return tool.Env{
		Open:         func(ctx context.Context) (*host.Host, error) { return a.Setup().Open(ctx, cfg) },
		AgentCommand: cfg.Team.AgentCommand,
		ParseLimits:  setup.ParseLimits,
		Sandbox:      func(asked bool) *swarm.Sandbox { return setup.Sandbox(cfg.Defaults.Sandbox, asked) },
	}
}

// NoWorkers reports that a selection has no workers of a kind, such as "running"; "" is any.
func (a *App) NoWorkers(sel worker.Selection, kind string) {
	text := strings.Join(strings.Fields("no "+kind+" workers"), " ")
	if sel.Tag != "" {
		text += fmt.Sprintf(" with tag '%s'", sel.Tag)
	}
	a.Hint(text)
}

// NamesOrRunning returns the names of a selection or, without any, the ids of those selected
// workers that run.
func (a *App) NamesOrRunning(ctx context.Context, h *host.Host, sel worker.Selection) ([]string, error) {
	if sel.Names != nil {
		return sel.Names, nil
	}
	workers, warnings, err := h.Workers(ctx, sel)
	if err != nil {
		return nil, err
	}
	a.WarnAll(warnings)
	var ids []string
	for _, w := range workers {
		if !w.Gone() {
			ids = append(ids, w.ID)
		}
	}
	if len(ids) == 0 {
		a.NoWorkers(sel, "running")
	}
	return ids, nil
}

// RalphStore returns the store of the loops.
func (a *App) RalphStore() (ralph.Store, error) {
	dir, err := a.StateDir()
	return ralph.NewStore(dir), err
}

// The backends that flags of spawn name.
const (
	BackendProcess = "process"
	BackendTmux    = "tmux"
)
