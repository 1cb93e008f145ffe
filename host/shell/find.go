package shell

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// prefix begins the id of every shell.
const prefix = "bg-"

// find returns the worker that a shell of the session is, as it is now.
func find(ctx context.Context, h *host.Host, s Session, id string) (worker.Worker, error) {
	missing := &NotFoundError{ID: id}
	if !strings.HasPrefix(id, prefix) {
		return worker.Worker{}, missing
	}
	in, err := s.scope(ctx, h)
	if err != nil {
		return worker.Worker{}, err
	}
	ws, _, err := h.Workers(ctx, worker.Selection{Names: []string{id}})
	if errors.Is(err, store.ErrNotFound) {
		return worker.Worker{}, missing
	}
	if err != nil {
		return worker.Worker{}, err
	}
	w := ws[0]
	if w.Name != id || w.Shell == nil || w.Shell.Foreground || !in.has(w.Shell.Session) || w.Gone() && expired(w.Ended, time.Now()) {
		return worker.Worker{}, missing
	}
	return w, nil
}

// List returns the shells of a session, the oldest first: those that run, or all.
func List(ctx context.Context, h *host.Host, s Session, all bool) ([]Shell, error) {
	in, err := s.scope(ctx, h)
	if err != nil {
		return nil, err
	}
	for {
		ids, err := recorded(ctx, h, in, all)
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		ws, _, err := h.Workers(ctx, worker.Selection{Names: ids})
		if errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
			continue // one of them was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		var shells []Shell
		for _, w := range ws {
			if sh := shellOf(h, w); sh.Status == Running || all && !expired(w.Ended, time.Now()) {
				shells = append(shells, sh)
			}
		}
		return shells, nil
	}
}

// recorded returns the ids of the workers that may have to be listed. Only these
// are asked about, so that no other backend is started for it.
func recorded(ctx context.Context, h *host.Host, in scope, all bool) (ids []string, err error) {
	err = h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		ids = nil
		recs, _, err := tx.Read(ctx, registry.Query{Shells: true})
		for _, r := range recs {
			if !r.Shell.Foreground && in.has(r.Shell.Session) && (all || r.State != registry.Stopped) && !expired(ended(&r), time.Now()) {
				ids = append(ids, r.ID)
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // there never was a worker
	}
	return ids, err
}
