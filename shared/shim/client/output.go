package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Output reads the log of a worker, see [swarm.Outputter]. A directory that is
// gone is [swarm.ErrNotFound].
func Output(ctx context.Context, dir string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return OutputFrom(ctx, dir, Position{}, o, func(out swarm.Output, _ Position) error { return each(out) })
}

// Position is a position in the log of a worker, between two pieces of output. Its zero
// value is the beginning. It is valid until the shim drops that part of the log; reading
// then continues with the oldest output that is kept.
type Position struct {
	// File identifies a file of the log, whatever its name is after a rotation, and Offset
	// is the position in it.
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
}

// OutputFrom is [Output] from a position that an earlier call passed to each. The option
// Tail is ignored unless the position is the beginning.
func OutputFrom(ctx context.Context, dir string, from Position, o swarm.OutputOptions, each func(swarm.Output, Position) error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the output was removed with %s", swarm.ErrNotFound, dir)
	}
	r := &reader{dir: dir, opts: o, from: from, each: each}
	defer func() { closeAll(r.files) }()
	if o.Follow {
		return r.follow(ctx)
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	return r.drain(ctx, r.over())
}

func (r *reader) follow(ctx context.Context) error {
	// The watch begins before the first read, so that no change is missed between the two.
	w, err := newWatch(r.dir)
	if err != nil {
		return err
	}
	defer w.close()
	var owned sync.WaitGroup
	defer owned.Wait()
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	blind := make(chan error, 1)
	var gone atomic.Bool
	owned.Go(func() {
		defer w.wake()
		// A shim that is killed changes nothing in the directory.
		if err := r.awaitOver(watching); err != nil {
			blind <- err
			return
		}
		gone.Store(true)
	})
	if err := r.begin(ctx); err != nil {
		return err
	}
	for {
		// The order matters: all output was written before the end was recorded. The shim
		// is not checked for each piece of output, since that may need a connection.
		over := gone.Load() || r.ended()
		if err := r.extend(); err != nil {
			return err
		}
		if err := r.drain(ctx, over); err != nil || over {
			return err
		}
		w.wait()
		select {
		case err := <-blind:
			return err
		default:
		}
	}
}

// awaitOver returns nil once nothing more can be written.
func (r *reader) awaitOver(ctx context.Context) error {
	for !r.over() {
		st, err := readRecord(r.dir)
		if err != nil {
			return nil //nolint:nilerr // without a record no process writes
		}
		if err := awaitShim(ctx, r.dir, st); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether nothing more can be written.
func (r *reader) over() bool {
	st, err := readRecord(r.dir)
	return err != nil || st.State == rundir.StateEnded || !IsKept(r.dir, st)
}

// ended reports whether the shim has recorded the worker's end, or no record is left.
func (r *reader) ended() bool {
	st, err := readRecord(r.dir)
	return err != nil || st.State == rundir.StateEnded
}
