package declared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/shared/schema"
)

// WithProblems adds problems to the error of a config file.
func WithProblems(err error, more config.Problems) error {
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	if problems = slices.Concat(problems, more); len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return problems
}

// WorkerProblems returns the problems of all workers that Prepare would find, as far as
// they can be found without starting anything.
func WorkerProblems(ctx context.Context, a *app.App, l *config.Loaded) config.Problems {
	names := inFileOrder(l)
	problems, _ := backendProblems(ctx, a, l, names)
	problems = append(problems, missingPlugins(a, l, names)...)
	problems = append(problems, trustProblems(l, names)...)
	problems = append(problems, dirProblems(ctx, a, l, names)...)
	for _, name := range names {
		_, wrong := l.Environ(name)
		problems = append(problems, wrong...)
	}
	return l.Conceal(problems)
}

func backendProblems(ctx context.Context, a *app.App, l *config.Loaded, names []string) (problems config.Problems, err error) {
	known, err := a.Setup().Catalog(l.Config.Plugins)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		w := l.Config.Workers[name]
		key, at := originOf(l, name, "backend", "defaults.backend")
		ignored := slices.ContainsFunc(l.Ignored, func(i config.Ignored) bool { return i.Key == "plugins."+w.Backend })
		if ignored {
			problems = append(problems, config.Problem{At: at, Key: key, Text: fmt.Sprintf(
				"the plugin '%s' of this project is not trusted: read the file, then run 'swarm config trust' to use it", w.Backend)})
		} else if text := setup.MissingPlugin(known, w.Backend); text != "" {
			problems = append(problems, config.Problem{At: at, Key: key, Text: text})
		}
		for _, key := range []string{config.WorkerKey(name, "session"), config.WorkerKey(name, "tmux_socket")} {
			if at, set := l.Origins[key]; set && w.Backend != app.BackendTmux {
				problems = append(problems, config.Problem{At: at, Key: key, Text: "needs backend = \"tmux\""})
			}
		}
		problems = append(problems, optionProblems(ctx, a, l, name, w)...)
	}
	return problems, nil
}

// missingPlugins returns the workspace plugins and the notifiers that do not exist.
func missingPlugins(a *app.App, l *config.Loaded, names []string) (problems config.Problems) {
	known, err := a.Setup().Catalog(l.Config.Plugins)
	if err != nil {
		return nil // as the backends could not be checked
	}
	find := func(plugin, key string, at config.Position) {
		if text := setup.MissingPlugin(known, plugin); text != "" {
			problems = append(problems, config.Problem{At: at, Key: key, Text: text})
		}
	}
	for _, name := range names {
		w := l.Config.Workers[name].Workspace
		if !w.Use || slices.ContainsFunc(l.Ignored, func(i config.Ignored) bool { return i.Key == "plugins."+w.Plugin }) {
			continue
		}
		own := "workspace"
		if _, set := l.Origins[config.WorkerKey(name, own)]; !set {
			own = "workspace.plugin"
		}
		key, at := originOf(l, name, own, "defaults.workspace")
		find(w.Plugin, key, at)
	}
	for _, plugin := range l.Config.Notify.Use {
		find(plugin, config.NotifyUse, l.Origins[config.NotifyUse])
	}
	return problems
}

// optionProblems returns the options of a worker that its backend does not take, so that no running
// worker is ended for one that can't start. The announcement of a backend is remembered; a backend that
// was not used yet is started for it, but none that a config file names: the file may not be trusted.
func optionProblems(ctx context.Context, a *app.App, l *config.Loaded, name string, w config.Worker) (problems config.Problems) {
	if len(w.Options) == 0 {
		return nil
	}
	describe := func(h *host.Host) (backend.Description, error) { return h.Plugins().Describe(ctx, w.Backend) }
	if p := l.Config.Plugins[w.Backend]; len(p.Command) > 0 {
		describe = func(h *host.Host) (backend.Description, error) { return h.Plugins().Remembered(w.Backend), nil }
	}
	var options *schema.Schema
	err := a.With(ctx, l.Config, func(h *host.Host) error {
		d, err := describe(h)
		options = d.Options
		return err
	})
	if err != nil || options == nil {
		return nil //nolint:nilerr // the backend checks them when it starts the worker
	}
	for _, p := range options.CheckOptions(w.Options) {
		key, at := l.Inside(config.WorkerKey(name, "options"), p.Key)
		problems = append(problems, config.Problem{At: at, Key: key, Text: p.Error()})
	}
	return problems
}

// KeyWorktreeDir is the key of the default directory of worktrees.
const KeyWorktreeDir = "defaults.worktree_dir"

// trustProblems returns the problems of workers whose settings take effect only if the
// project's file is trusted.
func trustProblems(l *config.Loaded, names []string) (problems config.Problems) {
	dirs := config.Problems{}
	for _, name := range names {
		w, table := l.Config.Workers[name], config.WorkerKey(name, "")
		own := ownParent(l, name)
		for _, i := range l.Ignored {
			switch {
			case strings.HasPrefix(i.Key, table+"."):
				problems = append(problems, i.Problems()...)
			case i.Key == KeyWorktreeDir && w.Workspace.Use && own == "":
				dirs = i.Problems()
			}
		}
		if w.Workspace.Use {
			parent := cmp.Or(own, KeyWorktreeDir)
			err := l.CheckParent(parent, w.Workspace.Dir, w.Dir)
			if linked, ok := errors.AsType[config.Problems](err); ok {
				problems = append(problems, linked...)
			}
		}
	}
	return append(problems, dirs...)
}

// ownParent returns the key with which a worker names the directory for its workspace; empty: none.
func ownParent(l *config.Loaded, name string) string {
	for _, key := range []string{"worktree.dir", "workspace.dir"} {
		key = config.WorkerKey(name, key)
		if _, set := l.Origins[key]; set {
			return key
		}
	}
	return ""
}

// dirProblems returns the missing working directories. A directory of another machine can't
// be checked.
func dirProblems(ctx context.Context, a *app.App, l *config.Loaded, names []string) (problems config.Problems) {
	for _, name := range names {
		missing := l.DirProblems(name)
		if missing != nil && needsDir(ctx, a, l.Config, l.Config.Workers[name]) {
			problems = append(problems, missing...)
		}
	}
	return problems
}

// needsDir reports whether the working directory of a worker has to exist: worktrees are
// made from it on this machine, and most backends use it on this machine. Only third-party
// plugins have to be asked.
func needsDir(ctx context.Context, a *app.App, cfg config.Config, w config.Worker) bool {
	if w.Workspace.Use || w.Backend == app.BackendProcess || w.Backend == app.BackendTmux {
		return true
	}
	here := false
	err := a.With(ctx, cfg, func(h *host.Host) (err error) {
		here, err = h.RunsHere(ctx, w.Backend)
		return err
	})
	return err == nil && here
}

// originOf returns the key that a worker's setting comes from, and its position; for a
// default, the position of the worker.
func originOf(l *config.Loaded, name, key, otherwise string) (string, config.Position) {
	own := config.WorkerKey(name, key)
	for _, k := range []string{own, otherwise} {
		if at, set := l.Origins[k]; set {
			return k, at
		}
	}
	return own, l.Origins[config.WorkerKey(name, "")]
}
