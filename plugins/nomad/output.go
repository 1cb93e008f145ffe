package nomad

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// Nomad writes the end of a log a moment after it reports the end of a task: its logger
// flushes every 100 ms.
const (
	flushEvery = 150 * time.Millisecond
	flushLimit = 3 * time.Second
)

// Output reads the logs that Nomad keeps. There is a file for each stream, without times: a
// line gets the time of its file, or the time at which it was read while it is followed. The
// stream that was written last comes last.
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	r, err := decode(h)
	if err != nil {
		return err
	}
	a, err := b.awaitAlloc(ctx, r, o.Follow)
	if err != nil || a == nil {
		return err
	}
	out := &output{
		logs: logs{b: b, at: r.place, alloc: a.ID, node: a.NodeName}, o: o, each: each,
		streams: []swarm.Stream{swarm.Stdout, swarm.Stderr}, at: make(map[swarm.Stream]position), pending: !ended(a),
	}
	if o.Stream != "" {
		out.streams = []swarm.Stream{o.Stream}
	}
	if ended(a) {
		return out.rest(ctx, time.Since(time.Unix(0, a.ModifyTime)).Abs() < flushLimit)
	}
	if !o.Follow {
		_, err := out.pass(ctx)
		return err
	}
	return out.follow(ctx, r)
}

// awaitAlloc returns the worker's allocation, or nil if it has none yet.
func (b *Backend) awaitAlloc(ctx context.Context, r ref, wait bool) (*api.AllocationListStub, error) {
	var index uint64
	for {
		s, err := b.look(ctx, r.place, r.Job, index)
		if err != nil {
			return nil, err
		}
		index = s.index
		if a := s.allocs[r.ID]; a != nil {
			return a, nil
		}
		switch st := b.statusIn(ctx, s, r); {
		case st.State == swarm.StateLost:
			return nil, fmt.Errorf("%w: the output: %s", swarm.ErrNotFound, st.Reason)
		case !wait, isFinal(st):
			return nil, nil //nolint:nilnil // no output yet
		}
	}
}

// position is the end of the part of a stream that was read.
type position struct {
	number int
	offset int64
}

type output struct {
	logs
	o       swarm.OutputOptions
	each    func(swarm.Output) error
	streams []swarm.Stream
	at      map[swarm.Stream]position
	begun   bool
	pending bool  // the log files may not exist yet
	dropped int64 // reported with the first piece
}

// follow reads until the worker has ended.
func (out *output) follow(ctx context.Context, r ref) error {
	alarms, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	woken := make(chan struct{}, 1)
	stir := func() { wake.Up(woken) }
	for _, s := range out.streams {
		running.Go(func() { out.logs.follow(alarms, s, stir) })
	}
	over := make(chan error, 1)
	running.Go(func() {
		over <- out.b.follow(alarms, r, func(st swarm.Status) (bool, error) { return isFinal(st), nil })
	})
	for {
		if _, err := out.pass(ctx); err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			return err
		}
		select {
		case <-woken:
		case err := <-over:
			if err != nil {
				return err
			}
			return out.rest(ctx, true)
		}
	}
}

// rest reads the remaining output of a worker that has ended, and waits for late output if
// the end was just now.
func (out *output) rest(ctx context.Context, fresh bool) error {
	for {
		if _, err := out.pass(ctx); err != nil || !fresh {
			return err
		}
		if err := sleep.For(ctx, flushEvery); err != nil {
			return err
		}
		more, err := out.pass(ctx)
		if err != nil || more == 0 {
			return err
		}
	}
}

// pass reads the new output, and returns its size in bytes.
func (out *output) pass(ctx context.Context) (n int64, err error) {
	files, err := out.list(ctx)
	switch {
	case errors.Is(err, swarm.ErrNotFound) && !out.begun && out.pending:
		return 0, nil
	case err != nil:
		return 0, err
	}
	history := !out.begun
	if !out.begun {
		out.begun = true
		if err := out.begin(ctx, files); err != nil {
			return 0, err
		}
	}
	slices.SortStableFunc(out.streams, func(a, b swarm.Stream) int { return last(files[a]).written.Compare(last(files[b]).written) })
	for _, s := range out.streams {
		for _, f := range files[s] {
			read, err := out.read(ctx, s, f, history)
			n += read
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func last(files []logFile) logFile {
	if len(files) == 0 {
		return logFile{}
	}
	return files[len(files)-1]
}

func (out *output) read(ctx context.Context, s swarm.Stream, f logFile, history bool) (int64, error) {
	p := out.at[s]
	if f.number < p.number {
		return 0, nil
	}
	if f.number > p.number {
		p = position{number: f.number}
	}
	if p.offset >= f.size {
		out.at[s] = p
		return 0, nil
	}
	if history && !out.o.Since.IsZero() && f.written.Before(out.o.Since) {
		out.at[s] = position{number: f.number, offset: f.size}
		return 0, nil
	}
	r, err := out.open(ctx, s, f.number, p.offset, f.size)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	written := f.written
	if !history {
		written = time.Now()
	}
	var n int64
	buf := make([]byte, 64<<10)
	for {
		got, err := io.ReadFull(r, buf)
		if terr := out.emit(s, written, buf[:got]); terr != nil {
			return n, terr
		}
		n += int64(got)
		p.offset += int64(got)
		out.at[s] = p
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return n, nil
		case err != nil:
			return n, out.b.explain(ctx, "read the logs", err)
		}
	}
}

// emit passes data on, line by line.
func (out *output) emit(s swarm.Stream, written time.Time, data []byte) error {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		piece := swarm.Output{Time: written, Stream: s, Data: bytes.Clone(line), Partial: !whole, Dropped: out.dropped}
		out.dropped = 0
		if err := out.each(piece); err != nil {
			return err
		}
		data = rest
	}
	return nil
}

// begin decides where to begin to read.
func (out *output) begin(ctx context.Context, files map[swarm.Stream][]logFile) error {
	if out.o.Tail == nil {
		for _, s := range out.streams {
			// Full files are of about one size.
			if of := files[s]; len(of) > 0 {
				out.dropped += int64(of[0].number) * of[0].size
			}
		}
		return nil
	}
	// The stream that was written last has the last lines.
	left := *out.o.Tail
	streams := slices.Clone(out.streams)
	if len(streams) > 1 && last(files[streams[0]]).written.After(last(files[streams[1]]).written) {
		streams[0], streams[1] = streams[1], streams[0]
	}
	for _, s := range slices.Backward(streams) {
		n, err := out.skip(ctx, s, files[s], left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// skip goes to the last lines of a stream, so many at most, and returns how many
// there are.
func (out *output) skip(ctx context.Context, s swarm.Stream, files []logFile, lines int) (int, error) {
	end := last(files)
	out.at[s] = position{number: end.number, offset: end.size}
	if lines == 0 {
		return 0, nil
	}
	empty, need, found := true, lines, 0
	for _, f := range slices.Backward(files) {
		data, err := out.whole(ctx, s, f)
		if err != nil {
			return 0, err
		}
		if empty && bytes.HasSuffix(data, []byte("\n")) {
			need++ // the newline of the last line comes before those that begin one
		}
		empty = empty && len(data) == 0
		for nl := bytes.LastIndexByte(data, '\n'); nl >= 0; nl = bytes.LastIndexByte(data[:nl], '\n') {
			if found++; found == need {
				out.at[s] = position{number: f.number, offset: int64(nl + 1)}
				return lines, nil
			}
		}
	}
	if empty {
		return 0, nil
	}
	out.at[s] = position{number: files[0].number}
	return found + 1 - (need - lines), nil
}

func (out *output) whole(ctx context.Context, s swarm.Stream, f logFile) ([]byte, error) {
	r, err := out.open(ctx, s, f.number, 0, f.size)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, f.size))
	if err != nil {
		return nil, out.b.explain(ctx, "read the logs", err)
	}
	return data, nil
}
