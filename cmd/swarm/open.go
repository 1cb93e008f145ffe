package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/swarm"
)

// stateDir returns the state directory, absolute: $SWARM_DIR, else that of the
// worker which the caller runs in, else ~/.swarm.
func (a *app) stateDir() (string, error) {
	if dir := a.getenv(swarm.EnvDir); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := host.CallerDir(); dir != "" {
		return dir, nil
	}
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("cannot tell the state directory: neither SWARM_DIR nor HOME is set")
	}
	return filepath.Join(home, ".swarm"), nil
}

// with runs f with a host that has the settings of cfg.
func (a *app) with(ctx context.Context, cfg config.Config, f func(*host.Host) error) error {
	dir, err := a.stateDir()
	if err != nil {
		return err
	}
	executable, err := executable()
	if err != nil {
		return err
	}
	plugins := make(map[string]host.PluginConfig, len(cfg.Plugins))
	for name, p := range cfg.Plugins {
		plugins[name] = host.PluginConfig(p)
	}
	policy := killPolicy(cfg.Kill)
	h, err := host.Open(ctx, host.Options{
		Dir:         dir,
		Logger:      a.logger(),
		Env:         a.env,
		Executable:  executable,
		Plugins:     plugins,
		Kill:        &policy,
		OutputLimit: cfg.Log.Limit,
	})
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Leave())
}

func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where swarm is installed: %w", err)
	}
	return path, nil
}

func killPolicy(k config.Kill) swarm.KillOptions {
	o := swarm.KillOptions{Signal: k.Signal, Grace: k.Timeout, Force: k.Force}
	if k.Mode == swarm.KillMain.String() {
		o.Mode = swarm.KillMain
	}
	// The config may say "term"; a check has seen that it is a signal.
	if name, err := swarm.ParseSignal(k.Signal); err == nil {
		o.Signal = name
	}
	return o
}

// withHost runs f with a host for a verb that works on workers which are there:
// its settings are in their records, and nothing that is wrong in a config file
// may stand between a user and them. So the project's file is not even looked
// at, and a damaged user's file is a warning.
func (a *app) withHost(ctx context.Context, f func(*host.Host) error) error {
	loaded, err := config.Load(config.Options{
		User:   config.UserFile(a.getenv),
		Home:   a.getenv("HOME"),
		Checks: checks(),
	})
	if problems, ok := errors.AsType[config.Problems](err); ok {
		a.warn(fmt.Sprintf("%s (%d problem(s) in this file)", problems[0], len(problems)),
			"run 'swarm config check' to see all of them")
	}
	return a.with(ctx, loaded.Config, f)
}

// loadAll reads the user's and the project's file. What is right in them is
// returned with an error too, which is then a [config.Problems].
func (a *app) loadAll() (*config.Loaded, error) { return a.load("") }

// load is loadAll for a call that names its backend itself: the default does not
// matter then.
func (a *app) load(backend string) (*config.Loaded, error) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(config.Options{
		User:    config.UserFile(a.getenv),
		Project: projectFile(),
		Home:    a.getenv("HOME"),
		Trusted: trustStore(dir).Has,
		Checks:  checks(),
	})
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	if backend == "" {
		p, err := a.backendProblem(loaded)
		if err != nil {
			return nil, err
		}
		if p != nil {
			problems = append(problems, *p)
		}
	}
	if problems == nil {
		return loaded, nil
	}
	return loaded, problems
}

// loadProject is loadAll, with a warning about what is left out of a file that is
// not trusted; what is missing for it may be the reason of an error.
func (a *app) loadProject() (*config.Loaded, error) { return a.loadProjectFor("") }

// loadProjectFor is loadProject for a call that may name its backend itself.
func (a *app) loadProjectFor(backend string) (*config.Loaded, error) {
	loaded, err := a.load(backend)
	if loaded != nil && len(loaded.Ignored) > 0 {
		a.warn(fmt.Sprintf("%s: plugins of this file are not used: it is not trusted", loaded.Ignored[0].At),
			"read it, then run 'swarm config trust' to use them")
	}
	return loaded, err
}

// backendProblem is a default backend that does not exist, with the place where
// it was set; the host only knows the name.
func (a *app) backendProblem(loaded *config.Loaded) (*config.Problem, error) {
	const key = "defaults.backend"
	at, set := loaded.Origins[key]
	if !set {
		return nil, nil
	}
	known, err := a.catalog(loaded.Config.Plugins)
	if err != nil {
		return nil, err
	}
	if text := missingBackend(known, loaded.Config.Defaults.Backend); text != "" {
		return &config.Problem{At: at, Key: key, Text: text}, nil
	}
	return nil, nil
}

// catalog finds plugins as the host does.
func (a *app) catalog(configured map[string]config.Plugin) (*catalog.Catalog, error) {
	dir, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	executable, err := executable()
	if err != nil {
		return nil, err
	}
	plugins := make(map[string]catalog.Config, len(configured))
	for name, p := range configured {
		plugins[name] = catalog.Config(p)
	}
	return catalog.New(catalog.Options{Dir: dir, Executable: executable, Env: a.env, Plugins: plugins}), nil
}

// missingBackend says that there is no such backend; empty if there is one.
func missingBackend(known *catalog.Catalog, name string) string {
	var missing *catalog.NotFoundError
	if _, err := known.Find(name); !errors.As(err, &missing) {
		// A plugin that is there and does not work is not the config's mistake.
		return ""
	}
	text := missing.Error()
	if near := config.Nearest(missing.Name, missing.Known); near != "" {
		text += fmt.Sprintf(" (did you mean '%s'?)", near)
	}
	return text
}

func trustStore(stateDir string) config.Trust {
	return config.Trust{Path: filepath.Join(stateDir, "trusted")}
}

// projectFile returns the path of the project's file, or "". In a directory that
// was deleted there is none; who needs the directory itself will say so.
func projectFile() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return config.FindProject(dir)
}

// checks are what the config package can't know.
func checks() config.Checks {
	isSignal := func(s string) error {
		if s == "" {
			return nil
		}
		if _, err := swarm.ParseSignal(s); err != nil {
			return errors.New(message(err))
		}
		return nil
	}
	return config.Checks{
		"kill.signal":           isSignal,
		"workers.*.kill.signal": isSignal,
		"workers.*": func(name string) error {
			if !swarm.ValidName(name) {
				return fmt.Errorf("expected a worker name of letters, digits, '.', '_' and '-', beginning with a letter or digit, at most %d", swarm.MaxName)
			}
			return nil
		},
	}
}
