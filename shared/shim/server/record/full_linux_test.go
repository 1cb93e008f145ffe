package record

import (
	"os"
	"sync"
	"testing"
	"time"
)

// full opens a file that takes nothing, as on a full disk.
func full(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// A log that can't be written does not stop the worker, and counts the missing
// output.
func TestLogCannotBeWritten(t *testing.T) {
	t.Parallel()
	l := &Log{Dropped: make(chan struct{}, 1), segment: 1 << 20, buf: make([]byte, 0, batch), calls: new(sync.Mutex), file: File(full(t).Fd())}
	for range 1000 {
		l.Append(Stdout, []byte("line\n"), time.Now())
	}
	if got := l.Drops(); got != (Volume{Bytes: 5000, Lines: 1000}) {
		t.Errorf("dropped %+v", got)
	}
	select {
	case <-l.Dropped:
	default:
		t.Error("no client is notified")
	}
}

// Neither is a transcript, which remembers that something is missing.
func TestTranscriptCannotBeWritten(t *testing.T) {
	t.Parallel()
	tr := newTranscript(full(t), 0, new(sync.Mutex))
	tr.Append([]byte("one\n"))
	tr.Append([]byte("two\n"))
	if tr.missed != 8 || tr.size != 0 {
		t.Errorf("%d bytes missed, %d written", tr.missed, tr.size)
	}
}
