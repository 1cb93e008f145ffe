package workers

import (
	"slices"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
)

// Request adds what the config says to what the flags say.
func (o *SpawnOptions) Request(cfg config.Config) (host.SpawnRequest, error) {
	r := host.SpawnRequest{
		Name:        o.Name,
		Backend:     o.Backend,
		Command:     o.Command,
		Options:     map[string]string{},
		OutputLimit: int64(o.logLimit),
		Stdin:       o.stdin,
		Profile:     o.Profile,
		Limits:      setup.Limits(cfg.Defaults.Limits),
	}
	o.Limits.Apply(&r.Limits)
	var err error
	if r.Sandbox, err = o.Sandbox.Of(cfg.Defaults.Sandbox); err != nil {
		return r, err
	}
	for _, file := range o.envFiles {
		variables, err := config.ReadEnv(file)
		if err != nil {
			return r, err
		}
		r.Env = append(r.Env, variables...)
	}
	r.Env = append(r.Env, o.Env...)
	if r.Backend == "" {
		r.Backend = cfg.Defaults.Backend
	}
	for _, tag := range append(cfg.Defaults.Tags, o.tags...) {
		if !slices.Contains(r.Tags, tag) {
			r.Tags = append(r.Tags, tag)
		}
	}
	if r.Backend == app.BackendTmux {
		declared.SetUnlessEmpty(r.Options, "session", cfg.Defaults.Session, o.session)
		declared.SetUnlessEmpty(r.Options, "socket", cfg.Defaults.TmuxSocket, o.socket)
	} else if o.session != "" || o.socket != "" {
		return r, output.Usagef("--session and --tmux-socket need --tmux")
	}
	for _, entry := range o.Options {
		key, value, err := command.KeyValue(entry)
		if err != nil {
			return r, err
		}
		r.Options[key] = value
	}
	if o.Worktree {
		r.Workspace = &host.WorkspaceRequest{Plugin: app.WorkspaceWorktree, Branch: o.branch, Parent: cfg.Defaults.WorktreeDir}
		if o.worktreeDir != "" {
			// As every path that is typed; that of a config file has no directory
			// to be relative to but the repository's.
			parent, err := app.WorkingDir(o.worktreeDir)
			if err != nil {
				return r, err
			}
			r.Workspace.Parent = parent
		}
	}
	o.setPolicy(&r, cfg.Kill)
	if err := o.Policy.set(&r, cfg.Defaults); err != nil {
		return r, err
	}
	r.Dir, err = app.WorkingDir(o.Cwd)
	r.DirGiven = o.Cwd != ""
	return r, err
}

// CheckParent refuses a directory for worktrees that only a trusted file may name.
func (o *SpawnOptions) CheckParent(l *config.Loaded, r host.SpawnRequest) error {
	if r.Workspace == nil || o.worktreeDir != "" {
		return nil
	}
	return l.CheckParent(declared.KeyWorktreeDir, r.Workspace.Parent, r.Dir)
}

func (o *SpawnOptions) setPolicy(r *host.SpawnRequest, k config.Kill) {
	policy := setup.KillPolicy(k)
	if o.killSignal != "" {
		policy.Signal = string(o.killSignal)
	}
	if o.killTimeout.D != nil {
		policy.Grace = *o.killTimeout.D
	}
	if mode, ok := command.KillMode(o.KillMode.Value); ok {
		policy.Mode = mode
	}
	r.Kill = &policy
}
