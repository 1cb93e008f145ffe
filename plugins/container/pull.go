package container

import (
	"context"
	"fmt"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// progressEvery is how often the progress of a pull is logged.
const progressEvery = 2 * time.Second

// pull fetches an image and logs how far it has come.
func (b *Backend) pull(ctx context.Context, e *engine, image string) error {
	b.log.Info("fetching the image", "image", image)
	got, err := e.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return e.noImage(ctx, image, err)
	}
	defer func() { _ = got.Close() }()
	layers := make(map[string]int64)
	var logged time.Time
	for m, err := range got.JSONMessages(ctx) {
		if err == nil && m.Error != nil {
			err = m.Error
		}
		if err != nil {
			return e.noImage(ctx, image, err)
		}
		if m.Progress == nil {
			continue
		}
		layers[m.ID] = max(layers[m.ID], m.Progress.Current)
		if time.Since(logged) < progressEvery {
			continue
		}
		logged = time.Now()
		var sum int64
		for _, n := range layers {
			sum += n
		}
		b.log.Info("fetching the image", "image", image, "bytes", humane.Bytes(sum))
	}
	return ctx.Err()
}

func (e *engine) noImage(ctx context.Context, image string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := e.tell(ctx, "fetch", err); isConnection(err) {
		return err
	}
	return fmt.Errorf("%w: can't fetch the image '%s': %s", swarm.ErrInvalidSpec, image, plain(err))
}
