package client

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"

	"github.com/swarmhost/swarm/shared/swarm"
)

// slow is a backend whose Status waits for the end of its context.
type slow struct {
	swarm.Backend
	asked chan struct{}
	ended chan error
}

func (s slow) Status(ctx context.Context, _ swarm.Handle) (swarm.Status, error) {
	close(s.asked)
	<-ctx.Done()
	s.ended <- ctx.Err()
	return swarm.Status{}, ctx.Err()
}

// slowBackend is a backend whose Spawn takes its time.
type slowBackend struct {
	swarm.Backend
	asked, proceed chan struct{}
	ended          chan error
}

func (s slowBackend) Spawn(ctx context.Context, _ swarm.Spec) (swarm.Handle, error) {
	close(s.asked)
	<-s.proceed
	s.ended <- ctx.Err()
	return swarm.Handle{Version: 1, Data: []byte("x")}, ctx.Err()
}

func (s slowBackend) Kill(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
	s.ended <- errors.New("the worker was ended")
	return swarm.KillResult{}, nil
}

// TestStreamBreaksInSpawn cuts a connection in the middle of a spawn, which is carried
// through all the same.
func TestStreamBreaksInSpawn(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	b := slowBackend{asked: make(chan struct{}), proceed: make(chan struct{}), ended: make(chan error, 2)}
	served := make(chan error, 1)
	o := plugin.Options{Name: "test", Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return b, nil }}
	o.Local = false
	go func() { served <- plugin.ServeConn(o, far, slog.New(slog.DiscardHandler)) }()
	c, end, err := ConnectConn(t.Context(), near)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-b.asked
		end()
	}()
	if _, err := c.Backend().Spawn(t.Context(), swarm.Spec{ID: "id-1", Name: "w", Command: []string{"true"}}); !errors.Is(err, ErrPluginGone) {
		t.Errorf("Spawn: %v", err)
	}
	close(b.proceed)
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := <-b.ended; err != nil || len(b.ended) > 0 {
		t.Errorf("the spawn ended with %v, and %d calls more", err, len(b.ended))
	}
}

// TestStreamBreaks cuts a connection in the middle of a call: the call ends with that error
// on both sides, and the server returns.
func TestStreamBreaks(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(near, far net.Conn, end func()){
		"by the host": func(_, _ net.Conn, end func()) { end() },
		"elsewhere":   func(near, _ net.Conn, _ func()) { _ = near.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := net.Pipe()
			b := slow{asked: make(chan struct{}), ended: make(chan error, 1)}
			served := make(chan error, 1)
			go func() {
				served <- plugin.ServeConn(plugin.Options{Name: "test", Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return b, nil }}, far, slog.New(slog.DiscardHandler))
			}()
			c, end, err := ConnectConn(t.Context(), near)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			go func() {
				<-b.asked
				cut(near, far, end)
			}()
			if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("x")}); !errors.Is(err, ErrPluginGone) {
				t.Errorf("Status: %v", err)
			}
			limit := time.NewTimer(20 * time.Second)
			defer limit.Stop()
			for range 2 {
				select {
				case err := <-b.ended:
					if !errors.Is(err, context.Canceled) {
						t.Errorf("the call ended with %v", err)
					}
				case err := <-served:
					if err != nil {
						t.Error(err)
					}
				case <-limit.C:
					t.Fatal("the server continues")
				}
			}
		})
	}
}
