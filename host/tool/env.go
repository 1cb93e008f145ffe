package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Env is the environment of a call of a tool.
type Env struct {
	// Open opens a host for one call, which closes it.
	Open func(ctx context.Context) (*host.Host, error)
	// Dir is the default working directory of commands, absolute; empty if it is unknown,
	// for example because it was deleted.
	Dir string
	// Session is the owner of the shells; the zero value means the caller's session.
	Session shell.Session
	// Patience is how long the client waits for an answer: Bash moves a command into the
	// background before that; 0 means no limit.
	Patience time.Duration
	// PromptWait is how long spawn-agent waits until an agent is ready for its prompt; 0
	// means [agent.DefaultPromptWait].
	PromptWait time.Duration
	// TaskAfter is how long Bash waits for a command that may take longer than Patience, if
	// the client itself waits for the end; 0 if it does not.
	TaskAfter time.Duration
	// Gone is closed when the client no longer waits for the answer: calls that only wait
	// end then. Nil means that the client waits until the end.
	Gone <-chan struct{}
	// AgentCommand is what spawn-agent starts if its input has no command.
	AgentCommand []string
	// NoAgentCommand says why the command of a config is not used; empty if the config has
	// none.
	NoAgentCommand string
	// Limits are those of an agent that a flag names, and Own the settings that flags decide.
	Limits swarm.Limits
	Own    registry.Own
	// ParseLimits reads limits as people write them; nil: they can't be read.
	ParseLimits func(text string, into *swarm.Limits) error
	// Sandbox returns the sandbox of a worker: with asked the configured one, or one without
	// settings, else nil, which leaves it to the host's defaults. Nil means that there is no
	// config.
	Sandbox func(asked bool) *swarm.Sandbox
	// WorkspaceParent returns the directory for workspaces of the repository around dir. If
	// it is nil or returns "", they are made next to the repository.
	WorkspaceParent func(dir string) (string, error)
	// ReadEnv returns the variables in a file, KEY=VALUE; nil: they can't be read.
	ReadEnv func(path string) ([]string, error)
	// NewWorker returns the configured settings of a worker for worker-spawn: its backend,
	// policies and tags. An empty backend means the configured one. Nil means that there is no
	// config.
	NewWorker func(backend string) spawn.Request
	// Progress, if it is not nil, is called with the progress of a long call; total is 0 if
	// it is unknown.
	Progress func(text string, done, total float64)
}

// waitContext returns a context for a wait of so many milliseconds, at most what a call may
// take. It ends when the client no longer waits for the answer.
func (env Env) waitContext(ctx context.Context, ms int) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, min(milliseconds(ms), maxWait))
	stop := make(chan struct{})
	go func() {
		select {
		case <-env.Gone:
			cancel()
		case <-stop:
		}
	}()
	return ctx, sync.OnceFunc(func() { close(stop); cancel() })
}

func (env Env) gone() error {
	select {
	case <-env.Gone:
		return context.Canceled
	default:
		return nil
	}
}

var errNoDir = errors.New("cannot find the working directory")

func (env Env) noCommand() error {
	if env.NoAgentCommand != "" {
		return fmt.Errorf("no command for the agent: %s", env.NoAgentCommand)
	}
	return errNoCommand
}

func (env Env) dir(named string) (string, error) {
	switch {
	case filepath.IsAbs(named):
		return named, nil
	case env.Dir == "":
		return "", errNoDir
	default:
		return filepath.Join(env.Dir, named), nil
	}
}

// addLimits puts the limits that an input names in the place of others.
func (env Env) addLimits(text string, into *swarm.Limits) error {
	if text == "" {
		return nil
	}
	if env.ParseLimits == nil {
		return errors.New("limits can't be read here")
	}
	if err := env.ParseLimits(text, into); err != nil {
		return invalid("limits", err.Error())
	}
	return nil
}

// sandbox is Sandbox that also works without a config.
func (env Env) sandbox(asked bool) *swarm.Sandbox {
	if env.Sandbox != nil {
		return env.Sandbox(asked)
	}
	if asked {
		return &swarm.Sandbox{}
	}
	return nil
}

// newWorker is NewWorker that also works without a config.
func (env Env) newWorker(backend string) spawn.Request {
	if env.NewWorker != nil {
		return env.NewWorker(backend)
	}
	return spawn.Request{Backend: cmp.Or(backend, "process")}
}

// workspaceInput is what inputs say of a workspace.
type workspaceInput struct {
	worktree          bool
	workspace, branch string
	options           []string
}

// workspace returns the workspace that an input asks for, of a worker in dir; nil: none.
func (env Env) workspace(in workspaceInput, dir string) (*spawn.WorkspaceRequest, error) {
	if !in.worktree && in.workspace == "" {
		switch {
		case in.branch != "":
			return nil, invalid("branch", "needs worktree or workspace")
		case len(in.options) > 0:
			return nil, invalid("workspaceOptions", "needs worktree or workspace")
		}
		return nil, nil
	}
	w := &spawn.WorkspaceRequest{Plugin: in.workspace, Branch: in.branch}
	for _, entry := range in.options {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			return nil, invalid("workspaceOptions", "expected KEY=VALUE")
		}
		if w.Options == nil {
			w.Options = map[string]string{}
		}
		w.Options[key] = value
	}
	if env.WorkspaceParent == nil {
		return w, nil
	}
	var err error
	w.Parent, err = env.WorkspaceParent(dir)
	return w, err
}
