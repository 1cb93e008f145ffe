package mcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

const (
	// updateEvery is the shortest time between two notices about one resource.
	updateEvery = time.Second
	// followAgain is the pause before the next attempt to follow the output.
	followAgain = 5 * time.Second
)

// follow notifies the client of each change of a worker or an inbox until ctx ends.
func (s *server) follow(ctx context.Context, uri string) {
	stirred := make(chan struct{}, 1)
	var updates sync.WaitGroup
	defer updates.Wait()
	updates.Go(func() {
		defer s.caught("notices about "+uri, nil)
		s.sendUpdates(ctx, uri, stirred)
	})
	f := follower{server: s, uri: uri, stir: func() { wake.Up(stirred) }}
	run := f.run
	if isInbox(uri) {
		run = func(ctx context.Context) error { return s.followInbox(ctx, uri, f.stir) }
	}
	for ctx.Err() == nil {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			s.Logger.Warn("a resource can't be followed", "resource", uri, "error", err)
			_ = sleep.For(ctx, followAgain)
		}
	}
}

// sendUpdates sends a notice for a change, at most one every updateEvery.
func (s *server) sendUpdates(ctx context.Context, uri string, stirred <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-stirred:
		}
		// An error means that the client is gone.
		_ = s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		_ = sleep.For(ctx, updateEvery)
	}
}

type follower struct {
	*server
	uri  string
	stir func()
	// seen is the last known state of the worker, nil before the first.
	seen *snapshot
	// read is the id of the incarnation whose output was followed to its end.
	read string
}

type snapshot struct {
	id     string
	status worker.Status
}

func (f *follower) name() string { return strings.TrimPrefix(f.uri, uriPrefix) }

// run follows the worker until ctx ends or something fails.
func (f *follower) run(ctx context.Context) error {
	h, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	for {
		// It is read before the status, so that no change is missed in between.
		recorded, err := f.recorded(ctx, h)
		if err != nil {
			return err
		}
		now, err := f.look(ctx, h)
		if err != nil {
			return err
		}
		if now.status == worker.StatusRunning && now.id != f.read {
			if err := f.readOn(ctx, h, now.id); err != nil {
				return err
			}
			continue
		}
		err = h.Store().AwaitChange(ctx, func(ctx context.Context) (bool, error) {
			at, err := f.recorded(ctx, h)
			return at != recorded, err
		})
		if err != nil {
			return err
		}
	}
}

// look reads the state of the worker, and sends a notice if it has changed.
func (f *follower) look(ctx context.Context, h *host.Host) (snapshot, error) {
	w, err := f.worker(ctx, h, f.uri)
	if err != nil && !errors.Is(err, errNoWorker) {
		return snapshot{}, err
	}
	now := snapshot{w.ID, w.Status}
	if f.seen != nil && *f.seen != now {
		f.stir()
	}
	f.seen = &now
	return now, nil
}

// readOn follows the output of one incarnation to its end.
func (f *follower) readOn(ctx context.Context, h *host.Host, id string) error {
	err := h.Display().Logs(ctx, id, swarm.OutputOptions{Since: time.Now(), Follow: true}, func(swarm.Output) error {
		f.stir()
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil, errors.Is(err, swarm.ErrUnsupported), errors.Is(err, store.ErrNotFound):
		f.read = id
		return nil
	default:
		return err
	}
}

func (f *follower) recorded(ctx context.Context, h *host.Host) (at snapshot, err error) {
	err = h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		recs, _, err := tx.Read(ctx, registry.Query{Names: []string{f.name()}})
		if len(recs) > 0 {
			at = snapshot{recs[0].ID, worker.Status(recs[0].State)}
		}
		return err
	})
	return at, err
}
