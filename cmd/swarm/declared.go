package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/set"
	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// errNoProject says that there is no project's file.
var errNoProject = &hintError{
	err:  fmt.Errorf("no %s here or in a directory above", config.ProjectFile),
	hint: "'swarm config init --project' writes one; workers are declared in tables [workers.NAME]",
}

// declared is what a project's file declares.
type declared struct {
	*config.Loaded
	// names are those of all workers, in the order of the file.
	names []string
	set   *set.Set
}

// backendOfEach is what stands for a backend that a call names itself: each worker
// names one, so the default does not matter for itself.
const backendOfEach = "that of each worker"

// loadDeclared reads the project's file. No worker has its variables yet.
func (a *app) loadDeclared(ctx context.Context) (*declared, error) {
	project := setup.ProjectFile()
	if project == "" {
		return nil, errNoProject
	}
	loaded, err := a.setup().Load(backendOfEach)
	if loaded != nil {
		a.warnRefused(loaded)
	}
	if err != nil {
		if loaded != nil {
			err = withProblems(err, a.workerProblems(ctx, loaded))
		}
		return nil, err
	}
	if slices.ContainsFunc(loaded.Refused, func(r config.Refused) bool { return !r.User }) {
		return nil, fmt.Errorf("no %s that can be used, here or in a directory above", config.ProjectFile)
	}
	d := &declared{Loaded: loaded, names: inFileOrder(loaded)}
	if len(d.names) == 0 {
		return nil, fmt.Errorf("%s declares no workers: there is no table [workers.NAME]", project)
	}
	// A project is the same one by whatever links it is reached.
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	workers := make([]set.Worker, len(d.names))
	for i, name := range d.names {
		if workers[i], err = declaredWorker(name, loaded.Config.Workers[name]); err != nil {
			return nil, err
		}
		_, workers[i].Spawn.DirGiven = loaded.Origins[config.WorkerKey(name, "cwd")]
	}
	d.set, err = set.New(project, workers)
	return d, err
}

func inFileOrder(l *config.Loaded) []string {
	return slices.SortedFunc(maps.Keys(l.Config.Workers), func(a, b string) int {
		at, bt := l.Origins[config.WorkerKey(a, "")], l.Origins[config.WorkerKey(b, "")]
		return cmp.Or(cmp.Compare(at.Line, bt.Line), cmp.Compare(at.Column, bt.Column))
	})
}

// declaredWorker is what the host has to know of a declaration.
func declaredWorker(name string, w config.Worker) (set.Worker, error) {
	policy := setup.KillPolicy(w.Kill)
	r := host.SpawnRequest{
		Name: name, Backend: w.Backend, Command: w.Command, Dir: w.Dir, Tags: w.Tags, Options: map[string]string{},
		Kill: &policy, Retain: w.Retain, OutputLimit: w.LogLimit, Stdin: w.Stdin,
	}
	if w.Backend == backendTmux {
		setUnlessEmpty(r.Options, "session", w.Session)
		setUnlessEmpty(r.Options, "socket", w.TmuxSocket)
	}
	maps.Copy(r.Options, w.Options)
	if w.Worktree.Use {
		r.Workspace = &host.WorkspaceRequest{Plugin: workspaceWorktree, Branch: w.Worktree.Branch, Parent: w.Worktree.Dir}
	}
	if when := w.Restart.When; when != "" && when != config.RestartNo {
		r.Restart = swarm.Restart{
			When: swarm.RestartWhen(when), MinDelay: w.Restart.MinDelay, MaxDelay: w.Restart.MaxDelay,
			Budget: w.Restart.Budget, Window: w.Restart.Window,
		}
	}
	declared := set.Worker{Spawn: r, DependsOn: w.DependsOn}
	if w.Ready.Wait {
		declared.Ready = &host.ReadyRequest{Timeout: w.Ready.Timeout}
		if w.Ready.Pattern != "" {
			pattern, err := regexp.Compile(w.Ready.Pattern)
			if err != nil {
				return declared, err
			}
			declared.Ready.Pattern = pattern
		}
	}
	return declared, nil
}

// prepare looks at what the named workers and those that they depend on need
// beyond what the file says itself, and reads their variables. Whatever is missing
// is found before anything is started.
func (a *app) prepare(ctx context.Context, d *declared, names []string) error {
	names, err := d.set.Dependencies(names)
	if err != nil {
		return d.explain(err)
	}
	problems, err := a.backendProblems(d.Loaded, names)
	if err != nil {
		return err
	}
	problems = append(problems, trustProblems(d.Loaded, names)...)
	problems = append(problems, a.dirProblems(ctx, d.Loaded, names)...)
	for _, name := range names {
		variables, wrong := d.Environ(name)
		problems = append(problems, wrong...)
		d.set.SetEnv(name, variables)
	}
	return withProblems(nil, d.Conceal(problems))
}

// explain adds the name that was probably meant.
func (d *declared) explain(err error) error {
	if unknown, ok := errors.AsType[*set.UndeclaredError](err); ok {
		if near := nearest.Name(unknown.Name, d.names); near != "" {
			return &hintError{err: err, hint: fmt.Sprintf("did you mean '%s'?", near)}
		}
	}
	return err
}

// completeDeclared offers the names of declared workers.
func (a *app) completeDeclared() cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		loaded, _ := a.setup().Load(backendOfEach)
		if loaded == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := slices.DeleteFunc(inFileOrder(loaded), func(name string) bool { return slices.Contains(args, name) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
