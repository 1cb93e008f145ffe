// Opaque is a backend of containers of another author: a worker runs as long as its run directory
// is there. The option "place" is the id of its container, "handle" the text of its handle.
package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name:    "opaque",
		Version: "1",
		Local:   true,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return backend{}, nil },
	})
}

type backend struct{}

func (backend) Spawn(_ context.Context, spec swarm.Spec) (swarm.Handle, error) {
	path := filepath.Join(spec.Local.RunDir, "place")
	if err := os.WriteFile(path, []byte(spec.Options["place"]), 0o600); err != nil {
		return swarm.Handle{}, err
	}
	return swarm.Handle{Version: 1, Data: []byte(path + "\n" + spec.Options["handle"])}, nil
}

func (backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	path, _, _ := strings.Cut(string(h.Data), "\n")
	id, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Cause: swarm.CauseExited, Time: time.Now()}}, nil
	}
	return swarm.Status{State: swarm.StateRunning, Where: swarm.Where{Kind: "container", Name: "c", ID: string(id)}}, err
}

func (b backend) Kill(ctx context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	path, _, _ := strings.Cut(string(h.Data), "\n")
	_ = os.Remove(path)
	s, err := b.Status(ctx, h)
	return swarm.KillResult{Status: s, Signal: "SIGTERM"}, err
}
