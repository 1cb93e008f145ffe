package shim

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Start starts a shim for the worker of a spec, and returns once the worker runs. The run
// directory and the program of the shim are those of spec.Local, which has to be set. The shim
// has a session of its own, and shares no descriptor and no environment with the caller.
//
// The worker has the environment of [swarm.Spec.Environ], without the marks of shims and engines
// and without its caller's token, and runs in the sandbox of the spec, if that has one. So
// a backend announces [swarm.CapSandbox] and needs nothing else for it.
//
// After an error neither shim nor worker remains. The error is [swarm.ErrInvalidSpec] if the
// worker could not be started, and [swarm.ErrExists] if one was started in the run directory.
func Start(ctx context.Context, spec swarm.Spec) error {
	l := client.LaunchOf(spec)
	if err := client.Enclose(&l, spec); err != nil {
		return err
	}
	return client.Start(ctx, spec.Local.Shim, spec.Local.RunDir, l)
}

// CheckSpawn returns the error with which [Start] would fail on this machine: for the limits of
// the worker, its sandbox, its directory, its program and the interpreter of that, see
// [swarm.SpawnChecker]. It reads files and changes nothing.
func CheckSpawn(c swarm.SpawnCheck) error { return client.CheckSpawn(c) }

// Recover returns nil if a shim was started for a worker although the process that called
// [Start] is gone, see [swarm.Finder]. It waits for a start that is still in progress. The error
// [swarm.ErrNotFound] is final: no shim will start that worker any more.
func Recover(ctx context.Context, l swarm.Lookup) error {
	if l.Local == nil {
		return fmt.Errorf("%w: worker %s", swarm.ErrNotFound, l.ID)
	}
	_, err := client.Recover(ctx, l.Local.RunDir, l.ID)
	return err
}

// Worker is what every handle of a worker with a shim holds. A backend embeds it
// in the value that it writes with [EncodeHandle].
type Worker struct {
	// ID is the worker's id.
	ID string `json:"id"`
	// Dir is its run directory when it was started, absolute. See [Kept.RunDir].
	Dir string `json:"dir"`
}

func (w Worker) named() bool { return w.ID != "" && filepath.IsAbs(w.Dir) }

// EncodeHandle returns a handle of a version, with h as JSON. If it is too large, the error
// is [swarm.ErrInvalidSpec], since its paths are too long.
func EncodeHandle(version uint32, h any) (swarm.Handle, error) {
	b, err := rawjson.Marshal(h)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(b) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the path of the run directory is too long", swarm.ErrInvalidSpec)
	}
	return swarm.Handle{Version: version, Data: b}, nil
}

// DecodeHandle reads what [EncodeHandle] wrote of a value that embeds [Worker].
// All else is [swarm.ErrInvalidHandle].
func DecodeHandle[H interface{ named() bool }](raw swarm.Handle, version uint32) (H, error) {
	var h H
	if raw.Version != version {
		return h, fmt.Errorf("%w: this plugin does not know version %d", swarm.ErrInvalidHandle, raw.Version)
	}
	if err := rawjson.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if !h.named() {
		return h, fmt.Errorf("%w: it does not name a worker", swarm.ErrInvalidHandle)
	}
	return h, nil
}
