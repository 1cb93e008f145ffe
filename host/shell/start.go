package shell

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// backend is the plugin that runs shells, which need no more than a process.
	backend = "process"
	// alphabet is what ids are made of after their prefix, idLength how long they
	// are then.
	alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
	idLength = 6
)

// Command is a command line to run with bash.
type Command struct {
	// Command is the command line, not empty.
	Command string
	// Description is what the caller says of it, or empty.
	Description string
	// Dir is the working directory, absolute.
	Dir string
	// Timeout is how long it may take in the foreground; 0: [DefaultTimeout].
	Timeout time.Duration
	// Session is whose it is.
	Session Session
	// HandOver is how long [Run] waits before it lets the command continue in the
	// background of the session; 0: it never does. The timeout does not apply then.
	HandOver time.Duration
	// Most is how many characters of output [Run] returns at most, over both streams;
	// 0: as many as it keeps.
	Most int
}

// Start begins a command in the background and returns once it runs. One that
// can't be begun, such as where there is no bash, is [swarm.ErrInvalidSpec], and
// nothing is left of it.
func Start(ctx context.Context, h *host.Host, c Command) (Shell, error) {
	in, err := c.Session.scope(ctx, h)
	if err != nil {
		return Shell{}, err
	}
	req := c.request()
	req.Retain = retention.String()
	req.Owner = c.Session.Owner
	req.Shell = &registry.Shell{Session: in.session, Description: c.Description}
	req.Transcript = true
	w, err := spawnNamed(ctx, h, req, prefix)
	if err != nil {
		return Shell{}, err
	}
	return shellOf(h, w), nil
}

// request is what both kinds of commands have in common.
func (c Command) request() spawn.Request {
	return spawn.Request{
		Backend: backend,
		Command: []string{"bash", "-c", c.Command},
		Dir:     c.Dir,
		// Whatever a config says of other workers: nothing may stay when the owner
		// has ended.
		Kill: new(policy()),
	}
}

func policy() swarm.KillOptions {
	p := host.DefaultKill()
	p.Signal = "SIGTERM"
	return p
}

// spawnNamed starts a worker under a name that no other has.
func spawnNamed(ctx context.Context, h *host.Host, req spawn.Request, prefix string) (worker.Worker, error) {
	for {
		req.Name = prefix + newName()
		w, err := h.Spawn().Spawn(ctx, req)
		if !errors.Is(err, worker.ErrExists) {
			return w, err
		}
	}
}

func newName() string {
	b := make([]byte, idLength)
	for i := range b {
		b[i] = alphabet[rand.IntN(len(alphabet))]
	}
	return string(b)
}
