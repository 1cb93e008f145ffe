package rpc

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b backendServer) Input(ctx context.Context, req *pb.InputRequest) (*pb.InputResponse, error) {
	return call(ctx, b.s, "Input", func(ctx context.Context, inputter swarm.Inputter) (*pb.InputResponse, error) {
		h, in, err := wire.FromInputRequest(req)
		if err != nil {
			return nil, err
		}
		r, err := inputter.Input(ctx, h, in)
		return &pb.InputResponse{Pending: r.Pending}, err
	})
}

func (b backendServer) Signal(ctx context.Context, req *pb.SignalRequest) (*pb.SignalResponse, error) {
	return call(ctx, b.s, "Signal", func(ctx context.Context, signaller swarm.Signaller) (*pb.SignalResponse, error) {
		h, o := wire.FromSignalRequest(req)
		return &pb.SignalResponse{}, signaller.Signal(ctx, h, o)
	})
}

func (b backendServer) Screen(ctx context.Context, req *pb.ScreenRequest) (*pb.ScreenResponse, error) {
	return call(ctx, b.s, "Screen", func(ctx context.Context, screener swarm.Screener) (*pb.ScreenResponse, error) {
		s, err := screener.Screen(ctx, wire.FromHandle(req.GetHandle()), swarm.ScreenOptions{Lines: int(max(req.GetLines(), 0)), Styles: req.GetStyles()})
		return wire.Screen(s), err
	})
}

func (b backendServer) Screens(ctx context.Context, req *pb.ScreensRequest) (*pb.ScreensResponse, error) {
	return call(ctx, b.s, "Screens", func(ctx context.Context, screener swarm.BatchScreener) (*pb.ScreensResponse, error) {
		hs := wire.FromHandles(req.GetHandles())
		if len(hs) > swarm.MaxScreens {
			return nil, fmt.Errorf("%w: %d handles in one call; the most is %d", swarm.ErrInvalidSpec, len(hs), swarm.MaxScreens)
		}
		results, err := screener.ScreenBatch(ctx, hs, swarm.ScreenOptions{Lines: int(max(req.GetLines(), 0)), Styles: req.GetStyles()})
		return &pb.ScreensResponse{Results: wire.Convert(results, wire.ScreenResult)}, checkResults(b.s, hs, results, err)
	})
}

func (b backendServer) Stats(ctx context.Context, req *pb.StatsRequest) (*pb.StatsResponse, error) {
	return call(ctx, b.s, "Stats", func(ctx context.Context, measurer swarm.Measurer) (*pb.StatsResponse, error) {
		hs := wire.FromHandles(req.GetHandles())
		if err := checkBatch(len(hs)); err != nil {
			return nil, err
		}
		measure := measurer.Stats
		if brief, ok := measurer.(swarm.CPUMeasurer); ok && req.GetCpuTimeOnly() {
			measure = brief.CPUTimes
		}
		results, err := measure(ctx, hs)
		return &pb.StatsResponse{Results: wire.Convert(results, wire.StatsResult)}, checkResults(b.s, hs, results, err)
	})
}

func (b backendServer) SetLimits(ctx context.Context, req *pb.SetLimitsRequest) (*pb.SetLimitsResponse, error) {
	return call(ctx, b.s, "SetLimits", func(ctx context.Context, limiter swarm.Limiter) (*pb.SetLimitsResponse, error) {
		l := wire.FromLimits(req.GetLimits())
		if err := checkLimits(limiter, l); err != nil {
			return nil, err
		}
		return &pb.SetLimitsResponse{}, limiter.SetLimits(ctx, wire.FromHandle(req.GetHandle()), l)
	})
}

func (b backendServer) SetPaused(ctx context.Context, req *pb.SetPausedRequest) (*pb.SetPausedResponse, error) {
	return call(ctx, b.s, "SetPaused", func(ctx context.Context, pauser swarm.Pauser) (*pb.SetPausedResponse, error) {
		return &pb.SetPausedResponse{}, pauser.SetPaused(ctx, wire.FromHandle(req.GetHandle()), req.GetPaused())
	})
}

func (b backendServer) Resize(ctx context.Context, req *pb.ResizeRequest) (*pb.ResizeResponse, error) {
	return call(ctx, b.s, "Resize", func(ctx context.Context, resizer swarm.Resizer) (*pb.ResizeResponse, error) {
		columns, rows := int(req.GetColumns()), int(req.GetRows())
		if err := swarm.CheckSize(columns, rows); err != nil {
			return nil, err
		}
		return &pb.ResizeResponse{}, resizer.Resize(ctx, wire.FromHandle(req.GetHandle()), columns, rows)
	})
}

// checkLimits refuses limits that make no sense, and those that the backend would ignore.
func checkLimits(backend any, l swarm.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	caps := swarm.CapabilitiesOf(backend)
	for _, c := range l.Needs() {
		if !slices.Contains(caps, c) {
			return fmt.Errorf("%w: %s", swarm.ErrUnsupported, c)
		}
	}
	return nil
}

func (b backendServer) Attach(ctx context.Context, req *pb.AttachRequest) (*pb.AttachResponse, error) {
	return call(ctx, b.s, "Attach", func(ctx context.Context, attacher swarm.Attacher) (*pb.AttachResponse, error) {
		h, o := wire.FromAttachRequest(req)
		if !b.s.plugin.Local {
			o.Env = nil
		}
		a, err := attacher.Attach(ctx, h, o)
		if err == nil && len(a.Command) == 0 {
			err = fmt.Errorf("plugin '%s' returned no command to attach with", b.s.plugin.Name)
		}
		return wire.Attachment(a), err
	})
}

func (b backendServer) Complete(ctx context.Context, req *pb.CompleteRequest) (*pb.CompleteResponse, error) {
	return call(ctx, b.s, "Complete", func(ctx context.Context, completer swarm.Completer) (*pb.CompleteResponse, error) {
		h, summary, o := wire.FromCompleteRequest(req)
		return &pb.CompleteResponse{}, completer.Complete(ctx, h, summary, o)
	})
}

func (b backendServer) Watch(req *pb.WatchRequest, stream grpc.ServerStreamingServer[pb.WatchResponse]) error {
	hs := req.GetHandles()
	w := watch{stream: stream}
	// The last message about a worker is the result of its call.
	return each(b.s, "Watch", len(hs), &w, func(ctx context.Context, watcher swarm.Watcher, i int) *pb.WatchResponse {
		err := b.s.guard("Watch", func() error {
			return watcher.Watch(ctx, wire.FromHandle(hs[i]), func(st swarm.Status) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return w.Send(&pb.WatchResponse{Index: uint32(i), Status: wire.WorkerStatus(st)})
			})
		})
		return &pb.WatchResponse{Index: uint32(i), Last: true, Error: wire.Error(err)}
	})
}

// watch sends the messages of many watches: a gRPC stream takes one at a time.
type watch struct {
	stream grpc.ServerStreamingServer[pb.WatchResponse]
	mu     sync.Mutex // held while a message is sent
}

func (w *watch) Context() context.Context { return w.stream.Context() }

func (w *watch) Send(m *pb.WatchResponse) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream.Send(m)
}

func (b backendServer) Exec(ctx context.Context, req *pb.ExecRequest) (*pb.ExecResponse, error) {
	return call(ctx, b.s, "Exec", func(ctx context.Context, execer swarm.Execer) (*pb.ExecResponse, error) {
		h, o := wire.FromExecRequest(req)
		if err := o.Check(); err != nil {
			return nil, err
		}
		if !b.s.plugin.Local {
			o.Shim = ""
		}
		p, err := execer.Exec(ctx, h, o)
		if err == nil && len(p.Command) == 0 {
			err = fmt.Errorf("plugin '%s' returned no program that runs the command", b.s.plugin.Name)
		}
		return &pb.ExecResponse{Program: wire.Program(p)}, err
	})
}

func (b backendServer) Copy(ctx context.Context, req *pb.CopyRequest) (*pb.CopyResponse, error) {
	return call(ctx, b.s, "Copy", func(ctx context.Context, copier swarm.Copier) (*pb.CopyResponse, error) {
		h, o := wire.FromCopyRequest(req)
		if err := o.Check(); err != nil {
			return nil, err
		}
		if !b.s.plugin.Local {
			o.Dir, o.Shim = "", ""
		}
		p, err := copier.Copy(ctx, h, o)
		if err == nil && len(p.Command) == 0 {
			err = fmt.Errorf("plugin '%s' returned no program that copies", b.s.plugin.Name)
		}
		return &pb.CopyResponse{Program: wire.Program(p)}, err
	})
}

func (b backendServer) Forward(ctx context.Context, req *pb.ForwardRequest) (*pb.ForwardResponse, error) {
	return call(ctx, b.s, "Forward", func(ctx context.Context, forwarder swarm.Forwarder) (*pb.ForwardResponse, error) {
		h, o := wire.FromForwardRequest(req)
		if err := o.Check(); err != nil {
			return nil, err
		}
		p, err := forwarder.Forward(ctx, h, o)
		if err == nil && len(p.Command) == 0 {
			err = fmt.Errorf("plugin '%s' returned no program that connects with the port", b.s.plugin.Name)
		}
		return &pb.ForwardResponse{Program: wire.Program(p)}, err
	})
}
