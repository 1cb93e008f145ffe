// Command swarm-plugins is the plugins of packages copy, notify, process, ssh, tmux and worktree in one program, see
// [github.com/swarmhost/swarm/shared/programs], and the verbs of swarm-shim,
// of which copy-in and copy-out copy the files of workers.
package main

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/swarmhost/swarm/cmd/swarm-plugins/internal/verbs"
	"github.com/swarmhost/swarm/plugins/copy"
	"github.com/swarmhost/swarm/plugins/notify"
	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/plugins/worktree"
	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == archive.In || os.Args[1] == archive.Out) {
		os.Exit(archive.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == ssh.ForwardVerb {
		os.Exit(ssh.ForwardMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == ssh.StreamVerb {
		os.Exit(ssh.StreamMain(os.Args[2:]))
	}
	if filepath.Base(os.Args[0]) == "swarm-shim" {
		os.Exit(verbs.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(programs.Main(map[string]func(){
		"copy": serveCopy, "notify": serveNotify, "process": serveProcess, "ssh": serveSSH, "tmux": serveTmux, "worktree": serveWorktree,
	}))
}

func serveCopy() {
	plugin.Serve(plugin.Options{
		Name:        "copy",
		Version:     copy.Version,
		SpecOptions: plugin.SchemaOf[copy.Options](),
		Workspace: func(_ context.Context, env plugin.Env) (swarm.Workspace, error) {
			return copy.New(env.Logger), nil
		},
	})
}

func serveNotify() {
	plugin.Serve(plugin.Options{
		Name:     "notify",
		Version:  notify.Version,
		Settings: plugin.SchemaOf[notify.Config](),
		Notifier: func(_ context.Context, env plugin.Env) (swarm.Notifier, error) {
			var config notify.Config
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return notify.New(config, env.Logger)
		},
	})
}

func serveProcess() {
	plugin.Serve(plugin.Options{
		Name:    "process",
		Version: process.Version,
		Local:   true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			return process.New(env.Logger), nil
		},
	})
}

func serveSSH() {
	var made atomic.Pointer[ssh.Backend]
	plugin.Serve(plugin.Options{
		Name:        "ssh",
		Version:     ssh.Version,
		Settings:    plugin.SchemaOf[ssh.Config](),
		SpecOptions: plugin.SchemaOf[ssh.Options](),
		Backend: func(ctx context.Context, env plugin.Env) (swarm.Backend, error) {
			var config ssh.Config
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			b, err := ssh.New(ctx, config, os.Environ(), env.Logger)
			if err != nil {
				return nil, err
			}
			made.Store(b)
			return b, nil
		},
	})
	if b := made.Load(); b != nil {
		b.Leave()
	}
}

func serveTmux() {
	plugin.Serve(plugin.Options{
		Name:        "tmux",
		Version:     tmux.Version,
		Local:       true,
		SpecOptions: plugin.SchemaOf[tmux.Options](),
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			return tmux.New(env.Logger), nil
		},
	})
}

func serveWorktree() {
	plugin.Serve(plugin.Options{
		Name: "worktree", Version: worktree.Version, Settings: plugin.SchemaOf[worktree.Config](), Workspace: newWorktree,
	})
}

func newWorktree(_ context.Context, env plugin.Env) (swarm.Workspace, error) {
	var cfg worktree.Config
	if err := env.Config.Decode(&cfg); err != nil {
		return nil, err
	}
	return worktree.New(cfg, env.Logger), nil
}
