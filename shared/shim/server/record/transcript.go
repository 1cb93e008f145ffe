package record

import (
	"os"
	"strconv"
	"sync"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// block is the unit of the size and the offset of a hole: that of most file systems,
	// which otherwise only write zeros.
	block = 4 << 10
	// holes is into how many holes the space of a transcript is divided.
	holes = 16
)

// Transcript is the raw output. Its newest part is kept, within a cap, at offsets that
// never change; older output becomes one hole.
type Transcript struct {
	calls sync.Locker // it is held for all that follows
	file  *os.File
	limit int64
	step  int64 // the least that is dropped at once
	size  int64 // of file
	hole  int64 // where it ends
	// open says that the last line has no newline yet.
	open bool
	// full says that no more is written, since nothing can be dropped.
	full bool
	// missed is how much could not be written since the last successful write.
	missed int64
	// punch makes the hole, where that can be done.
	punch func(f *os.File, from, size int64) error
}

// OpenTranscript makes the transcript in the working directory. It holds at most limit
// bytes; [rundir.DefaultOutputLimit] if limit is not positive. It holds calls while it works with
// the file, as a log does.
func OpenTranscript(limit int64, calls sync.Locker) (*Transcript, error) {
	f, err := safefile.Create(swarm.TranscriptFile)
	if err != nil {
		return nil, err
	}
	return newTranscript(f, limit, calls), nil
}

func newTranscript(f *os.File, limit int64, calls sync.Locker) *Transcript {
	if limit <= 0 {
		limit = rundir.DefaultOutputLimit
	}
	return &Transcript{calls: calls, file: f, limit: limit, step: max(limit/holes/block, 1) * block, punch: punch}
}

// Append writes the bytes of one read. A nil transcript discards them.
func (t *Transcript) Append(b []byte) {
	if t == nil {
		return
	}
	t.calls.Lock()
	defer t.calls.Unlock()
	if t.full {
		return
	}
	text := b
	if t.missed > 0 {
		text = append(t.missing(), b...)
	}
	if !t.write(text) {
		t.missed += int64(len(b))
		return
	}
	t.missed = 0
	t.drop()
}

func (t *Transcript) write(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if _, err := t.file.WriteAt(b, t.size); err != nil {
		_ = t.file.Truncate(t.size)
		return false
	}
	t.size += int64(len(b))
	t.open = b[len(b)-1] != '\n'
	return true
}

// drop makes a hole of the oldest part beyond the limit.
func (t *Transcript) drop() {
	excess := t.size - t.limit
	if excess <= t.hole {
		return
	}
	end := (excess + t.step - 1) / t.step * t.step
	if end > t.size {
		end = t.size / block * block
	}
	if end <= t.hole {
		return
	}
	if err := t.punch(t.file, t.hole, end-t.hole); err != nil {
		t.full = true
		t.write(t.mark("this file is full: what follows is in the log only"))
		return
	}
	t.hole = end
}

// missing says how much could not be written.
func (t *Transcript) missing() []byte {
	return t.mark(strconv.FormatInt(t.missed, 10) + " bytes of output could not be written")
}

// mark returns a line of the shim's own.
func (t *Transcript) mark(text string) []byte {
	line := swarm.TranscriptMark + text + "]\n"
	if t.open {
		line = "\n" + line
	}
	return []byte(line)
}

// Close ends it. It is not made durable: that is the log.
func (t *Transcript) Close() {
	if t == nil {
		return
	}
	t.calls.Lock()
	defer t.calls.Unlock()
	if t.missed > 0 {
		t.write(t.missing())
	}
	t.file.Close()
}

// Remove closes and removes a transcript that nothing was written to.
func (t *Transcript) Remove() {
	t.Close()
	_ = os.Remove(swarm.TranscriptFile)
}
