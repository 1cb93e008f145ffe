package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// request adds what the config says to what the flags say.
func (o *spawnOptions) request(cfg config.Config) (host.SpawnRequest, error) {
	r := host.SpawnRequest{
		Name:        o.name,
		Backend:     o.backend,
		Command:     o.command,
		Options:     map[string]string{},
		OutputLimit: int64(o.logLimit),
		Stdin:       o.stdin,
		Profile:     o.profile,
	}
	for _, file := range o.envFiles {
		variables, err := config.ReadEnv(file)
		if err != nil {
			return r, err
		}
		r.Env = append(r.Env, variables...)
	}
	r.Env = append(r.Env, o.env...)
	if r.Backend == "" {
		r.Backend = cfg.Defaults.Backend
	}
	for _, tag := range append(cfg.Defaults.Tags, o.tags...) {
		if !slices.Contains(r.Tags, tag) {
			r.Tags = append(r.Tags, tag)
		}
	}
	if r.Backend == backendTmux {
		setUnlessEmpty(r.Options, "session", cfg.Defaults.Session, o.session)
		setUnlessEmpty(r.Options, "socket", cfg.Defaults.TmuxSocket, o.socket)
	} else if o.session != "" || o.socket != "" {
		return r, usagef("--session and --tmux-socket need --tmux")
	}
	for _, entry := range o.options {
		key, value, err := keyValue(entry)
		if err != nil {
			return r, err
		}
		r.Options[key] = value
	}
	if o.worktree {
		r.Workspace = &host.WorkspaceRequest{Plugin: workspaceWorktree, Branch: o.branch, Parent: cfg.Defaults.WorktreeDir}
		if o.worktreeDir != "" {
			// As every path that is typed; that of a config file has no directory
			// to be relative to but the repository's.
			parent, err := workingDir(o.worktreeDir)
			if err != nil {
				return r, err
			}
			r.Workspace.Parent = parent
		}
	}
	o.setPolicy(&r, cfg.Kill)
	if err := o.policy.set(&r, cfg.Defaults); err != nil {
		return r, err
	}
	var err error
	r.Dir, err = workingDir(o.cwd)
	r.DirGiven = o.cwd != ""
	return r, err
}

// checkParent refuses a directory for worktrees that only a trusted file may name.
func (o *spawnOptions) checkParent(l *config.Loaded, r host.SpawnRequest) error {
	if r.Workspace == nil || o.worktreeDir != "" {
		return nil
	}
	return l.CheckParent(keyWorktreeDir, r.Workspace.Parent, r.Dir)
}

func (o *spawnOptions) setPolicy(r *host.SpawnRequest, k config.Kill) {
	policy := setup.KillPolicy(k)
	if o.killSignal != "" {
		policy.Signal = string(o.killSignal)
	}
	if o.killTimeout.d != nil {
		policy.Grace = *o.killTimeout.d
	}
	if mode, ok := killMode(o.killMode.value); ok {
		policy.Mode = mode
	}
	r.Kill = &policy
}

// killMode returns the mode of that name; empty is none.
func killMode(name string) (mode swarm.KillMode, ok bool) {
	for _, mode := range []swarm.KillMode{swarm.KillTree, swarm.KillMain} {
		if name == mode.String() {
			return mode, true
		}
	}
	return swarm.KillTree, false
}

func setUnlessEmpty(m map[string]string, key string, values ...string) {
	for _, value := range values {
		if value != "" {
			m[key] = value
		}
	}
}

// workingDir makes a directory absolute, so that it means the same to a plugin.
func workingDir(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot tell the working directory: %w; use --cwd", err)
	}
	return filepath.Join(dir, path), nil
}
