package remote

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Status reports how a worker is.
func (b *Backend) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	k, h, err := b.of(raw)
	if err != nil {
		return swarm.Status{}, err
	}
	return k.Status(ctx, h)
}

// batch asks each backend once for all its workers, and puts the answers into the order of
// the handles.
func batch[R any](ctx context.Context, b *Backend, raws []swarm.Handle,
	ask func(ShimBackend, context.Context, []swarm.Handle) ([]R, error), failed func(error) R,
) ([]R, error) {
	results := make([]R, len(raws))
	handles, places := make(map[ShimBackend][]swarm.Handle), make(map[ShimBackend][]int)
	for i, raw := range raws {
		to, h, err := b.of(raw)
		if err != nil {
			results[i] = failed(err)
			continue
		}
		handles[to], places[to] = append(handles[to], h), append(places[to], i)
	}
	for to, hs := range handles {
		answers, err := ask(to, ctx, hs)
		if err != nil {
			return nil, err
		}
		for j, at := range places[to] {
			results[at] = answers[j]
		}
	}
	return results, nil
}

// StatusBatch answers for all workers with one look at the processes for each kind.
func (b *Backend) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	return batch(ctx, b, raws, ShimBackend.StatusBatch,
		func(err error) swarm.StatusResult { return swarm.StatusResult{Err: err} })
}

// CPUTimes measures the CPU times of workers.
func (b *Backend) CPUTimes(ctx context.Context, raws []swarm.Handle) ([]swarm.StatsResult, error) {
	return batch(ctx, b, raws, ShimBackend.CPUTimes,
		func(err error) swarm.StatsResult { return swarm.StatsResult{Err: err} })
}

// Stats measures workers.
func (b *Backend) Stats(ctx context.Context, raws []swarm.Handle) ([]swarm.StatsResult, error) {
	return batch(ctx, b, raws, ShimBackend.Stats,
		func(err error) swarm.StatsResult { return swarm.StatsResult{Err: err} })
}

// Kill ends a worker and everything that it started.
func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	k, h, err := b.of(raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	return k.Kill(ctx, h, o)
}

// Watch reports the changes of a worker.
func (b *Backend) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	k, h, err := b.of(raw)
	if err != nil {
		return err
	}
	return k.Watch(ctx, h, each)
}

// Input gives a worker input.
func (b *Backend) Input(ctx context.Context, raw swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	k, h, err := b.of(raw)
	if err != nil {
		return swarm.InputResult{}, err
	}
	return k.Input(ctx, h, in)
}

// Signal sends a worker a signal.
func (b *Backend) Signal(ctx context.Context, raw swarm.Handle, o swarm.SignalOptions) error {
	k, h, err := b.of(raw)
	if err != nil {
		return err
	}
	return k.Signal(ctx, h, o)
}

// SetLimits changes the limits of a worker.
func (b *Backend) SetLimits(ctx context.Context, raw swarm.Handle, l swarm.Limits) error {
	k, h, err := b.of(raw)
	if err != nil {
		return err
	}
	return k.SetLimits(ctx, h, l)
}

// SetPaused pauses a worker or lets it continue.
func (b *Backend) SetPaused(ctx context.Context, raw swarm.Handle, paused bool) error {
	k, h, err := b.of(raw)
	if err != nil {
		return err
	}
	return k.SetPaused(ctx, h, paused)
}

// Output reads a worker's output from the position in its handle on. The data of each piece
// begins with the position after it, see [Unpack].
func (b *Backend) Output(ctx context.Context, raw swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	h, err := b.handle(raw)
	if err != nil {
		return err
	}
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	return shim.OutputFrom(ctx, w.Dir, h.From, o, func(out swarm.Output, at shim.Position) error {
		head := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen64+len(out.Data)), at.File)
		out.Data = append(binary.AppendVarint(head, at.Offset), out.Data...)
		return each(out)
	})
}

// Unpack splits the data of a piece of output into the position after it and what the
// worker wrote.
func Unpack(data []byte) (at shim.Position, text []byte, err error) {
	var n, m int
	if at.File, n = binary.Uvarint(data); n > 0 {
		at.Offset, m = binary.Varint(data[n:])
	}
	if n <= 0 || m <= 0 || at.Offset < 0 {
		return shim.Position{}, nil, errors.New("swarm-remote sent a piece of output without its position")
	}
	return at, data[n+m:], nil
}
