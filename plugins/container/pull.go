package container

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

type download struct {
	image  string
	layers map[string]layer
}

type layer struct{ have, size int64 }

func (d *download) take(m jsonstream.Message) {
	switch m.Status {
	case "Pulling fs layer", "Waiting":
		if _, known := d.layers[m.ID]; !known {
			d.layers[m.ID] = layer{}
		}
	case "Downloading":
		if m.Progress != nil {
			l := d.layers[m.ID]
			d.layers[m.ID] = layer{have: max(l.have, m.Progress.Current), size: max(l.size, m.Progress.Total)}
		}
	case "Download complete", "Pull complete":
		if l, known := d.layers[m.ID]; known {
			d.layers[m.ID] = layer{have: l.size, size: l.size}
		}
	}
}

// String says it to the user. The size of a layer is known once its download has begun.
func (d *download) String() string {
	text := fmt.Sprintf("fetching the image '%s'", d.image)
	var have, size int64
	whole := true
	for _, l := range d.layers {
		have, size = have+l.have, size+l.size
		whole = whole && l.size > 0
	}
	switch {
	case have == 0:
		return text
	case !whole:
		return fmt.Sprintf("%s: %s", text, humane.Bytes(have))
	case have >= size:
		return fmt.Sprintf("unpacking the image '%s', %s", d.image, humane.Bytes(size))
	default:
		return fmt.Sprintf("%s: %s of %s", text, humane.Bytes(have), humane.Bytes(size))
	}
}

func (b *Backend) pull(ctx context.Context, e *engine, p *plan) error {
	image, id := p.Image, p.spec.ID
	b.log.Info("fetching the image", "image", image)
	d := &download{image: image, layers: make(map[string]layer)}
	b.SpawnWaits(id, d.String())
	defer b.SpawnWaits(id, "")
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
		b.SpawnWaits(id, d.String())
	}
	return ctx.Err()
}

// notPulled is the error of a pull that the engine refused, or whose account ended early.
func (e *engine) notPulled(ctx context.Context, image string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := e.explain(ctx, "fetch", err); isConnection(err) {
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
