package remote

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	k, h, err := b.of(raw)
	if err != nil {
		return swarm.Status{}, err
	}
	return k.Status(ctx, h)
}

// StatusBatch asks each backend once for all its workers, and puts the answers into the order of
// the handles.
func (b *Backend) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	results := make([]swarm.StatusResult, len(raws))
	handles, places := make(map[ShimBackend][]swarm.Handle), make(map[ShimBackend][]int)
	for i, raw := range raws {
		to, h, err := b.of(raw)
		if err != nil {
			results[i].Err = err
			continue
		}
		handles[to], places[to] = append(handles[to], h), append(places[to], i)
	}
	for to, hs := range handles {
		answers, err := to.StatusBatch(ctx, hs)
		if err != nil {
			return nil, err
		}
		for j, at := range places[to] {
			results[at] = answers[j]
		}
	}
	return results, nil
}

func (b *Backend) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	k, h, err := b.of(raw)
	if err != nil {
		return swarm.KillResult{}, err
	}
	return k.Kill(ctx, h, o)
}

func (b *Backend) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	k, h, err := b.of(raw)
	if err != nil {
		return err
	}
	return k.Watch(ctx, h, each)
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
	return client.OutputFrom(ctx, w.Dir, h.From, o, func(out swarm.Output, at client.Position) error {
		head := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen64+len(out.Data)), at.File)
		out.Data = append(binary.AppendVarint(head, at.Offset), out.Data...)
		return each(out)
	})
}

// Unpack splits the data of a piece of output into the position after it and what the
// worker wrote.
func Unpack(data []byte) (at client.Position, text []byte, err error) {
	var n, m int
	if at.File, n = binary.Uvarint(data); n > 0 {
		at.Offset, m = binary.Varint(data[n:])
	}
	if n <= 0 || m <= 0 || at.Offset < 0 {
		return client.Position{}, nil, errors.New("swarm-remote sent a piece of output without its position")
	}
	return at, data[n+m:], nil
}
