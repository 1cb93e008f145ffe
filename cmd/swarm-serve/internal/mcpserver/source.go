package mcpserver

import (
	"context"
	"fmt"
	"io"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// anyBackend is what Load gets where each call names its backend itself, or has a default
// of its own.
const anyBackend = "tmux"

// source gives hosts to calls. The config files are read for each of them, so that
// they may be mended while the server runs.
type source struct {
	setup setup.Setup
	dir   string
}

// open opens a host for tools that work on existing workers: no mistake in a file may stand
// between an agent and a worker.
func (s source) open(ctx context.Context) (*host.Host, error) {
	// The valid part of a damaged file is used.
	loaded, _ := s.setup.LoadUser()
	return s.setup.Open(ctx, loaded.Config)
}

// logger returns the logger of the server. Without SWARM_LOG it gets errors alone, which are
// faults of swarm itself.
func (s source) logger(errs io.Writer) hclog.Logger {
	if s.setup.Logger != nil {
		return s.setup.Logger
	}
	return hclog.New(&hclog.LoggerOptions{Name: "swarm-serve", Level: hclog.Error, Output: safetext.Writer(errs)})
}

// warn logs a warning if a log was asked for.
func (s source) warn(message string, args ...any) {
	if s.setup.Logger != nil {
		s.setup.Logger.Warn(message, args...)
	}
}

// tools returns the environment of a call of a tool.
func (s source) tools(name string) tool.Env {
	env := tool.Env{Open: s.open, Dir: s.dir}
	if tool.IsOfPlugin(name) {
		// A project's plugin needs its settings, and the trust in its file.
		env.Open = func(ctx context.Context) (*host.Host, error) {
			loaded, err := s.setup.Load(anyBackend)
			if err != nil {
				return nil, err
			}
			return s.setup.Open(ctx, loaded.Config)
		}
	}
	switch name {
	case "Bash":
		// Its workers have the user's defaults, such as a sandbox, so a mistake in their file
		// is an error.
		loaded, err := s.setup.LoadUser()
		env.Open = func(ctx context.Context) (*host.Host, error) {
			if err != nil {
				return nil, err
			}
			return s.setup.Open(ctx, loaded.Config)
		}
	case "spawn-team", "spawn-agent", "worker-spawn":
		// The project decides what is started, so a mistake in its file is an error.
		loaded, err := s.setup.Load(anyBackend)
		if loaded == nil {
			loaded = &config.Loaded{Config: config.Default()}
		}
		env.WorkspaceParent, env.ReadEnv = setup.WorkspaceParent(loaded), config.ReadEnv
		env.ParseLimits, env.Own = setup.ParseLimits, setup.Decided(loaded)
		env.Sandbox = func(asked bool) *swarm.Sandbox { return setup.Sandbox(loaded.Config.Defaults.Sandbox, asked) }
		env.AgentCommand, env.NoAgentCommand = loaded.Config.Team.AgentCommand, notTrusted(loaded)
		env.NewWorker = func(backend string) spawn.Request { return setup.NewWorker(loaded, backend) }
		env.Open = func(ctx context.Context) (*host.Host, error) {
			if err != nil {
				return nil, err
			}
			return s.setup.Open(ctx, loaded.Config)
		}
	}
	return env
}

// notTrusted says that a project's file names a command for agents which is not used;
// empty if it does not.
func notTrusted(loaded *config.Loaded) string {
	const key = "team.agent_command"
	for _, r := range loaded.Refused {
		return fmt.Sprintf("%s is not used: %s; %s", r.Path, r.Reason, r.Advice())
	}
	for _, ignored := range loaded.Ignored {
		if ignored.Key == key {
			return fmt.Sprintf("%s: %s is not used, since this file is not trusted: read it, then run 'swarm config trust'", ignored.At, key)
		}
	}
	return ""
}
