package shell

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safetext"
)

// transcript is the output file of a shell, see [swarm.TranscriptFile].
type transcript struct {
	file *os.File
	// over says that nothing more is written.
	over bool
	// lines says that only whole lines are wanted.
	lines bool
}

// passage is a part of a transcript.
type passage struct {
	text []byte
	// end is where it ends in the file.
	end int64
	// dropped is how much there was before the text and after what was asked for.
	dropped int64
	// more says that there is more after it.
	more bool
}

// from returns what is to be read from an offset on, at most maxText of it.
func (t *transcript) from(offset int64) (passage, error) {
	start, b, err := t.read(offset)
	if err != nil {
		return passage{end: offset}, err
	}
	p := passage{text: b, dropped: start - offset}
	if len(b) > maxText {
		p.text, p.more = b[:maxText], true
	}
	if p.more || !t.over {
		p.text = t.whole(p.text, p.more)
	}
	p.end = start + int64(len(p.text))
	return p, nil
}

// whole leaves the unfinished line at the end of a text to the next call, or a
// character that is cut in two if there is only that line.
func (t *transcript) whole(b []byte, full bool) []byte {
	if i := bytes.LastIndexByte(b, '\n') + 1; i > 0 {
		return b[:i]
	}
	if t.lines && !full {
		return nil
	}
	return safetext.Whole(b)
}

// read returns what is in the file from an offset on, one byte more than an answer
// holds at most, and where that begins: before it is what was dropped.
func (t *transcript) read(offset int64) (start int64, b []byte, err error) {
	start, err = t.data(offset)
	if err != nil {
		return offset, nil, err
	}
	b = make([]byte, maxText+1)
	n, err := t.file.ReadAt(b, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return offset, nil, err
	}
	b = b[:n]
	// Text that was dropped while it was read may have been read as zeros.
	now, err := t.data(start)
	if err != nil {
		return offset, nil, err
	}
	b = b[min(now-start, int64(n)):]
	return now, b, nil
}

// data returns where what is kept begins, from an offset on.
func (t *transcript) data(offset int64) (int64, error) {
	// Looked at before, the size is not that of what is written meanwhile.
	info, err := t.file.Stat()
	if err != nil || info.Size() <= offset {
		return offset, err
	}
	at, err := t.file.Seek(offset, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return info.Size(), nil
	case errors.Is(err, unix.EINVAL):
		return offset, nil // a file system without holes
	default:
		return at, err
	}
}
