package client

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// reader reads a log forwards, across rotations: it holds the unread files open, so it does
// not lose files that the shim drops meanwhile.
type reader struct {
	dir  string
	opts swarm.OutputOptions
	each func(swarm.Output, Position) error
	// from is where to begin; the zero value: where the options say.
	from Position
	// files are oldest first; the first one is being read.
	files []*os.File
	// offset is where the next byte that was not taken is in that file.
	offset int64
	// rest is the unfinished line at the end of the read bytes.
	rest []byte
	// long says that the current line is longer than a record can be.
	long bool
	// skipped says that the next piece is not the first kept one, or not the first one that
	// is passed to each.
	skipped bool
	// dropped is how much was dropped before the first kept piece.
	dropped int64
	// current is the file that born belongs to.
	current *os.File
	born    uint64
}

// begin opens the log at the position that the options select.
func (r *reader) begin(ctx context.Context) error {
	files, err := openSegments(r.dir)
	if err != nil {
		return err
	}
	r.files = files
	// A log without a record of dropped output has dropped nothing.
	if st, err := readRecord(r.dir); err == nil {
		r.dropped = st.DroppedBytes
	}
	if r.from != (Position{}) {
		return r.resume()
	}
	if r.opts.Tail == nil || len(files) == 0 {
		return nil
	}
	at, err := tailPlace(ctx, files, max(0, *r.opts.Tail), r.opts.Stream)
	if err != nil || at == (place{}) {
		return err
	}
	return r.seek(at.file, at.offset)
}

// resume continues at the position from. If its file is no longer kept, reading begins with
// the oldest file, and the first piece says how much was dropped.
func (r *reader) resume() error {
	i := slices.IndexFunc(r.files, func(f *os.File) bool { return born(f) == r.from.File })
	if i < 0 {
		return nil
	}
	return r.seek(i, r.from.Offset)
}

// seek continues at an offset of one of the files, and drops the files before it.
func (r *reader) seek(file int, offset int64) (err error) {
	r.skipped = true
	closeAll(r.files[:file])
	r.files = r.files[file:]
	r.offset, err = r.files[0].Seek(offset, io.SeekStart)
	return err
}

// position returns the end of the last piece that was given.
func (r *reader) position() Position {
	if r.current != r.files[0] {
		r.current, r.born = r.files[0], born(r.files[0])
	}
	return Position{File: r.born, Offset: r.offset}
}

// born distinguishes a file of a log from all others, by the time of its first record, which no
// two files share. An inode does not: it is used again as soon as its file is dropped. Without
// a record born is 0.
func born(f *os.File) uint64 {
	var first [len("2006-01-02T15:04:05.000000000Z")]byte
	if n, _ := f.ReadAt(first[:], 0); n < len(first) || isZero(first[:]) {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(first[:])
	return max(h.Sum64(), 1)
}

// drain gives the present content to each. If over, it includes an unfinished last line.
func (r *reader) drain(ctx context.Context, over bool) error {
	buf := make([]byte, 64<<10)
	for len(r.files) > 0 {
		n, err := r.files[0].Read(buf)
		if isZero(buf[:n]) {
			r.skipHole(buf[:n])
		} else if err := r.take(buf[:n]); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case err == nil:
			continue
		case err != io.EOF:
			return err
		}
		last := len(r.files) == 1
		if last && !over {
			return nil
		}
		if err := r.cut(); err != nil || last {
			return err
		}
		closeAll(r.files[:1])
		r.files, r.offset = r.files[1:], 0
	}
	return nil
}

// extend opens the files that the shim has begun in the meantime.
func (r *reader) extend() error {
	var files []*os.File
	var err error
	if len(r.files) == 0 {
		files, err = openSegments(r.dir)
	} else if newest := r.files[len(r.files)-1]; !isNewest(r.dir, newest) {
		files, err = openAfter(r.dir, newest)
	}
	r.files = append(r.files, files...)
	return err
}

// take splits the read bytes into lines.
func (r *reader) take(b []byte) error {
	for {
		line, after, found := bytes.Cut(b, []byte{'\n'})
		r.offset += int64(len(b) - len(after))
		if r.long || len(r.rest)+len(line) > maxRecord {
			r.rest, r.long = nil, !found
			b = after
			if !found {
				return nil
			}
			continue
		}
		if !found {
			r.rest = append(r.rest, line...)
			return nil
		}
		if len(r.rest) > 0 {
			line = append(r.rest, line...)
			r.rest = r.rest[:0]
		}
		if err := r.give(line, false); err != nil {
			return err
		}
		b = after
	}
}

// cut gives the line that a killed shim did not finish.
func (r *reader) cut() error {
	r.long = false
	if len(r.rest) == 0 {
		return nil
	}
	line := r.rest
	r.rest = nil
	return r.give(line, true)
}

func (r *reader) give(line []byte, cut bool) error {
	rec, ok := parseRecord(line)
	if !ok || r.opts.Stream != "" && rec.stream != r.opts.Stream {
		return nil
	}
	t := rec.when()
	if t.Before(r.opts.Since) {
		r.skipped = true
		return nil
	}
	out := swarm.Output{Time: t, Stream: rec.stream, Data: bytes.Clone(rec.text), Partial: rec.partial || cut}
	if !r.skipped {
		out.Dropped = r.dropped
	}
	r.skipped = true
	return r.each(out, r.position())
}

// skipHole skips a hole that begins with the zeros that were read: a sparse file of any
// size is easy to create. A shim makes no holes, so all of it counts as one damaged line.
func (r *reader) skipHole(zeros []byte) {
	r.rest, r.long = nil, r.long || len(r.rest)+len(zeros) > 0
	f := r.files[0]
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	r.offset = at
	switch data, err := f.Seek(at, unix.SEEK_DATA); {
	case err == nil:
		r.offset = data
	case errors.Is(err, unix.ENXIO):
		// No data comes after it.
		r.offset, _ = f.Seek(0, io.SeekEnd)
	}
}

func isZero(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "\x00")) == 0 }
