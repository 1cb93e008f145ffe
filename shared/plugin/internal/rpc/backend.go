package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// carryLimit is how long a Spawn may take after its caller is gone, see [Plugin.Carries].
const carryLimit = time.Minute

type backendServer struct {
	pb.UnimplementedBackendServer
	s *Server
}

func (b backendServer) Spawn(ctx context.Context, req *pb.SpawnRequest) (*pb.SpawnResponse, error) {
	return call(ctx, b.s, "Spawn", func(ctx context.Context, backend swarm.Backend) (*pb.SpawnResponse, error) {
		spec := wire.FromSpec(req)
		if err := b.accept(backend, &spec); err != nil {
			return nil, err
		}
		if b.s.plugin.Carries {
			if err := ctx.Err(); err != nil {
				return nil, err // the caller may already have asked Find for the worker
			}
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), carryLimit)
			defer cancel()
			ctx = bounded
		}
		spawn := handOver
		if spec.Local != nil {
			spawn = spawnLocal
		}
		ctx, warned := collect(ctx)
		h, err := spawn(ctx, backend, spec)
		if err != nil {
			return nil, err
		}
		return &pb.SpawnResponse{Handle: wire.Handle(h), Warnings: wire.Texts(warned.take())}, nil
	})
}

func (b backendServer) CheckSpawn(ctx context.Context, req *pb.CheckSpawnRequest) (*pb.CheckSpawnResponse, error) {
	return call(ctx, b.s, "CheckSpawn", func(ctx context.Context, backend swarm.SpawnChecker) (*pb.CheckSpawnResponse, error) {
		c := wire.FromSpawnCheck(req)
		if err := b.accept(backend, &c.Spec); err != nil {
			return nil, err
		}
		return &pb.CheckSpawnResponse{}, backend.CheckSpawn(ctx, c)
	})
}

// accept refuses a spec that the backend is not asked about, and takes from it what the backend
// does not get.
func (b backendServer) accept(backend any, spec *swarm.Spec) error {
	switch {
	case len(spec.Command) == 0:
		return fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
	case !b.s.plugin.Local:
		spec.Local, spec.Owner = nil, nil
	case spec.Local == nil:
		return fmt.Errorf("%w: plugin '%s' is local and was given no run directory", swarm.ErrInvalidSpec, b.s.plugin.Name)
	}
	// The backend would ignore these fields. An owner it may ignore: the host then watches that.
	caps := swarm.CapabilitiesOf(backend)
	lacks := func(c swarm.Capability) bool { return !slices.Contains(caps, c) }
	switch {
	case spec.Stdin && lacks(swarm.CapStdin):
		return fmt.Errorf("%w: %s", swarm.ErrUnsupported, swarm.CapStdin)
	case spec.Restart.When != swarm.RestartNo && lacks(swarm.CapRestart):
		return fmt.Errorf("%w: %s", swarm.ErrUnsupported, swarm.CapRestart)
	case spec.Transcript && (spec.Local == nil || lacks(swarm.CapTranscript)):
		return fmt.Errorf("%w: %s", swarm.ErrUnsupported, swarm.CapTranscript)
	case spec.Sandbox != nil && lacks(swarm.CapSandbox):
		return fmt.Errorf("%w: %s", swarm.ErrUnsupported, swarm.CapSandbox)
	}
	if err := spec.Sandbox.Check(); err != nil {
		return err
	}
	return checkLimits(backend, spec.Limits)
}

func (b backendServer) Find(ctx context.Context, req *pb.FindRequest) (*pb.FindResponse, error) {
	return call(ctx, b.s, "Find", func(ctx context.Context, finder finderBackend) (*pb.FindResponse, error) {
		l := wire.FromLookup(req)
		find := finder.Find
		if !b.s.plugin.Local {
			l.Local = nil
		}
		if l.Local != nil {
			find = findLocal(finder)
		}
		h, err := find(ctx, l)
		if err == nil {
			err = checkHandle(h)
		}
		return &pb.FindResponse{Handle: wire.Handle(h)}, err
	})
}

func (b backendServer) Sweep(stream grpc.ClientStreamingServer[pb.SweepRequest, pb.SweepResponse]) error {
	resp, err := call(stream.Context(), b.s, "Sweep", func(ctx context.Context, sweeper swarm.Sweeper) (*pb.SweepResponse, error) {
		var ended, running []swarm.Handle
		for {
			req, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, wire.FromStatus(ctx, err)
			}
			if err := checkBatch(len(req.GetEnded()) + len(req.GetRunning())); err != nil {
				return nil, err
			}
			ended = append(ended, wire.FromHandles(req.GetEnded())...)
			running = append(running, wire.FromHandles(req.GetRunning())...)
		}
		warnings, err := sweeper.Sweep(ctx, ended, running)
		return wire.SweepResponse(warnings), err
	})
	if err != nil {
		return err
	}
	return stream.SendAndClose(resp)
}

func (b backendServer) List(_ *pb.ListRequest, stream grpc.ServerStreamingServer[pb.ListResponse]) error {
	return run(stream.Context(), b.s, "List", func(ctx context.Context, lister swarm.Lister) error {
		return lister.List(ctx, func(l swarm.Listed) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkHandle(l.Handle); err != nil {
				return err
			}
			return stream.Send(wire.Listed(l))
		})
	})
}

func (b backendServer) Progress(req *pb.ProgressRequest, stream grpc.ServerStreamingServer[pb.ProgressResponse]) error {
	return run(stream.Context(), b.s, "Progress", func(ctx context.Context, p swarm.Progresser) error {
		return p.Progress(ctx, req.GetId(), func(text string) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return stream.Send(wire.ProgressResponse(text))
		})
	})
}
