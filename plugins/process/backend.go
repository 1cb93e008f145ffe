package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend], the capabilities of [shim.Kept], and those asserted below.
// All its methods may be called at the same time.
type Backend struct {
	shim.Kept
	log *slog.Logger
}

var (
	_ swarm.Backend      = (*Backend)(nil)
	_ swarm.Finder       = (*Backend)(nil)
	_ swarm.Checker      = (*Backend)(nil)
	_ swarm.Announcer    = (*Backend)(nil)
	_ swarm.SpawnChecker = (*Backend)(nil)
)

// New returns the backend. It logs to log, which must not be nil.
func New(log *slog.Logger) *Backend { return &Backend{Kept: shim.Kept{Read: decode}, log: log} }

// Announce adds to what shims can do what holds for workers on this machine.
func (b *Backend) Announce() []swarm.Capability {
	return append(b.Kept.Announce(), swarm.CapSandbox)
}

// Spawn starts a shim, which starts the worker.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if err := validate(spec); err != nil {
		return swarm.Handle{}, err
	}
	h, err := Handle(spec.ID, spec.Local.RunDir)
	if err != nil {
		return swarm.Handle{}, err
	}
	if err := shim.Start(ctx, spec); err != nil {
		return swarm.Handle{}, err
	}
	b.log.Debug("worker started", "worker", spec.ID)
	return h, nil
}

func (b *Backend) CheckSpawn(_ context.Context, c swarm.SpawnCheck) error {
	if err := validate(c.Spec); err != nil {
		return err
	}
	return shim.CheckSpawn(c)
}

func validate(spec swarm.Spec) error {
	switch {
	case spec.Local == nil:
		return fmt.Errorf("%w: the process backend runs workers on this machine only", swarm.ErrInvalidSpec)
	case len(spec.Command) == 0:
		return fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
	}
	return plugin.DecodeOptions(spec.Options, &struct{}{})
}

// Find returns the worker of a run directory that a shim was started in.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if err := shim.Recover(ctx, l); err != nil {
		return swarm.Handle{}, err
	}
	return Handle(l.ID, l.Local.RunDir)
}

// Check reports whether processes can be distinguished from each other on this system.
func (b *Backend) Check(context.Context) error {
	if _, err := proc.Identify(os.Getpid()); err != nil {
		return fmt.Errorf("%w: this system does not show its processes (is /proc mounted?): %w", swarm.ErrUnavailable, err)
	}
	return nil
}

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// Handle returns the handle of the worker with an id and a run directory. 'swarm-shim start' answers with it,
// so its format does not change within a version.
func Handle(id, dir string) (swarm.Handle, error) {
	return shim.EncodeHandle(handleVersion, shim.Worker{ID: id, Dir: dir})
}

func decode(raw swarm.Handle) (shim.Worker, error) {
	return shim.DecodeHandle[shim.Worker](raw, handleVersion)
}
