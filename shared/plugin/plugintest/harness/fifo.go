package harness

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"time"
)

// FIFO is a file to which a worker of this machine writes lines, and from which its case reads
// them.
type FIFO struct {
	file   *os.File
	reader *bufio.Reader
}

// NewFIFO makes the FIFO at path. It is closed after the case.
func NewFIFO(t T, path string) *FIFO {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatalf("make FIFO: %v", err)
	}
	// Open for both, or the open would wait for the worker.
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatalf("open FIFO: %v", err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return &FIFO{file: file, reader: bufio.NewReader(file)}
}

// Line returns the next line, for which it waits so long. If there is none by then, the error is
// [os.ErrDeadlineExceeded].
func (f *FIFO) Line(wait time.Duration) (string, error) {
	_ = f.file.SetReadDeadline(time.Now().Add(wait))
	line, err := f.reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(line, "\n"), nil
}
