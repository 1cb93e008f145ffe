package container

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/dirid"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// findLimit is how long Find waits for a start that may be on its way, from a Spawn
	// whose plugin was killed.
	findLimit = 2 * time.Second
	findPoll  = 20 * time.Millisecond
)

// Find returns the worker that was spawned with that id in that state directory. A
// container that was made and is not started soon is removed, so that it is not started
// after Find has said that there is no worker.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	e, err := b.at(b.socket)
	if err != nil {
		return swarm.Handle{}, err
	}
	gone := fmt.Errorf("%w: container of worker %s", swarm.ErrNotFound, l.ID)
	if l.Local == nil {
		return swarm.Handle{}, gone
	}
	state, err := dirid.Read(stateFile(l.Local.StateDir))
	if err != nil {
		return swarm.Handle{}, fmt.Errorf("%w: the id of the state directory: %w", swarm.ErrUnavailable, err)
	}
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).
		Add("label", labelWorker+"="+l.ID)})
	if err != nil {
		return swarm.Handle{}, e.explain(ctx, "look for the worker", err)
	}
	i := slices.IndexFunc(list.Items, func(c container.Summary) bool {
		// The id alone counts: the directory may have been moved.
		id := c.Labels[labelID]
		return id != "" && id == state
	})
	if i < 0 {
		return swarm.Handle{}, gone
	}
	c := list.Items[i]
	r := ref{
		Socket: e.socket, Container: c.ID, Name: nameOfContainer(l.ID, c.Labels[labelName]), Worker: l.ID, Dir: l.Local.RunDir,
		State: state,
	}
	s, err := e.settle(ctx, r)
	switch {
	case errors.Is(err, swarm.ErrNotFound), err == nil && s.created:
		return swarm.Handle{}, gone
	case err != nil:
		return swarm.Handle{}, err
	}
	if err := r.noteStart(s); err != nil {
		return swarm.Handle{}, err
	}
	r.TTY, r.Stdin = s.tty, s.stdin
	return r.encode()
}

// settle waits until a container was started, and returns its state. It removes a container
// that was not started in time.
func (e *engine) settle(ctx context.Context, r ref) (state, error) {
	limit := time.Now().Add(findLimit)
	for {
		s, err := e.inspect(ctx, r)
		if err != nil || !s.created {
			return s, err
		}
		if time.Now().After(limit) {
			return s, e.remove(ctx, r.Container)
		}
		if err := sleep.For(ctx, findPoll); err != nil {
			return s, err
		}
	}
}
