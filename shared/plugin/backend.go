package plugin

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend is a backend in another process. It implements [swarm.Backend] and
// every capability of one; a capability that the plugin does not have is
// [swarm.ErrUnsupported]. A plugin that ended in a call, or before it, is
// [ErrPluginGone].
type Backend struct{ client *Client }

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Sweeper       = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Waiter        = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
)

// Spawn implements [swarm.Backend].
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	return swarm.Handle{}, nil
}

// Status implements [swarm.Backend].
func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	return swarm.Status{}, nil
}

// StatusBatch implements [swarm.BatchStatuser], for any number of handles and
// every backend.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	return nil, nil
}

// Kill implements [swarm.Backend].
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	return swarm.KillResult{}, nil
}

// KillItem is one worker to end.
type KillItem struct {
	Handle  swarm.Handle
	Options swarm.KillOptions
}

// KillBatch ends any number of workers at the same time. each is called as each
// is done, in any order, never twice at the same time, with its place in items
// and what Kill would have returned. An error of KillBatch is about the workers
// for which each was not called; without one it was called for all.
func (b *Backend) KillBatch(ctx context.Context, items []KillItem, each func(i int, r swarm.KillResult, err error)) error {
	return nil
}

// Wait implements [swarm.Waiter].
func (b *Backend) Wait(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	return swarm.Status{}, nil
}

// WaitBatch waits for any number of workers, as [Backend.KillBatch] ends them.
func (b *Backend) WaitBatch(ctx context.Context, hs []swarm.Handle, each func(i int, s swarm.Status, err error)) error {
	return nil
}

// Output implements [swarm.Outputter].
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return nil
}

// Find implements [swarm.Finder].
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	return swarm.Handle{}, nil
}

// Sweep implements [swarm.Sweeper], for any number of handles.
func (b *Backend) Sweep(ctx context.Context, ended, running []swarm.Handle) ([]string, error) {
	return nil, nil
}

// Check implements [swarm.Checker].
func (b *Backend) Check(ctx context.Context) error { return b.client.Check(ctx) }
