package shim

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
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the output went with %s", swarm.ErrNotFound, dir)
	}
	r := &reader{dir: dir, opts: o, each: each}
	return r.read(ctx)
}

// Position is a place in the log of a worker, between two pieces of output. Its zero value
// is the beginning. It holds until the shim drops that part of the log; reading goes on with
// the oldest output that is kept then.
type Position struct {
	// File stands for a file of the log, whatever its name is after a rotation, and Offset
	// is a place in it.
	File   uint64 `json:"file"`
	Offset int64  `json:"offset"`
}

// OutputFrom is [Output] from a position on, which a call before it has passed to each. From
// any other position than the beginning, the option Tail is ignored.
func OutputFrom(ctx context.Context, dir string, from Position, o swarm.OutputOptions, each func(swarm.Output, Position) error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the output went with %s", swarm.ErrNotFound, dir)
	}
	r := &reader{dir: dir, opts: o, from: from}
	r.each = func(out swarm.Output) error { return each(out, r.position()) }
	return r.read(ctx)
}

// read reads as the options say.
func (r *reader) read(ctx context.Context) error {
	defer r.close()
	if r.opts.Follow {
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
			return nil //nolint:nilerr // without a record nobody writes
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
	return err != nil || st.State == rundir.StateEnded || !shimAlive(r.dir, st)
}

// ended reports whether the shim has recorded the worker's end, or no record is left.
func (r *reader) ended() bool {
	st, err := readRecord(r.dir)
	return err != nil || st.State == rundir.StateEnded
}
