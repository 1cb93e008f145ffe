package container

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Output reads the log that the engine keeps: both streams in the order in which the engine
// read them. Output that the engine has dropped is not counted. The log of a terminal has no
// times, so its lines get the time of their reading.
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	r, e, err := b.open(ctx, h)
	if err != nil {
		return err
	}
	if _, err := e.inspect(ctx, r); err != nil {
		return err
	}
	out := &output{e: e, r: r, o: o, each: each}
	if out.skip, err = out.toSkip(ctx); err != nil {
		return err
	}
	if o.Follow && !r.TTY {
		switch podman, _, err := e.version(ctx); {
		case err != nil:
			return err
		case podman:
			return out.passes(ctx)
		}
	}
	err = out.read(ctx, o.Follow, out.take)
	if !o.Follow || out.over || err != nil && !errors.Is(err, swarm.ErrUnavailable) {
		return err
	}
	return out.rest(ctx)
}

type output struct {
	e    *engine
	r    ref
	o    swarm.OutputOptions
	each func(swarm.Output) error
	skip int // lines to leave out at the beginning

	// last is the time of the last piece, and same how many pieces have it.
	last time.Time
	same int
	over bool // the callback failed, or the worker has ended
}

func (out *output) toSkip(ctx context.Context) (int, error) {
	if out.o.Tail == nil {
		return 0, nil
	}
	lines, open := 0, false
	err := out.e.read(ctx, out.r, readOptions{since: out.o.Since}, func(piece swarm.Output) error {
		if out.wanted(piece) {
			open = piece.Partial
			if !open {
				lines++
			}
		}
		return nil
	})
	if open {
		lines++
	}
	return max(0, lines-*out.o.Tail), err
}

func (out *output) wanted(piece swarm.Output) bool {
	return (out.o.Stream == "" || piece.Stream == out.o.Stream) && (out.o.Since.IsZero() || !piece.Time.Before(out.o.Since))
}

// stopped is an error of the callback.
type stopped struct{ error }

// take takes the next piece.
func (out *output) take(piece swarm.Output) error {
	if piece.Time.Equal(out.last) {
		out.same++
	} else {
		out.last, out.same = piece.Time, 1
	}
	if !out.wanted(piece) {
		return nil
	}
	if out.skip > 0 {
		if !piece.Partial {
			out.skip--
		}
		return nil
	}
	if err := out.each(piece); err != nil {
		return stopped{err}
	}
	return nil
}

func (out *output) read(ctx context.Context, follow bool, take func(swarm.Output) error) error {
	same := out.same
	from := readOptions{since: cmp.Or(out.last, out.o.Since), follow: follow}
	err := out.e.read(ctx, out.r, from, func(piece swarm.Output) error {
		if !out.r.TTY && !out.last.IsZero() && same > 0 {
			// The engine begins with what was read last.
			if piece.Time.Before(out.last) {
				return nil
			}
			if piece.Time.Equal(out.last) {
				same--
				return nil
			}
			same = 0
		}
		return take(piece)
	})
	if s, ok := errors.AsType[stopped](err); ok {
		out.over = true
		return s.error
	}
	return err
}

// rest reads until the worker has ended: an engine ends a log that is followed with the
// worker, sometimes before its last line, and when the engine itself ends.
func (out *output) rest(ctx context.Context) error {
	for {
		st, err := out.e.status(ctx, out.r)
		if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			return err
		}
		if err == nil && isFinal(st) {
			if out.r.TTY {
				return nil
			}
			return out.read(ctx, false, out.take)
		}
		if err := sleep.For(ctx, retryEvery); err != nil {
			return err
		}
		if err != nil {
			if _, err := out.e.awaitFinal(ctx, out.r); err != nil {
				return err
			}
			continue
		}
		if err := out.read(ctx, true, out.take); out.over || err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			return err
		}
	}
}

type readOptions struct {
	since  time.Time
	tail   string // lines, empty: all
	follow bool
}

// read calls each for every piece of a container's log, and returns its error as it is.
func (e *engine) read(ctx context.Context, r ref, o readOptions, each func(swarm.Output) error) error {
	request := logsOptions(r, o)
	body, err := e.ContainerLogs(ctx, r.Container, request)
	if isGone(err) {
		return fmt.Errorf("%w: the container was removed, and its output with it", swarm.ErrNotFound)
	}
	if err != nil {
		return e.explain(ctx, "read the output", err)
	}
	defer func() { _ = body.Close() }()
	var failed error
	pass := func(piece swarm.Output) error {
		failed = each(piece)
		return failed
	}
	if r.TTY {
		err = readTerminal(r.terminal(ctx, body, o), pass)
	} else {
		err = readFrames(body, pass)
	}
	if failed != nil {
		return failed
	}
	return e.explain(ctx, "read the output", err)
}

// sinceOf is how the API writes a time. The answer begins with what was written then, on
// Podman with what was written after it, so the time is the one before. The caller leaves
// out what is too much.
func sinceOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.Add(-time.Nanosecond)
	return strconv.FormatInt(t.Unix(), 10) + fmt.Sprintf(".%09d", t.Nanosecond())
}

func cutTime(line []byte) (time.Time, []byte) {
	if at, rest, ok := bytes.Cut(line, []byte(" ")); ok {
		if t, err := time.Parse(time.RFC3339Nano, string(at)); err == nil {
			return t, rest
		}
	}
	return time.Now(), line
}

// maxFrame is the largest piece of a log, in bytes. Docker cuts lines at 16 KiB.
const maxFrame = 16 << 20

func logsOptions(r ref, o readOptions) client.ContainerLogsOptions {
	return client.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true, Timestamps: !r.TTY, Follow: o.follow, Tail: cmp.Or(o.tail, "all"), Since: sinceOf(o.since),
	}
}

// readFrames reads a log of two streams: each piece has a header of eight bytes, which
// holds its stream and its size, and begins with its time.
func readFrames(from io.Reader, each func(swarm.Output) error) error {
	in := bufio.NewReader(from)
	var header [8]byte
	for {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if header[0] > 3 || header[1]|header[2]|header[3] != 0 {
			// Podman writes why it can't continue where a header should be.
			text, _ := io.ReadAll(io.LimitReader(in, 1<<10))
			return fmt.Errorf("%w: the engine broke the log off: %s", swarm.ErrUnavailable, firstLine(string(header[:])+string(text)))
		}
		size := binary.BigEndian.Uint32(header[4:])
		if size > maxFrame {
			return fmt.Errorf("%w: a piece of the log has %d bytes", swarm.ErrUnavailable, size)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		piece := swarm.Output{Stream: swarm.Stdout}
		if header[0] == 2 {
			piece.Stream = swarm.Stderr
		}
		line, whole := bytes.CutSuffix(data, []byte("\n"))
		piece.Time, piece.Data = cutTime(line)
		piece.Partial = !whole
		if err := each(piece); err != nil {
			return err
		}
	}
}

// readTerminal reads the log of a terminal, which is nothing but what was written to it.
func readTerminal(from io.Reader, each func(swarm.Output) error) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for data := buf[:n]; len(data) > 0; {
			line, rest, whole := bytes.Cut(data, []byte("\n"))
			piece := swarm.Output{Time: time.Now(), Stream: swarm.Stdout, Data: bytes.Clone(line), Partial: !whole}
			if err := each(piece); err != nil {
				return err
			}
			data = rest
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
