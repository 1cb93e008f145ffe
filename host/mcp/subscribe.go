package mcp

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// subscriptions are the resources that the client has subscribed to. One goroutine follows
// each, however often it was subscribed to.
type subscriptions struct {
	// follow begins to follow a resource; the function that it returns ends that,
	// and does not wait for it.
	follow func(uri string) (stop func())

	mu   sync.Mutex
	open map[string]*subscription
}

type subscription struct {
	count int
	stop  func()
}

func (s *subscriptions) add(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.open[uri]; known != nil {
		known.count++
		return
	}
	s.open[uri] = &subscription{count: 1, stop: s.follow(uri)}
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.open[uri]
	if known == nil {
		return
	}
	if known.count--; known.count == 0 {
		known.stop()
		delete(s.open, uri)
	}
}

func (s *server) subscribe(ctx context.Context, r *sdk.SubscribeRequest) error {
	h, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if isInbox(r.Params.URI) {
		err = s.subscribeInbox(ctx, h, r.Params.URI)
	} else {
		_, err = s.worker(ctx, h, r.Params.URI)
	}
	if err != nil {
		return forClient(err, r.Params.URI)
	}
	s.subs.add(r.Params.URI)
	return nil
}

func (s *server) unsubscribe(_ context.Context, r *sdk.UnsubscribeRequest) error {
	s.subs.remove(r.Params.URI)
	return nil
}
