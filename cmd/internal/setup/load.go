package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LoadUser reads the user's file only. Calls on existing workers use it: the settings of
// these workers are in their records, and no mistake in a project's file may stand between
// a user and a worker. The valid part of a damaged file is returned together with the
// error, which is then a [config.Problems].
func (s Setup) LoadUser() (*config.Loaded, error) {
	return config.Load(config.Options{
		User:   config.UserFile(s.Getenv),
		Home:   s.Getenv("HOME"),
		Checks: Checks(),
	})
}

// answers returns the rules of the user's file for questions of a worker that belongs to such
// directories, and those of its projects that ask. A mistake in any of these files is an error.
func (s Setup) answers(directories []string) ([]answers.Rule, error) {
	loaded, err := s.LoadUser()
	if err != nil || len(loaded.Config.Answers) == 0 {
		return nil, err
	}
	all := loaded.Config.Answers
	for _, dir := range directories {
		asking, err := config.ProjectAnswers(dir, s.Getenv("HOME"), Checks())
		if err != nil {
			return nil, err
		}
		all = append(all, asking...)
	}
	rules := make([]answers.Rule, len(all))
	for i, a := range all {
		rules[i] = answers.Rule{
			Source: a.Source, Profile: a.Profile, Tool: a.Tool, Worker: a.Worker, Command: a.Command, Project: a.Project,
			Answer: a.Answer, For: a.For,
		}
	}
	return rules, nil
}

// Load reads the user's and the project's file. The valid part of damaged files is returned
// together with the error, which is then a [config.Problems]. A call that names its backend
// itself passes that name; the default does not matter then.
func (s Setup) Load(backend string) (*config.Loaded, error) {
	dir, err := s.StateDir()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(config.Options{
		User:    config.UserFile(s.Getenv),
		Project: ProjectFile(),
		Home:    s.Getenv("HOME"),
		Trusted: TrustStore(dir).Has,
		Checks:  Checks(),
	})
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	if err := loaded.ApplyLock(TrustStore(dir).Has); err != nil {
		problems = append(problems, config.Problem{At: config.Position{File: pluginlock.Path(loaded.TrustedProject())}, Text: Message(err)})
	}
	if backend == "" {
		wrong, err := s.backendProblems(loaded)
		if err != nil {
			return nil, err
		}
		problems = append(problems, wrong...)
	}
	if problems == nil {
		return loaded, nil
	}
	return loaded, problems
}

// backendProblems reports a default backend that does not exist, with the position where
// it was set; the host only knows the name.
func (s Setup) backendProblems(loaded *config.Loaded) (config.Problems, error) {
	const key = "defaults.backend"
	at, set := loaded.Origins[key]
	if !set {
		return nil, nil
	}
	known, err := s.Catalog(loaded.Config.Plugins)
	if err != nil {
		return nil, err
	}
	if text := MissingPlugin(known, loaded.Config.Defaults.Backend); text != "" {
		return loaded.Conceal(config.Problems{{At: at, Key: key, Text: text}}), nil
	}
	return nil, nil
}

// TrustStore returns the store of the project files that may name programs to run.
func TrustStore(stateDir string) config.Trust {
	return config.Trust{Path: filepath.Join(stateDir, "trusted")}
}

// ProjectFile returns the path of the project's file, or "". It returns "" in a deleted
// directory; a verb that needs the directory reports that itself.
func ProjectFile() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return config.FindProject(dir)
}

// Checks returns the checks that need more than package config knows.
func Checks() config.Checks {
	isSignal := func(s string) error {
		if s == "" {
			return nil
		}
		if _, err := swarm.ParseSignal(s); err != nil {
			return errors.New(Message(err))
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

// WorkspaceParent returns a function that returns the configured directory for workspaces of
// a directory. An untrusted project can't lead it elsewhere.
func WorkspaceParent(l *config.Loaded) func(dir string) (string, error) {
	return func(dir string) (string, error) {
		parent := l.Config.Defaults.WorktreeDir
		return parent, l.CheckParent("defaults.worktree_dir", parent, dir)
	}
}

// Catalog finds plugins as the host does.
func (s Setup) Catalog(configured map[string]config.Plugin) (*catalog.Catalog, error) {
	o, err := s.catalogOptions(configured)
	if err != nil {
		return nil, err
	}
	return catalog.New(o), nil
}

func (s Setup) catalogOptions(configured map[string]config.Plugin) (o catalog.Options, err error) {
	if o.Dir, err = s.StateDir(); err != nil {
		return o, err
	}
	if o.Executable = s.Program; o.Executable == "" {
		if o.Executable, err = Executable(); err != nil {
			return o, err
		}
	}
	o.Env, o.Plugins = s.Env, make(map[string]catalog.Config, len(configured))
	for name, p := range configured {
		o.Plugins[name] = catalog.Config(p)
	}
	return o, nil
}

// MissingPlugin returns an error text if no such plugin exists, else "".
func MissingPlugin(known *catalog.Catalog, name string) string {
	var missing *catalog.NotFoundError
	if _, err := known.Find(name); !errors.As(err, &missing) {
		// A plugin that exists but does not work is not a mistake of the config.
		return ""
	}
	text := missing.Error()
	if near := nearest.Name(missing.Name, missing.Known); near != "" {
		text += fmt.Sprintf(" (did you mean '%s'?)", near)
	}
	return text
}
