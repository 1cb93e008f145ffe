package client

import (
	"context"
	"fmt"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Input implements [swarm.Inputter].
func (b *Backend) Input(ctx context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	req, err := wire.InputRequest(h, in)
	if err != nil {
		return swarm.InputResult{}, err
	}
	resp, err := b.rpc.Input(ctx, req)
	return swarm.InputResult{Pending: resp.GetPending()}, wire.FromStatus(ctx, err)
}

// Signal implements [swarm.Signaller].
func (b *Backend) Signal(ctx context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	_, err := b.rpc.Signal(ctx, wire.SignalRequest(h, o))
	return wire.FromStatus(ctx, err)
}

// SetLimits implements [swarm.Limiter].
func (b *Backend) SetLimits(ctx context.Context, h swarm.Handle, l swarm.Limits) error {
	_, err := b.rpc.SetLimits(ctx, &pb.SetLimitsRequest{Handle: wire.Handle(h), Limits: wire.Limits(l)})
	return wire.FromStatus(ctx, err)
}

// Resize implements [swarm.Resizer].
func (b *Backend) Resize(ctx context.Context, h swarm.Handle, columns, rows int) error {
	_, err := b.rpc.Resize(ctx, &pb.ResizeRequest{Handle: wire.Handle(h), Columns: int64(columns), Rows: int64(rows)})
	return wire.FromStatus(ctx, err)
}

// SetPaused implements [swarm.Pauser].
func (b *Backend) SetPaused(ctx context.Context, h swarm.Handle, paused bool) error {
	_, err := b.rpc.SetPaused(ctx, &pb.SetPausedRequest{Handle: wire.Handle(h), Paused: paused})
	return wire.FromStatus(ctx, err)
}

// Screen implements [swarm.Screener].
func (b *Backend) Screen(ctx context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	resp, err := b.rpc.Screen(ctx, &pb.ScreenRequest{Handle: wire.Handle(h), Lines: int64(o.Lines), Styles: o.Styles})
	return wire.FromScreen(resp), wire.FromStatus(ctx, err)
}

// Attach implements [swarm.Attacher]. A plugin that is not local is not sent
// o.Env, and a local one gets it through [CleanEnv].
func (b *Backend) Attach(ctx context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	if b.client.info.Local {
		o.Env = CleanEnv(o.Env)
	} else {
		o.Env = nil
	}
	resp, err := b.rpc.Attach(ctx, wire.AttachRequest(h, o))
	if err != nil {
		return swarm.Attachment{}, wire.FromStatus(ctx, err)
	}
	a := wire.FromAttachment(resp)
	if len(a.Command) == 0 {
		return swarm.Attachment{}, fmt.Errorf("plugin '%s' returned no command to attach with", b.client.info.Name)
	}
	return a, nil
}

// Exec implements [swarm.Execer]. A plugin that is not local is not sent o.Shim.
func (b *Backend) Exec(ctx context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	if !b.client.info.Local {
		o.Shim = ""
	}
	resp, err := b.rpc.Exec(ctx, wire.ExecRequest(h, o))
	if err != nil {
		return swarm.Program{}, wire.FromStatus(ctx, err)
	}
	p := wire.FromProgram(resp.GetProgram())
	if len(p.Command) == 0 {
		return swarm.Program{}, fmt.Errorf("plugin '%s' returned no program that runs the command", b.client.info.Name)
	}
	return p, nil
}

// Copy implements [swarm.Copier]. A plugin that is not local is not sent o.Dir and o.Shim.
func (b *Backend) Copy(ctx context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	if !b.client.info.Local {
		o.Dir, o.Shim = "", ""
	}
	resp, err := b.rpc.Copy(ctx, wire.CopyRequest(h, o))
	if err != nil {
		return swarm.Program{}, wire.FromStatus(ctx, err)
	}
	p := wire.FromProgram(resp.GetProgram())
	if len(p.Command) == 0 {
		return swarm.Program{}, fmt.Errorf("plugin '%s' returned no program that copies", b.client.info.Name)
	}
	return p, nil
}

// Forward implements [swarm.Forwarder].
func (b *Backend) Forward(ctx context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	resp, err := b.rpc.Forward(ctx, wire.ForwardRequest(h, o))
	if err != nil {
		return swarm.Program{}, wire.FromStatus(ctx, err)
	}
	p := wire.FromProgram(resp.GetProgram())
	if len(p.Command) == 0 {
		return swarm.Program{}, fmt.Errorf("plugin '%s' returned no program that connects with the port", b.client.info.Name)
	}
	return p, nil
}

// Complete implements [swarm.Completer]. A summary that is too long is cut.
func (b *Backend) Complete(ctx context.Context, h swarm.Handle, summary string, o swarm.KillOptions) error {
	_, err := b.rpc.Complete(ctx, wire.CompleteRequest(h, summary, o))
	return wire.FromStatus(ctx, err)
}
