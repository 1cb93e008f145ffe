package container

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) pull(ctx context.Context, e *engine, p *plan) error {
	image, id := p.Image, p.spec.ID
	b.log.Info("fetching the image", "image", image)
	d := &download{image: image, layers: make(map[string]layer)}
	b.progress.tell(id, d.String())
	defer b.progress.tell(id, "")
	got, err := e.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return e.notPulled(ctx, image, err)
	}
	defer func() { _ = got.Close() }()
	for m, err := range got.JSONMessages(ctx) {
		if err != nil {
			return e.notPulled(ctx, image, err)
		}
		if m.Error != nil {
			return noImage(image, m.Error)
		}
		d.take(m)
		b.progress.tell(id, d.String())
	}
	return ctx.Err()
}

// notPulled is the error of a pull that the engine refused, or whose account ended early.
func (e *engine) notPulled(ctx context.Context, image string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := e.tell(ctx, "fetch", err); isConnection(err) {
		return err
	}
	return noImage(image, err)
}

// noImage is the error of a pull that failed between the engine and a registry.
func noImage(image string, err error) error {
	text := plain(err)
	switch has := func(part string) bool { return strings.Contains(strings.ToLower(text), part) }; {
	case has("denied"), has("unauthorized"):
		return fmt.Errorf("%w: no right to fetch the image '%s', if there is one: log in to its registry and fetch it with the engine's own command, such as 'docker pull'",
			swarm.ErrInvalidSpec, image)
	case has("unknown"), has("not found"):
		return fmt.Errorf("%w: there is no image '%s' in its registry: is its name right, and its tag?", swarm.ErrInvalidSpec, image)
	case has("eof"), has("connection reset"), has("broken pipe"):
		return fmt.Errorf("%w: can't fetch the image '%s': its registry cut off the connection: try again", swarm.ErrInvalidSpec, image)
	default:
		return fmt.Errorf("%w: can't fetch the image '%s': %s", swarm.ErrInvalidSpec, image, text)
	}
}
