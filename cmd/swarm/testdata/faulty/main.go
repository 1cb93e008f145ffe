// Faulty is a plugin of a third party whose workers have a shim, and which fails in the calls that the
// file FAULT next to it names: a line for each, the call and what happens in it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name: "faulty", Version: "1", Local: true,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) {
			return backend{shim.Kept{Read: decode}}, fault("Configure")
		},
	})
}

// fault does what FAULT says of a call: it ends the plugin, hangs after it has made the file HUNG, or
// returns an error, which is a warning if it begins with "warn".
func fault(call string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	faults, _ := os.ReadFile(filepath.Join(dir, "FAULT"))
	for line := range strings.Lines(string(faults)) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name != call:
		case what == "die":
			fmt.Fprintln(os.Stderr, "license expired\n2026-01-02 10:00:00 INFO bye")
			os.Exit(3)
		case what == "hang":
			_ = os.WriteFile(filepath.Join(dir, "HUNG"), nil, 0o600)
			select {}
		default:
			return errors.New(what)
		}
	}
	return nil
}

// warned warns the user if the fault is "warn TEXT", which is no error.
func warned(ctx context.Context, err error) bool {
	text, ok := strings.CutPrefix(err.Error(), "warn ")
	if ok {
		swarm.Warn(ctx, text)
	}
	return ok
}

type backend struct{ shim.Kept }

func decode(raw swarm.Handle) (shim.Worker, error) { return shim.DecodeHandle[shim.Worker](raw, 1) }

// Spawn starts the worker before its faults.
func (backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	h, err := shim.EncodeHandle(1, shim.Worker{ID: spec.ID, Dir: spec.Local.RunDir})
	if err != nil {
		return h, err
	}
	if err := shim.Start(ctx, spec); err != nil {
		return swarm.Handle{}, err
	}
	switch err := fault("Spawn"); {
	case err == nil, warned(ctx, err):
		return h, nil
	case err.Error() == "huge":
		return swarm.Handle{Version: 1, Data: make([]byte, 2*swarm.MaxHandle)}, nil
	case err.Error() == "empty":
		return swarm.Handle{}, nil
	default:
		return swarm.Handle{}, err
	}
}

func (backend) CheckSpawn(_ context.Context, c swarm.SpawnCheck) error {
	return errors.Join(fault("CheckSpawn"), shim.CheckSpawn(c))
}

func (backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if err := fault("Find"); err != nil {
		return swarm.Handle{}, err
	}
	if err := shim.Recover(ctx, l); err != nil {
		return swarm.Handle{}, err
	}
	return shim.EncodeHandle(1, shim.Worker{ID: l.ID, Dir: l.Local.RunDir})
}

func (backend) Check(context.Context) error { return fault("Check") }

func (b backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	if err := fault("Status"); err != nil {
		return nil, err
	}
	return b.Kept.StatusBatch(ctx, hs)
}

func (b backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	if err := fault("Status"); err != nil {
		return swarm.Status{}, err
	}
	return b.Kept.Status(ctx, h)
}

func (b backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	if err := fault("Kill"); err != nil && !warned(ctx, err) {
		return swarm.KillResult{}, err
	}
	return b.Kept.Kill(ctx, h, o)
}

func (b backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if err := fault("Output"); err != nil {
		return err
	}
	return b.Kept.Output(ctx, h, o, each)
}

func (b backend) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	if err := fault("Pause"); err != nil {
		return err
	}
	return b.Kept.SetPaused(ctx, h, paused)
}
