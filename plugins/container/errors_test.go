package container

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestNoAnswer checks that an engine that is too slow makes no request invalid.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	e := &engine{socket: "/run/engine.sock"}
	slow := &url.Error{Op: "Post", URL: "http://engine/start", Err: context.DeadlineExceeded}
	got := e.explain(t.Context(), "start the worker", slow)
	const want = "start the worker: the engine did not answer within 1m0s"
	if !isConnection(got) || !errors.Is(got, swarm.ErrUnavailable) || got.Error() != fmt.Sprint(swarm.ErrUnavailable, ": ", want) {
		t.Errorf("%v", got)
	}
	// The limit of the caller is its own.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := e.explain(ctx, "start the worker", slow); isConnection(got) || !errors.Is(got, context.Canceled) {
		t.Errorf("after its caller has given up: %v", got)
	}
}
