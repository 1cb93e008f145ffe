package server

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// stream is one of the worker's outputs, as the CRI log format calls it.
type stream string

const (
	stdout stream = "stdout"
	stderr stream = "stderr"
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

// log writes the worker's output. It keeps the newest within a cap and never
// makes the worker wait for more than the file system does: what can't be written
// is counted and dropped.
type log struct {
	// dropped has a value when something was dropped since it was last read.
	dropped chan struct{}
	// lost counts output that is no longer in any file. Reading it never waits for the
	// disk.
	lost struct{ bytes, lines atomic.Int64 }

	mu      sync.Mutex
	file    *os.File
	segment int64 // how long a file may become
	size    int64 // of file
	// kept counts what is in each file, [0] in the newest.
	kept [rundir.Segments]volume
	buf  []byte
	// pending is the part of the log that is in buf.
	pending volume
}

// volume counts the output itself, without the headers of records.
type volume struct{ bytes, lines int64 }

func (v *volume) add(w volume) {
	v.bytes += w.bytes
	v.lines += w.lines
}

func openLog(limit int64) (*log, error) {
	if limit <= 0 {
		limit = rundir.DefaultOutputLimit
	}
	l := &log{dropped: make(chan struct{}, 1), segment: max(limit/rundir.Segments, minSegment)}
	l.buf = make([]byte, 0, min(batch, l.segment))
	var err error
	l.file, err = createLog()
	return l, err
}

func createLog() (*os.File, error) {
	return safefile.Create(rundir.LogFile)
}

// append writes the bytes of one read. Text without a newline becomes a partial record, so
// that nothing is held back.
func (l *log) append(s stream, b []byte, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var head [header]byte
	h := now.UTC().AppendFormat(head[:0], timeLayout)
	h = append(h, ' ')
	h = append(h, s...)
	h = append(h, " P "...)
	room := cap(l.buf) - len(h) - 1
	for len(b) > 0 {
		text, tag, used := b, byte('P'), len(b)
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			text, tag, used = b[:i], 'F', i+1
		}
		if most := min(maxText, room); len(text) > most {
			text, tag, used = text[:most], 'P', most
		}
		h[len(h)-2] = tag
		l.record(h, text)
		l.pending.bytes += int64(used)
		if tag == 'F' {
			l.pending.lines++
		}
		b = b[used:]
	}
	l.flush()
}

func (l *log) record(head, text []byte) {
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
	l.buf = append(append(append(l.buf, head...), text...), '\n')
}

// flush writes all pending records or none: half a record would damage the next.
func (l *log) flush() {
	if len(l.buf) == 0 {
		return
	}
	var err error
	if l.file == nil {
		l.file, err = createLog()
	}
	if err == nil {
		_, err = l.file.WriteAt(l.buf, l.size)
	}
	if err == nil {
		l.size += int64(len(l.buf))
		l.kept[0].add(l.pending)
	} else {
		if l.file != nil {
			_ = l.file.Truncate(l.size)
		}
		l.drop(l.pending)
	}
	l.pending = volume{}
	l.buf = l.buf[:0]
}

func (l *log) drop(v volume) {
	if v == (volume{}) {
		return
	}
	l.lost.bytes.Add(v.bytes)
	l.lost.lines.Add(v.lines)
	select {
	case l.dropped <- struct{}{}:
	default:
	}
}

// rotate makes room for a new file, and the oldest goes.
func (l *log) rotate() {
	if l.file != nil {
		l.file.Close()
	}
	for i := rundir.Segments - 1; i > 0; i-- {
		_ = os.Rename(logName(i-1), logName(i))
	}
	l.drop(l.kept[rundir.Segments-1])
	copy(l.kept[1:], l.kept[:])
	l.kept[0], l.size = volume{}, 0
	l.file, _ = createLog()
}

func logName(i int) string {
	if i == 0 {
		return rundir.LogFile
	}
	return rundir.LogFile + "." + strconv.Itoa(i)
}

// drops returns how much output was dropped.
func (l *log) drops() volume {
	return volume{bytes: l.lost.bytes.Load(), lines: l.lost.lines.Load()}
}

// close makes all that was written durable.
func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	// Most workers of a crowd that is killed at once have written nothing.
	if info, err := l.file.Stat(); err != nil || info.Size() > 0 {
		_ = l.file.Sync()
	}
	l.file.Close()
	l.file = nil
}

func (l *log) remove() {
	l.close()
	_ = os.Remove(rundir.LogFile)
}
