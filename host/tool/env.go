package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// Env is what a call of a tool works with.
type Env struct {
	// Open opens a host for one call, which closes it.
	Open func(ctx context.Context) (*host.Host, error)
	// Dir is the working directory of commands that name none, absolute; empty: it
	// can't be told, as of a directory that was deleted.
	Dir string
	// Session is whose the shells are; zero: the caller's.
	Session shell.Session
	// Patience is how long whoever calls waits for an answer: what Bash runs goes on in
	// the background before that; 0: as long as it takes.
	Patience time.Duration
	// PromptWait is how long spawn-agent waits until an agent can be told its prompt; 0:
	// [agent.DefaultPromptWait].
	PromptWait time.Duration
	// TaskAfter is how long Bash waits for a command that may take longer than Patience, if
	// whoever calls waits for its end by itself; 0: it does not.
	TaskAfter time.Duration
	// Gone is closed when nobody waits for the answer any more: what was only waited for is
	// left alone then; nil: somebody does until the end.
	Gone <-chan struct{}
	// AgentCommand is what spawn-agent starts if its input has no command.
	AgentCommand []string
	// NoAgentCommand says why that of a config is not used; empty: there is none.
	NoAgentCommand string
	// WorktreeParent returns the directory to make worktrees of the repository around
	// dir in; empty, or nil: beside the repository.
	WorktreeParent func(dir string) (string, error)
	// ReadEnv returns the variables in a file, KEY=VALUE; nil: they can't be read.
	ReadEnv func(path string) ([]string, error)
	// NewWorker returns what a config says of a worker in dir that worker-spawn starts:
	// its backend, policies and tags, and with worktree where that is made. An empty
	// backend is the configured one. Nil: there is no config.
	NewWorker func(backend string, worktree bool, dir string) (host.SpawnRequest, error)
	// Progress is told how a call that takes long goes on; total is 0 where it is
	// not known. Nil: nobody.
	Progress func(text string, done, total float64)
}

// waiting returns a context for a wait of so many milliseconds, at most what a call may
// take. It ends when nobody waits for the answer any more.
func (env Env) waiting(ctx context.Context, ms int) (context.Context, context.CancelFunc) {
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

// gone returns an error if nobody waits for the answer any more.
func (env Env) gone() error {
	select {
	case <-env.Gone:
		return context.Canceled
	default:
		return nil
	}
}

var errNoDir = errors.New("cannot find the working directory")

// noCommand says that there is no command for an agent.
func (env Env) noCommand() error {
	if env.NoAgentCommand != "" {
		return fmt.Errorf("no command for the agent: %s", env.NoAgentCommand)
	}
	return errNoCommand
}

// dir is the directory that an input means, absolute.
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

// newWorker is NewWorker, also where there is no config.
func (env Env) newWorker(backend string, worktree bool, dir string) (host.SpawnRequest, error) {
	if env.NewWorker != nil {
		return env.NewWorker(backend, worktree, dir)
	}
	req := host.SpawnRequest{Backend: cmp.Or(backend, "process")}
	if worktree {
		req.Workspace = &host.WorkspaceRequest{Plugin: "worktree"}
	}
	return req, nil
}
