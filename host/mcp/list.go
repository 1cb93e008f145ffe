package mcp

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/shell"
)

// list is which workers the SDK's server lists as resources.
type list struct {
	mu sync.Mutex
	// listed are the workers' descriptions by their URI.
	listed map[string]string
}

// listNow brings a list up to date before the client gets it. A worker that can't be read
// does not change the list of workers.
func (s *server) listNow(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if method == "tools/list" {
			s.askPlugins(ctx)
			s.offerAgain(ctx)
		}
		if method == "resources/list" && !s.Outside {
			h, err := s.Open(ctx)
			if err != nil {
				return nil, err
			}
			if err := errors.Join(s.update(ctx, h), h.Close()); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, r)
	}
}

// watchList keeps the list of workers and that of tools up to date, and the SDK notifies the
// client of changes. It calls begin once the list of workers exists.
func (s *server) watchList(ctx context.Context, begin func()) {
	h, err := s.Open(ctx)
	if err != nil {
		begin()
		s.Logger.Warn("changes of the list are not reported", "error", err)
		return
	}
	defer func() { _ = h.Close() }()
	begun := sync.OnceFunc(begin)
	defer begun()
	err = h.Store().AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		if err := s.update(ctx, h); err != nil {
			s.Logger.Debug("the list can't be read", "error", err)
		}
		s.followTeams(ctx, h)
		begun()
		return false, nil
	})
	if ctx.Err() == nil {
		s.Logger.Warn("changes of the list are not reported", "error", err)
	}
}

// update brings the list up to date with the registry. It asks no backend.
func (s *server) update(ctx context.Context, h *host.Host) error {
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	now := make(map[string]*sdk.Resource)
	err := h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		recs, _, err := tx.Read(ctx, registry.Query{})
		for _, r := range recs {
			if s.mine(r.Shell) && !shell.IsForeground(r) {
				w := resource(r)
				now[w.URI] = w
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var gone []string
	for uri := range s.list.listed {
		if now[uri] == nil {
			gone = append(gone, uri)
			delete(s.list.listed, uri)
		}
	}
	if gone != nil {
		s.sdk.RemoveResources(gone...)
	}
	for uri, w := range now {
		if known, ok := s.list.listed[uri]; ok && known == w.Description {
			continue
		}
		s.list.listed[uri] = w.Description
		s.sdk.AddResource(w, s.read)
	}
	return nil
}
