package container

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/dirid"
	"github.com/swarmhost/swarm/shared/swarm"
)

// registryLimit is how long a registry may take to say whether it has an image.
const registryLimit = 10 * time.Second

// CheckSpawn implements [swarm.SpawnChecker]. It fetches no image, but asks the registry for one
// that would be fetched.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	p, err := b.newPlan(c.Spec, dirid.Read)
	if err != nil {
		return err
	}
	e, err := b.at(b.socket)
	if err != nil {
		return err
	}
	if err := e.checkNetwork(ctx, p.Network); err != nil {
		return err
	}
	_, err = e.ImageInspect(ctx, p.Image)
	switch {
	case err == nil && p.Pull != pullAlways:
		return nil
	case err == nil:
		return e.checkRegistry(ctx, p)
	case isBadName(err):
		return p.badName()
	case !errdefs.IsNotFound(err):
		return e.explain(ctx, "look for the image", err)
	case p.Pull == pullNever:
		return p.notHere(err)
	}
	return e.checkRegistry(ctx, p)
}

// checkNetwork refuses a network that the engine does not have. Others than those that a person made
// are known by their names.
func (e *engine) checkNetwork(ctx context.Context, name string) error {
	builtIn := []string{"", "none", "host", "bridge", "default", "private", "slirp4netns", "pasta"}
	if slices.Contains(builtIn, name) || strings.Contains(name, ":") {
		return nil
	}
	_, err := e.NetworkInspect(ctx, name, client.NetworkInspectOptions{})
	if errdefs.IsNotFound(err) {
		return fmt.Errorf("%w: the engine has no network '%s': make it, or choose another one with --option network=NETWORK", swarm.ErrInvalidSpec, name)
	}
	return e.explain(ctx, "look for the network", err)
}

// checkRegistry refuses an image that its registry does not have, or does not give away. Podman can't
// be asked, and a registry that does not answer may do so later.
func (e *engine) checkRegistry(ctx context.Context, p *plan) error {
	podman, _, err := e.version(ctx)
	if podman || err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, registryLimit)
	defer cancel()
	_, err = e.DistributionInspect(limited, p.Image, client.DistributionInspectOptions{})
	if err == nil || limited.Err() != nil {
		return ctx.Err()
	}
	if isBadName(err) {
		return p.badName()
	}
	for _, decided := range []string{"manifest unknown", "not found", "denied", "unauthorized"} {
		if strings.Contains(strings.ToLower(plain(err)), decided) {
			return noImage(p.Image, err)
		}
	}
	return nil
}
