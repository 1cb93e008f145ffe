package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend is a backend in another process. It implements [swarm.Backend] and
// every capability of one; a capability that the plugin lacks is [swarm.ErrUnsupported].
// If the plugin ended before or during a call, the error is [ErrPluginGone].
type Backend struct {
	client *Client
	rpc    pb.BackendClient
}

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Sweeper       = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
	_ swarm.Inputter      = (*Backend)(nil)
	_ swarm.Signaller     = (*Backend)(nil)
	_ swarm.Screener      = (*Backend)(nil)
	_ swarm.BatchScreener = (*Backend)(nil)
	_ swarm.Attacher      = (*Backend)(nil)
	_ swarm.Resizer       = (*Backend)(nil)
	_ swarm.Execer        = (*Backend)(nil)
	_ swarm.Copier        = (*Backend)(nil)
	_ swarm.Forwarder     = (*Backend)(nil)
	_ swarm.Watcher       = (*Backend)(nil)
	_ swarm.Completer     = (*Backend)(nil)
	_ swarm.Lister        = (*Backend)(nil)
	_ swarm.Measurer      = (*Backend)(nil)
	_ swarm.CPUMeasurer   = (*Backend)(nil)
	_ swarm.Limiter       = (*Backend)(nil)
	_ swarm.Pauser        = (*Backend)(nil)
	_ swarm.Progresser    = (*Backend)(nil)
	_ swarm.SpawnChecker  = (*Backend)(nil)
)

// Spawn implements [swarm.Backend]. A plugin that is not local is not sent
// spec.Local nor spec.Owner, and a local one gets [swarm.Local.HostEnv] through [CleanEnv].
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	resp, err := b.rpc.Spawn(ctx, wire.Spec(b.sent(spec)))
	if err != nil {
		return swarm.Handle{}, wire.FromStatus(ctx, err)
	}
	passOn(resp.GetWarnings(), func(text string) { swarm.Warn(ctx, text) })
	return b.handle(resp.GetHandle())
}

// passOn gives warn the warnings of a call.
func passOn(warnings []string, warn func(text string)) {
	for _, text := range warnings[:min(len(warnings), swarm.MaxWarnings)] {
		if text = safetext.Line(wire.Line(text)); text != "" {
			warn(text)
		}
	}
}

// sent returns what the plugin is sent of a spec.
func (b *Backend) sent(spec swarm.Spec) swarm.Spec {
	spec.Local = b.local(spec.Local)
	if spec.Local == nil {
		spec.Owner = nil
	} else {
		spec.Local.HostEnv = CleanEnv(spec.Local.HostEnv)
	}
	return spec
}

// CheckSpawn implements [swarm.SpawnChecker]. The plugin is sent of the spec what Spawn sends.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	c.Spec = b.sent(c.Spec)
	_, err := b.rpc.CheckSpawn(ctx, wire.SpawnCheck(c))
	return wire.FromStatus(ctx, err)
}

// Progress implements [swarm.Progresser].
func (b *Backend) Progress(ctx context.Context, id string, each func(text string) error) error {
	return receive(ctx, b.rpc.Progress, &pb.ProgressRequest{Id: id}, func(resp *pb.ProgressResponse) error {
		return each(wire.Line(resp.GetText()))
	}, smallAnswer)
}

// Find implements [swarm.Finder].
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	l.Local = b.local(l.Local)
	if l.Local != nil {
		l.Local.HostEnv = nil
	}
	resp, err := b.rpc.Find(ctx, wire.Lookup(l))
	if err != nil {
		return swarm.Handle{}, wire.FromStatus(ctx, err)
	}
	return b.handle(resp.GetHandle())
}

// local returns a copy of l for a local plugin, else nil: an environment never leaves its
// machine.
func (b *Backend) local(l *swarm.Local) *swarm.Local {
	if l == nil || !b.client.info.Local {
		return nil
	}
	return new(*l)
}

// handle refuses handles that the plugin's own SDK should have refused.
func (b *Backend) handle(p *pb.Handle) (swarm.Handle, error) {
	h := wire.FromHandle(p)
	if h.IsZero() || len(h.Data) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: plugin '%s' returned one of %d bytes",
			swarm.ErrInvalidHandle, b.client.info.Name, len(h.Data))
	}
	return h, nil
}

// Output implements [swarm.Outputter].
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return receive(ctx, b.rpc.Output, wire.OutputRequest(h, o), func(resp *pb.OutputResponse) error {
		for _, piece := range resp.GetPieces() {
			if err := each(wire.FromOutput(piece)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sweep implements [swarm.Sweeper], for any number of handles.
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := b.rpc.Sweep(ctx)
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	for part := range batches(ended) {
		// An error of Send only says that the call failed; CloseAndRecv returns the reason.
		if stream.Send(&pb.SweepRequest{Ended: wire.Handles(part)}) != nil {
			break
		}
	}
	for part := range batches(running) {
		if stream.Send(&pb.SweepRequest{Running: wire.Handles(part)}) != nil {
			break
		}
	}
	resp, err := stream.CloseAndRecv()
	if err != nil {
		return nil, wire.FromStatus(ctx, err)
	}
	return wire.FromSweepResponse(resp), nil
}

// Check implements [swarm.Checker].
func (b *Backend) Check(ctx context.Context) error { return b.client.Check(ctx) }

// List implements [swarm.Lister]. A list without end is cut off with an error.
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	size := 0
	return receive(ctx, b.rpc.List, &pb.ListRequest{}, func(resp *pb.ListResponse) error {
		if size += max(proto.Size(resp), minListed); size > maxList {
			return fmt.Errorf("plugin '%s' lists more workers than swarm accepts (%d MiB)", b.client.info.Name, maxList>>20)
		}
		if _, err := b.handle(resp.GetHandle()); err != nil {
			return err
		}
		return each(wire.FromListed(resp))
	}, smallAnswer)
}

// receive calls each for every message of the stream that open opens, until the stream ends or
// each fails.
func receive[Q, M any](ctx context.Context,
	open func(context.Context, Q, ...grpc.CallOption) (grpc.ServerStreamingClient[M], error), req Q,
	each func(*M) error, opts ...grpc.CallOption,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream after an error of each
	stream, err := open(ctx, req, opts...)
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	for {
		// Messages that have arrived can be received after the end of the context.
		if err := ctx.Err(); err != nil {
			return err
		}
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return wire.FromStatus(ctx, err)
		}
		if err := each(resp); err != nil {
			return err
		}
	}
}
