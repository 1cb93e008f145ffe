package container

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns the engine's own command for it, which leaves the worker alone when it
// ends: Ctrl-P Ctrl-Q detaches from a terminal.
func (b *Backend) Attach(ctx context.Context, h swarm.Handle, _ swarm.AttachOptions) (swarm.Attachment, error) {
	r, e, err := b.open(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	s, err := e.inspect(ctx, r)
	if err != nil {
		return swarm.Attachment{}, err
	}
	if !s.running {
		return swarm.Attachment{}, fmt.Errorf("%w: the worker does not run", swarm.ErrNotFound)
	}
	for _, client := range [][]string{{"docker", "--host"}, {"podman", "--remote", "--url"}} {
		if path, err := exec.LookPath(client[0]); err == nil {
			command := append([]string{path}, client[1:]...)
			command = append(command, socketScheme+r.Socket, "attach", "--sig-proxy=false")
			if !r.TTY {
				command = append(command, "--no-stdin")
			}
			return swarm.Attachment{Command: append(command, r.Container)}, nil
		}
	}
	return swarm.Attachment{}, fmt.Errorf("%w: neither the command docker nor podman is installed, one of which attaches", swarm.ErrUnavailable)
}
