package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// verbose is a plugin that describes itself at length.
type verbose struct {
	pb.UnimplementedPluginServer
	size int
}

func (v verbose) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	return &pb.DescribeResponse{
		Kind: pb.Kind_KIND_BACKEND, ContractVersion: swarm.ContractVersion, Name: "v", Version: strings.Repeat("x", v.size),
	}, nil
}

// A description that no plugin needs is refused, one that is too long to be shown is
// cut.
func TestDescriptionIsBounded(t *testing.T) {
	t.Parallel()
	describe := func(size int) (*Client, error) {
		return Connect(t.Context(), serveInside(t, func(g *grpc.Server) { pb.RegisterPluginServer(g, verbose{size: size}) }))
	}
	const want = "a message between swarm and the plugin is larger than allowed"
	if _, err := describe(2 << 20); err == nil || err.Error() != want {
		t.Errorf("Connect = %v, want %s", err, want)
	}
	c, err := describe(100 << 10)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Info().Version); n > 5<<10 {
		t.Errorf("a version of %d bytes", n)
	}
}

// A connection that takes everything is bounded by the client.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	b := backendOf(t, stub{status: func(context.Context, swarm.Handle) (swarm.Status, error) {
		return swarm.Status{State: swarm.StateRunning, Reason: strings.Repeat("x", MaxAnswer)}, nil
	}})
	if _, err := b.Status(t.Context(), swarm.Handle{Version: 1}); err == nil {
		t.Error("Status of 16 MiB is taken")
	}
	b = backendOf(t, stub{status: func(context.Context, swarm.Handle) (swarm.Status, error) {
		s := swarm.Status{State: swarm.StateRunning, Reason: strings.Repeat("x", 1<<20), Where: swarm.Where{Kind: strings.Repeat("k", 1<<20)}}
		s.Survivors = make([]swarm.Process, 50000)
		return s, nil
	}})
	s, err := b.Status(t.Context(), swarm.Handle{Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Reason) > 5<<10 || len(s.Where.Kind) > 5<<10 || len(s.Survivors) > 10000 {
		t.Errorf("a reason of %d bytes, a place of %d, %d survivors", len(s.Reason), len(s.Where.Kind), len(s.Survivors))
	}
	b = backendOf(t, stub{status: func(context.Context, swarm.Handle) (swarm.Status, error) {
		return swarm.Status{}, errors.New(strings.Repeat("x", 3<<20))
	}})
	if _, err := b.Status(t.Context(), swarm.Handle{Version: 1}); err == nil || len(err.Error()) > 1<<20+10 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// endless is a backend that lists workers until the caller wants no more.
type endless struct{ stub }

func (endless) List(ctx context.Context, each func(swarm.Listed) error) error {
	for ctx.Err() == nil {
		if err := each(swarm.Listed{Spec: swarm.Spec{ID: "i", Name: "n"}, Handle: swarm.Handle{Version: 1, Data: []byte("x")}}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func TestListIsBounded(t *testing.T) {
	t.Parallel()
	b := backendOf(t, endless{})
	n := 0
	err := b.List(t.Context(), func(swarm.Listed) error { n++; return nil })
	if want := "plugin 'test' lists more workers than swarm accepts (64 MiB)"; err == nil || err.Error() != want {
		t.Errorf("List = %v after %d workers, want %s", err, n, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	err = b.List(ctx, func(swarm.Listed) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("List = %v, and called %d times", err, n)
	}
}
