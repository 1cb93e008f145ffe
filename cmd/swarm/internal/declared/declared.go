package declared

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
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/set"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/swarm"
)

var errNoProject = &output.HintError{
	Err:  fmt.Errorf("no %s here or in a directory above", config.ProjectFile),
	Hint: "'swarm config init --project' writes one; workers are declared in tables [workers.NAME]",
}

// NoneError says that a project's file declares no workers.
type NoneError struct {
	named string
	// Project is the path of the file, without links.
	Project string
}

func (e *NoneError) Error() string {
	return e.named + " declares no workers: there is no table [workers.NAME]"
}

// Workers are the workers that a project's file declares.
type Workers struct {
	*config.Loaded
	// names are the names of all workers, in the order of the file.
	names []string
	Set   *set.Set
}

// BackendOfEach stands for a backend that the call names: each worker names one itself, so
// the default does not matter.
const BackendOfEach = "that of each worker"

// LoadDeclared reads the project's file. No worker has its variables yet.
func LoadDeclared(ctx context.Context, a *app.App) (*Workers, error) {
	project := setup.ProjectFile()
	if project == "" {
		return nil, errNoProject
	}
	loaded, err := a.Setup().Load(BackendOfEach)
	if loaded != nil {
		a.WarnRefused(loaded)
	}
	if err != nil {
		if loaded != nil {
			err = WithProblems(err, WorkerProblems(ctx, a, loaded))
		}
		return nil, err
	}
	if slices.ContainsFunc(loaded.Refused, func(r config.Refused) bool { return !r.User }) {
		return nil, fmt.Errorf("no %s that can be used, here or in a directory above", config.ProjectFile)
	}
	d := &Workers{Loaded: loaded, names: inFileOrder(loaded)}
	// A project is the same one whatever links lead to it.
	named := project
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	if len(d.names) == 0 {
		return nil, &NoneError{named: named, Project: project}
	}
	workers := make([]set.Worker, len(d.names))
	for i, name := range d.names {
		if workers[i], err = declaredWorker(name, loaded.Config.Workers[name]); err != nil {
			return nil, err
		}
		set := func(key string) bool { _, set := loaded.Origins[config.WorkerKey(name, key)]; return set }
		workers[i].Spawn.DirGiven, workers[i].Spawn.DirIsReal = set("cwd"), set("cwd") && loaded.HoldsDir(name)
		workers[i].Spawn.Own = setup.Decided(loaded).Or(registry.Own{
			Memory: set("memory"), CPUs: set("cpus"), PIDs: set("pids"), Nice: set("nice"), IOWeight: set("io_weight"),
			Effort: set("limits"), Sandbox: set("sandbox"), Resurrect: set("resurrect"),
		})
	}
	d.Set, err = set.New(project, workers)
	return d, err
}

func inFileOrder(l *config.Loaded) []string {
	return slices.SortedFunc(maps.Keys(l.Config.Workers), func(a, b string) int {
		at, bt := l.Origins[config.WorkerKey(a, "")], l.Origins[config.WorkerKey(b, "")]
		return cmp.Or(cmp.Compare(at.Line, bt.Line), cmp.Compare(at.Column, bt.Column))
	})
}

func declaredWorker(name string, w config.Worker) (set.Worker, error) {
	policy := setup.KillPolicy(w.Kill)
	r := spawn.Request{
		Name: name, Backend: w.Backend, Command: w.Command, Dir: w.Dir, Tags: w.Tags, Options: map[string]string{},
		Kill: &policy, Retain: w.Retain, OutputLimit: w.LogLimit, Stdin: w.Stdin, Limits: setup.Limits(w.Limits),
		Resurrect: w.Resurrect, Sandbox: setup.Sandbox(w.Sandbox, false),
	}
	if w.Backend == app.BackendTmux {
		SetUnlessEmpty(r.Options, "session", w.Session)
		SetUnlessEmpty(r.Options, "socket", w.TmuxSocket)
	}
	maps.Copy(r.Options, w.Options)
	if ws := w.Workspace; ws.Use {
		r.Workspace = &spawn.WorkspaceRequest{Plugin: ws.Plugin, Branch: ws.Branch, Parent: ws.Dir, Options: ws.Options}
	}
	if when := w.Restart.When; when != "" && when != config.RestartNo {
		r.Restart = swarm.Restart{
			When: swarm.RestartWhen(when), MinDelay: w.Restart.MinDelay, MaxDelay: w.Restart.MaxDelay,
			Budget: w.Restart.Budget, Window: w.Restart.Window,
		}
	}
	declared := set.Worker{Spawn: r, DependsOn: w.DependsOn}
	if w.Ready.Wait {
		declared.Ready = &display.ReadyRequest{Timeout: w.Ready.Timeout}
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

// Prepare checks the external needs of the named workers and their dependencies, and reads
// their variables. So missing things are found before anything is started.
func Prepare(ctx context.Context, a *app.App, d *Workers, names []string) error {
	names, err := d.Set.Dependencies(names)
	if err != nil {
		return d.Explain(err)
	}
	problems, err := backendProblems(ctx, a, d.Loaded, names)
	if err != nil {
		return err
	}
	problems = append(problems, trustProblems(d.Loaded, names)...)
	problems = append(problems, dirProblems(ctx, a, d.Loaded, names)...)
	for _, name := range names {
		variables, wrong := d.Environ(name)
		problems = append(problems, wrong...)
		d.Set.SetEnv(name, variables)
	}
	return WithProblems(nil, d.Conceal(problems))
}

// Explain adds the name that was probably meant.
func (d *Workers) Explain(err error) error {
	if unknown, ok := errors.AsType[*set.UndeclaredError](err); ok {
		if near := nearest.Name(unknown.Name, d.names); near != "" {
			return &output.HintError{Err: err, Hint: fmt.Sprintf("did you mean '%s'?", near)}
		}
	}
	return err
}

func CompleteDeclared(a *app.App) cobra.CompletionFunc {
	return app.Offer(func(context.Context) ([]string, error) {
		loaded, err := a.Setup().Load(BackendOfEach)
		if loaded == nil {
			return nil, err
		}
		return inFileOrder(loaded), nil
	})
}

func SetUnlessEmpty(m map[string]string, key, value string) {
	if value != "" {
		m[key] = value
	}
}
