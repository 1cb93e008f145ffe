package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// undoLimit is how long the end of a worker may take after a failed Spawn.
const undoLimit = 10 * time.Second

// carryLimit is how long a Spawn may take after its caller is gone, see [Plugin.Carries].
const carryLimit = time.Minute

type backendServer struct {
	pb.UnimplementedBackendServer
	s *Server
}

func (b backendServer) Spawn(ctx context.Context, req *pb.SpawnRequest) (*pb.SpawnResponse, error) {
	return call(ctx, b.s, "Spawn", func(ctx context.Context, backend swarm.Backend) (*pb.SpawnResponse, error) {
		spec := wire.FromSpec(req)
		switch {
		case len(spec.Command) == 0:
			return nil, fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
		case !b.s.plugin.Local:
			spec.Local, spec.Owner = nil, nil
		case spec.Local == nil:
			return nil, fmt.Errorf("%w: plugin '%s' is local and was given no run directory", swarm.ErrInvalidSpec, b.s.plugin.Name)
		}
		if err := b.supports(backend, spec); err != nil {
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
		if spec.Local != nil {
			release, err := holdSpawn(spec)
			if err != nil {
				return nil, err
			}
			defer release()
		}
		h, err := backend.Spawn(ctx, spec)
		if err != nil {
			return nil, err
		}
		// The host never learns of a worker whose handle can't be returned.
		err = checkHandle(h)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, undo(ctx, backend, h, err)
		}
		return &pb.SpawnResponse{Handle: wire.Handle(h)}, nil
	})
}

// A plugin notices only after a while that its host was killed. The next host must not find,
// and adopt, a worker that the plugin is about to undo. So a Spawn holds the lock of the
// directory spawning in the run directory until it has ended, its undoing included. A Find
// makes the directory sought before it waits for that lock, and a Spawn that comes later
// starts nothing.
const (
	spawning = "spawning"
	sought   = "sought"
)

func holdSpawn(spec swarm.Spec) (release func(), err error) {
	dir := filepath.Join(spec.Local.RunDir, spawning)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	lock, err := safefile.LockDir(dir, safefile.Exclusive|safefile.NoWait)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: worker %s is being started", swarm.ErrExists, spec.ID)
	}
	if err != nil {
		return nil, err
	}
	release = func() {
		_ = os.Remove(dir)
		_ = lock.Close()
	}
	if _, err := os.Lstat(filepath.Join(spec.Local.RunDir, sought)); !errors.Is(err, fs.ErrNotExist) {
		release()
		return nil, fmt.Errorf("%w: the start of worker %s was given up", swarm.ErrExists, spec.ID)
	}
	return release, nil
}

// awaitSpawn returns when no Spawn of the worker is in progress, nor can begin.
func awaitSpawn(ctx context.Context, l *swarm.Local) error {
	err := os.Mkdir(filepath.Join(l.RunDir, sought), 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = safefile.AwaitDir(ctx, filepath.Join(l.RunDir, spawning))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// supports refuses fields of a spec that the backend would ignore, except the owner, which
// the host then watches itself.
func (b backendServer) supports(backend swarm.Backend, spec swarm.Spec) error {
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

// undo ends a worker that could not be handed over because of cause.
func undo(ctx context.Context, backend swarm.Backend, h swarm.Handle, cause error) error {
	if h.IsZero() {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	r, err := backend.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	if err == nil && r.Status.State != swarm.StateExited && r.Status.State != swarm.StateLost {
		err = errors.New("its end was not confirmed")
	}
	if err != nil {
		return fmt.Errorf("%w; the worker could not be ended: %w", cause, err)
	}
	return cause
}

func (b backendServer) Find(ctx context.Context, req *pb.FindRequest) (*pb.FindResponse, error) {
	return call(ctx, b.s, "Find", func(ctx context.Context, finder swarm.Finder) (*pb.FindResponse, error) {
		l := wire.FromLookup(req)
		if !b.s.plugin.Local {
			l.Local = nil
		}
		if l.Local != nil {
			if err := awaitSpawn(ctx, l.Local); err != nil {
				return nil, err
			}
		}
		h, err := finder.Find(ctx, l)
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
