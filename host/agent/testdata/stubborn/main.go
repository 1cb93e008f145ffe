// Stubborn is a backend whose workers can't be killed: each is a file, and alive as
// long as that is there. It can't complete either.
package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name:    "stubborn",
		Version: "1",
		Local:   true,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return backend{}, nil },
	})
}

type backend struct{}

func (backend) Spawn(_ context.Context, spec swarm.Spec) (swarm.Handle, error) {
	path := filepath.Join(spec.Local.RunDir, "alive")
	return swarm.Handle{Version: 1, Data: []byte(path)}, os.WriteFile(path, nil, 0o600)
}

func (backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	_, err := os.Stat(string(h.Data))
	if errors.Is(err, fs.ErrNotExist) {
		exit := &swarm.Exit{Cause: swarm.CauseExited, Time: time.Now()}
		return swarm.Status{State: swarm.StateExited, Exit: exit}, nil
	}
	return swarm.Status{State: swarm.StateRunning, PID: os.Getppid()}, err
}

func (b backend) Kill(ctx context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	s, err := b.Status(ctx, h)
	if err != nil || s.State == swarm.StateExited {
		return swarm.KillResult{Status: s, AlreadyEnded: true}, err
	}
	survivor := swarm.Process{PID: s.PID, Name: "stone"}
	return swarm.KillResult{Status: s, Signal: "SIGTERM", Survivors: []swarm.Process{survivor}}, swarm.ErrSurvivors
}
