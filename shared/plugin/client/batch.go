package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// KillItem is one worker to end.
type KillItem struct {
	Handle  swarm.Handle
	Options swarm.KillOptions
	Warn    func(text string) // gets the warnings of this kill, before its result; may be nil
}

// Status implements [swarm.Backend].
func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	results, err := b.StatusBatch(ctx, []swarm.Handle{h})
	if err != nil {
		return swarm.Status{}, err
	}
	return results[0].Status, results[0].Err
}

// StatusBatch implements [swarm.BatchStatuser], for any number of handles and every
// backend. All batches are sent at the same time.
func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]swarm.StatusResult, len(hs))
	var (
		asking sync.WaitGroup
		first  sync.Once
		failed error // the first one; later ones are of calls that it cancelled
		at     int
	)
	for part := range batches(hs) {
		start := at
		at += len(part)
		asking.Go(func() {
			resp, err := b.rpc.Status(ctx, &pb.StatusRequest{Handles: wire.Handles(part)})
			if err := b.answered(ctx, len(resp.GetResults()), len(part), err); err != nil {
				first.Do(func() { failed = err })
				cancel()
				return
			}
			copy(results[start:], wire.Convert(resp.GetResults(), wire.FromStatusResult))
		})
	}
	asking.Wait()
	if failed != nil {
		return nil, failed
	}
	return results, nil
}

// answered returns an error unless the plugin answered without err and for every worker.
func (b *Backend) answered(ctx context.Context, got, n int, err error) error {
	if err == nil && got != n {
		return b.left(got, n)
	}
	return wire.FromStatus(ctx, err)
}

// ScreenBatch implements [swarm.BatchScreener], for any number of handles. The backend
// must have [swarm.CapBatchScreen].
func (b *Backend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, 0, len(hs))
	for part := range slices.Chunk(hs, swarm.MaxScreens) {
		resp, err := b.rpc.Screens(ctx, &pb.ScreensRequest{Handles: wire.Handles(part), Lines: int64(o.Lines), Styles: o.Styles})
		if err := b.answered(ctx, len(resp.GetResults()), len(part), err); err != nil {
			return nil, err
		}
		results = append(results, wire.Convert(resp.GetResults(), wire.FromScreenResult)...)
	}
	return results, nil
}

// Stats implements [swarm.Measurer], for any number of handles. The backend must have
// [swarm.CapStats].
func (b *Backend) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	return b.stats(ctx, hs, false)
}

// CPUTimes implements [swarm.CPUMeasurer], for any number of handles. The backend must have
// [swarm.CapStats].
func (b *Backend) CPUTimes(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	return b.stats(ctx, hs, true)
}

func (b *Backend) stats(ctx context.Context, hs []swarm.Handle, cpuTimeOnly bool) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, 0, len(hs))
	for part := range batches(hs) {
		resp, err := b.rpc.Stats(ctx, &pb.StatsRequest{Handles: wire.Handles(part), CpuTimeOnly: cpuTimeOnly})
		if err := b.answered(ctx, len(resp.GetResults()), len(part), err); err != nil {
			return nil, err
		}
		results = append(results, wire.Convert(resp.GetResults(), wire.FromStatsResult)...)
	}
	return results, nil
}

// Kill implements [swarm.Backend].
func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (result swarm.KillResult, err error) {
	if gone := b.KillBatch(ctx, []KillItem{{Handle: h, Options: o, Warn: func(text string) { swarm.Warn(ctx, text) }}}, func(_ int, r swarm.KillResult, e error) {
		result, err = r, e
	}); gone != nil {
		return swarm.KillResult{}, gone
	}
	return result, err
}

// KillBatch kills any number of workers at the same time. It calls each once for every
// worker when its Kill returns, in any order, never concurrently, with its index in items
// and the results of Kill. An error of KillBatch is about the workers for which each was
// not called; without an error it was called for all.
func (b *Backend) KillBatch(ctx context.Context, items []KillItem, each func(i int, r swarm.KillResult, err error)) error {
	return inBatches(ctx, b, items,
		func(ctx context.Context, part []KillItem) (grpc.ServerStreamingClient[pb.KillResponse], error) {
			return b.rpc.Kill(ctx, &pb.KillRequest{Items: wire.Convert(part, func(i KillItem) *pb.KillItem {
				return &pb.KillItem{Handle: wire.Handle(i.Handle), Options: wire.KillOptions(i.Options)}
			})})
		},
		func(i int, r *pb.KillResponse) {
			if items[i].Warn != nil {
				passOn(r.GetWarnings(), items[i].Warn)
			}
			each(i, wire.FromKillResult(r.GetResult()), wire.FromError(r.GetError()))
		})
}

func batches[T any](all []T) iter.Seq[[]T] { return slices.Chunk(all, swarm.MaxBatch) }

// indexed is a message about one of the workers of its request.
type indexed[M any] interface {
	*M
	GetIndex() uint32
}

// final reports whether a message is the last one about its worker; only WatchResponse has
// others.
func final[M any](m *M) bool {
	marked, ok := any(m).(interface{ GetLast() bool })
	return !ok || marked.GetLast()
}

// inBatches opens a stream for each batch, all at the same time, and calls each
// for every message up to the last one about each worker.
func inBatches[T, M any, P indexed[M]](ctx context.Context, b *Backend, all []T,
	open func(context.Context, []T) (grpc.ServerStreamingClient[M], error), each func(i int, m P),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends streams that are not read to their end
	var (
		streams sync.WaitGroup
		mu      sync.Mutex // held while each is called
		failed  error
		at      int
	)
	for part := range batches(all) {
		start := at
		at += len(part)
		streams.Go(func() {
			err := follow(ctx, b, len(part), func() (grpc.ServerStreamingClient[M], error) { return open(ctx, part) },
				func(m P) {
					mu.Lock()
					defer mu.Unlock()
					each(start+int(m.GetIndex()), m)
				})
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err) // batches that fail together fail for the same cause
		})
	}
	streams.Wait()
	return failed
}

// maxSurplus is how many messages about unknown workers, or about workers with a result, are
// ignored in one stream. A plugin that sends more floods its host.
const maxSurplus = 100

// follow reads a stream to its end and expects a last message for each of n workers.
func follow[M any, P indexed[M]](ctx context.Context, b *Backend, n int,
	open func() (grpc.ServerStreamingClient[M], error), each func(P),
) error {
	stream, err := open()
	if err != nil {
		return wire.FromStatus(ctx, err)
	}
	seen := make([]bool, n)
	got, surplus := 0, 0
	for {
		m, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && got < n:
			return b.left(got, n)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && got == n:
			return nil // every worker has its result
		case err != nil:
			return wire.FromStatus(ctx, err)
		}
		i := P(m).GetIndex()
		if i >= uint32(n) || seen[i] {
			// The worker is unknown, or has its result already.
			if surplus++; surplus > maxSurplus {
				return fmt.Errorf("%w: plugin '%s' sent answers to no request", swarm.ErrUnavailable, b.client.info.Name)
			}
			continue
		}
		if final(m) {
			seen[i] = true
			got++
		}
		each(m)
	}
}

// left is the error for a plugin that did not answer for every worker.
func (b *Backend) left(got, n int) error {
	return fmt.Errorf("plugin '%s' answered for %d of %d workers", b.client.info.Name, got, n)
}
