package container

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

type ref struct {
	// Socket is where the engine is.
	Socket string `json:"socket"`
	// Container is the engine's id of the container.
	Container string `json:"container"`
	Name      string `json:"name"`
	// Worker is the worker's id, Dir its run directory when it was started.
	Worker string `json:"worker"`
	Dir    string `json:"dir"`
	// State is the id of the host's state directory.
	State string `json:"state"`
	TTY   bool   `json:"tty,omitempty"`
	Stdin bool   `json:"stdin,omitempty"`
}

var containerID = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (r ref) encode() (swarm.Handle, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return swarm.Handle{}, fmt.Errorf("write the handle of %s: %w", r.Worker, err)
	}
	if len(data) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the paths of the run directory and the socket are too long", swarm.ErrInvalidSpec)
	}
	return swarm.Handle{Version: handleVersion, Data: data}, nil
}

func decode(h swarm.Handle) (ref, error) {
	if h.Version != handleVersion {
		return ref{}, fmt.Errorf("%w: version %d, this plugin knows version %d", swarm.ErrInvalidHandle, h.Version, handleVersion)
	}
	d := json.NewDecoder(bytes.NewReader(h.Data))
	d.DisallowUnknownFields()
	var r ref
	if err := d.Decode(&r); err != nil {
		return ref{}, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if r.Worker == "" || r.Name == "" || !containerID.MatchString(r.Container) || !filepath.IsAbs(r.Socket) || !filepath.IsAbs(r.Dir) {
		return ref{}, fmt.Errorf("%w: incomplete", swarm.ErrInvalidHandle)
	}
	return r, nil
}

// ref reads a handle, with the run directory where it is now.
func (b *Backend) ref(ctx context.Context, h swarm.Handle) (ref, error) {
	r, err := decode(h)
	r.Dir = swarm.RunDir(ctx, r.Worker, r.Dir)
	return r, err
}

func (b *Backend) open(ctx context.Context, h swarm.Handle) (ref, *engine, error) {
	r, err := b.ref(ctx, h)
	if err != nil {
		return ref{}, nil, err
	}
	e, err := b.at(r.Socket)
	return r, e, err
}
