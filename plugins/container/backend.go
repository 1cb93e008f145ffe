package container

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/progress"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend] and the capabilities asserted below. All its methods
// may be called at the same time.
type Backend struct {
	progress.Spawns
	config Config
	socket string // of the engine of new workers
	log    *slog.Logger

	mu      sync.Mutex
	engines map[string]*engine // by their sockets
}

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
	_ swarm.Reporter      = (*Backend)(nil)
	_ swarm.Sweeper       = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Watcher       = (*Backend)(nil)
	_ swarm.Signaller     = (*Backend)(nil)
	_ swarm.Inputter      = (*Backend)(nil)
	_ swarm.Attacher      = (*Backend)(nil)
	_ swarm.Copier        = (*Backend)(nil)
	_ swarm.Execer        = (*Backend)(nil)
	_ swarm.Forwarder     = (*Backend)(nil)
	_ swarm.Measurer      = (*Backend)(nil)
	_ swarm.Limiter       = (*Backend)(nil)
	_ swarm.Pauser        = (*Backend)(nil)
	_ swarm.Resizer       = (*Backend)(nil)
	_ swarm.Announcer     = (*Backend)(nil)
	_ swarm.Progresser    = (*Backend)(nil)
	_ swarm.SpawnChecker  = (*Backend)(nil)
)

// New returns the backend, which finds its engine with the variables env. It logs to log,
// which must not be nil, and does not contact the engine yet.
func New(c Config, env []string, log *slog.Logger) (*Backend, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	socket, err := c.socket(env)
	if err != nil {
		return nil, err
	}
	return &Backend{config: c, socket: socket, log: log, engines: make(map[string]*engine)}, nil
}

type engine struct {
	*client.Client
	socket string
}

func (b *Backend) at(socket string) (*engine, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.engines[socket]; e != nil {
		return e, nil
	}
	c, err := client.New(client.WithHost(socketScheme + socket))
	if err != nil {
		return nil, fmt.Errorf("%w: host: %w", swarm.ErrInvalidConfig, err)
	}
	e := &engine{Client: c, socket: socket}
	b.engines[socket] = e
	return e, nil
}

func (b *Backend) Check(ctx context.Context) error {
	e, err := b.at(b.socket)
	if err != nil {
		return err
	}
	_, err = e.Ping(ctx, client.PingOptions{})
	return e.explain(ctx, "ask the engine", err)
}

func (b *Backend) Report(ctx context.Context) (string, error) {
	e, err := b.at(b.socket)
	if err != nil {
		return "", err
	}
	podman, version, err := e.version(ctx)
	name := "Docker"
	if podman {
		name = "Podman"
	}
	return fmt.Sprintf("%s %s at %s", name, version, e.socket), err
}

// version returns whether the engine is Podman, and its version.
func (e *engine) version(ctx context.Context) (podman bool, version string, err error) {
	v, err := e.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return false, "", e.explain(ctx, "ask for the engine's version", err)
	}
	for _, c := range v.Components {
		podman = podman || c.Name == "Podman Engine"
	}
	return podman, v.Version, nil
}
