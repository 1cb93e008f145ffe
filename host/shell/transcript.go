package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// transcript is the output file of a shell, see [swarm.TranscriptFile].
type transcript struct {
	file *os.File
	// over says that nothing more is written.
	over bool
	// lines says that only whole lines are wanted.
	lines bool
}

type passage struct {
	text []byte
	// end is where it ends in the file.
	end int64
	// dropped is how much there was before the text and after what was asked for.
	dropped int64
	// more says that there is more after it.
	more bool
}

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
// holds at most, and where that begins: the bytes before it were dropped.
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
	// The size is read first, so that it leaves out what is written meanwhile.
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

// A command that a caller waits for has its streams apart, which a transcript can't
// have: it has both in one, in the order written. Where it needs one nevertheless, it
// is written from the log.

func makeTranscript(path string) error {
	f, err := safefile.Create(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// transcribe writes the output of a worker to its transcript, with follow until the
// worker has ended. Each byte has its place, so several may do so at the same time.
func transcribe(ctx context.Context, h *host.Host, id, path string, follow bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // each write has returned its error
	offset := int64(0)
	return h.Display().Logs(ctx, id, swarm.OutputOptions{Follow: follow}, func(o swarm.Output) error {
		offset += o.Dropped
		text := o.Data
		if !o.Partial {
			text = append(slices.Clip(text), '\n')
		}
		_, err := f.WriteAt(text, offset)
		offset += int64(len(text))
		return err
	})
}
