package record

import (
	"bytes"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Stream is one of the worker's outputs, as the CRI log format calls it.
type Stream string

// The streams. All that a terminal program writes is [Stdout].
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

const (
	// maxText is the longest text of one record: a longer line becomes several.
	maxText = 16 << 10
	// batch is the largest size of one write.
	batch = 32 << 10
	// timeLayout is RFC 3339 with exactly nine digits, as in the CRI log format.
	timeLayout = "2006-01-02T15:04:05.000000000Z07:00"
	// header is the largest size of the part before the text of a record.
	header = len(timeLayout) + len(" stdout F ")
	// minSegment holds a record of some use.
	minSegment = 256
)

// names are the files of a log, see [rundir.LogName].
var names = func() (all [rundir.Segments]Name) {
	for i := range all {
		all[i] = NewName(rundir.LogName(i))
	}
	return all
}()

// Log writes the worker's output. It keeps the newest within a cap and never
// makes the worker wait for more than the file system does: what can't be written
// is counted and dropped. Its methods may be called by several goroutines.
type Log struct {
	// Dropped has a value when something was dropped since it was last read.
	Dropped chan struct{}
	// lost counts output that is no longer in any file. Reading it never waits for the
	// disk.
	lost struct{ bytes, lines atomic.Int64 }

	calls   sync.Locker // it is held for all that follows
	file    File
	segment int64 // how long a file may become
	size    int64 // of file
	// began is the time of the first record in file.
	began time.Time
	// kept counts what is in each file, [0] in the newest.
	kept [rundir.Segments]Volume
	buf  []byte
	// pending is the part of the log that is in buf.
	pending Volume
}

// Volume counts the output itself, without the headers of records.
type Volume struct{ Bytes, Lines int64 }

// OpenLog makes the log in the working directory. Its files together hold at most limit
// bytes; [rundir.DefaultOutputLimit] if limit is not positive. The log holds calls while it works
// with them: each goroutine that waits for a disk needs a thread of its own.
func OpenLog(limit int64, calls sync.Locker) (*Log, error) {
	if limit <= 0 {
		limit = rundir.DefaultOutputLimit
	}
	l := &Log{Dropped: make(chan struct{}, 1), calls: calls, segment: max(limit/rundir.Segments, minSegment)}
	l.buf = make([]byte, 0, min(batch, l.segment))
	var err error
	l.file, err = Create(names[0])
	return l, err
}

// Append writes the bytes of one read. Text without a newline becomes a partial record, so
// that nothing is held back.
func (l *Log) Append(s Stream, b []byte, now time.Time) {
	l.calls.Lock()
	defer l.calls.Unlock()
	var head [header]byte
	h := now.UTC().AppendFormat(head[:0], timeLayout)
	h = append(h, ' ')
	h = append(h, s...)
	h = append(h, " P "...)
	space := cap(l.buf) - len(h) - 1
	for len(b) > 0 {
		text, tag, used := b, byte('P'), len(b)
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			text, tag, used = b[:i], 'F', i+1
		}
		if most := min(maxText, space); len(text) > most {
			text, tag, used = text[:most], 'P', most
		}
		h[len(h)-2] = tag
		l.record(now, h, text)
		l.pending.Bytes += int64(used)
		if tag == 'F' {
			l.pending.Lines++
		}
		b = b[used:]
	}
	l.flush()
}

func (l *Log) record(now time.Time, head, text []byte) {
	n := len(head) + len(text) + 1
	switch {
	case l.size+int64(len(l.buf)+n) > l.segment:
		l.flush()
		if l.size > 0 && l.size+int64(n) > l.segment {
			l.rotate()
		}
	case len(l.buf)+n > cap(l.buf):
		l.flush()
	}
	if l.size == 0 && len(l.buf) == 0 {
		l.begin(now, head)
	}
	l.buf = append(append(append(l.buf, head...), text...), '\n')
}

// begin gives the first record of a file a time that no other file begins with: readers know
// a file by it, and one read of a worker's output may fill several files.
func (l *Log) begin(now time.Time, head []byte) {
	if ahead := l.began.Sub(now); ahead >= 0 && ahead < time.Second {
		now = l.began.Add(time.Nanosecond)
		now.UTC().AppendFormat(head[:0], timeLayout)
	}
	l.began = now
}

// flush writes all pending records or none: half a record would damage the next.
func (l *Log) flush() {
	if len(l.buf) == 0 {
		return
	}
	var err error
	if !l.file.isOpen() {
		l.file, err = Create(names[0])
	}
	if err == nil {
		err = l.file.WriteAt(l.buf, l.size)
	}
	if err == nil {
		l.size += int64(len(l.buf))
		l.kept[0].Bytes += l.pending.Bytes
		l.kept[0].Lines += l.pending.Lines
	} else {
		if l.file.isOpen() {
			l.file.truncate(l.size)
		}
		l.drop(l.pending)
	}
	l.pending = Volume{}
	l.buf = l.buf[:0]
}

func (l *Log) drop(v Volume) {
	if v == (Volume{}) {
		return
	}
	l.lost.bytes.Add(v.Bytes)
	l.lost.lines.Add(v.Lines)
	select {
	case l.Dropped <- struct{}{}:
	default:
	}
}

// rotate makes space for a new file, and the oldest goes.
func (l *Log) rotate() {
	_ = l.file.Close()
	for i := len(names) - 1; i > 0; i-- {
		_ = Rename(names[i-1], names[i])
	}
	l.drop(l.kept[rundir.Segments-1])
	copy(l.kept[1:], l.kept[:])
	l.kept[0], l.size = Volume{}, 0
	l.file, _ = Create(names[0])
}

// Drops returns how much output was dropped.
func (l *Log) Drops() Volume {
	return Volume{Bytes: l.lost.bytes.Load(), Lines: l.lost.lines.Load()}
}

// Close makes all that was written durable.
func (l *Log) Close() {
	l.calls.Lock()
	defer l.calls.Unlock()
	if !l.file.isOpen() {
		return
	}
	// Most workers of a crowd that is killed at once have written nothing.
	if l.size > 0 {
		_ = l.file.Sync()
	}
	_ = l.file.Close()
	l.file = closed
}

// Remove closes and removes a log that nothing was written to.
func (l *Log) Remove() {
	l.Close()
	_ = os.Remove(rundir.LogFile)
}
