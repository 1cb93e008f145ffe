package shim

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/swarmhost/swarm/shared/swarm"
)

// reader reads a log forwards, across rotations: it holds the files open that it
// has not read, so it does not lose what the shim drops meanwhile.
type reader struct {
	dir  string
	opts swarm.OutputOptions
	each func(swarm.Output) error
	// files are oldest first; the first one is being read.
	files []*os.File
	// rest is the unfinished line at the end of what was read.
	rest []byte
	// skipped says that the next piece is not the first one of what is kept, or
	// not the first one that is given to each.
	skipped bool
	// dropped is how much was dropped before the first piece of what is kept.
	dropped int64
}

// begin opens the log where the options say.
func (r *reader) begin() error {
	files, err := openSegments(r.dir)
	if err != nil {
		return err
	}
	r.files = files
	// A log without a record of what was dropped dropped nothing.
	if st, err := readRecord(r.dir); err == nil {
		r.dropped = st.DroppedBytes
	}
	if r.opts.Tail == nil || len(files) == 0 {
		return nil
	}
	at, err := tailPlace(files, max(0, *r.opts.Tail), r.opts.Stream)
	if err != nil || at == (place{}) {
		return err
	}
	r.skipped = true
	closeAll(files[:at.file])
	r.files = files[at.file:]
	_, err = r.files[0].Seek(at.offset, io.SeekStart)
	return err
}

// drain gives all that there is to each. If nothing will be added, that includes
// a line which was cut short.
func (r *reader) drain(ctx context.Context, over bool) error {
	buf := make([]byte, 64<<10)
	for len(r.files) > 0 {
		n, err := r.files[0].Read(buf)
		if err := r.take(buf[:n]); err != nil {
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
		if over && len(r.files) == 1 {
			return r.cut()
		}
		if len(r.files) == 1 {
			return nil
		}
		if err := r.cut(); err != nil {
			return err
		}
		closeAll(r.files[:1])
		r.files = r.files[1:]
	}
	return nil
}

// extend opens what the shim began since.
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

// take splits what was read into lines.
func (r *reader) take(b []byte) error {
	for {
		line, after, found := bytes.Cut(b, []byte{'\n'})
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
	if len(r.rest) == 0 {
		return nil
	}
	line := r.rest
	r.rest = nil
	return r.give(line, true)
}

// give gives a record to each, if the options want it.
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
	return r.each(out)
}

func (r *reader) close() { closeAll(r.files) }
