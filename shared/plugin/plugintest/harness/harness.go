// Package harness runs the cases of a conformance kit, as tests or outside of one, and
// starts the plugins that they are about.
//
// It is imported by the kits next to it, and by the package above them. A case only uses a [T]
// and does not know where it runs.
package harness

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
)

// T holds the methods of a [*testing.T] that a case needs.
type T interface {
	Helper()
	Name() string
	Context() context.Context
	TempDir() string
	Cleanup(f func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Patience is how long a case waits for an event that must happen soon.
const Patience = 20 * time.Second

// pollEvery is how often a condition without an event is checked.
const pollEvery = 5 * time.Millisecond

// ComesTrue waits for a condition, at most [Patience], and reports whether it came true.
func ComesTrue(ctx context.Context, ok func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for !ok() {
		if sleep.For(ctx, pollEvery) != nil {
			return false
		}
	}
	return true
}

// Together calls f n times at the same time, and waits for all calls.
func Together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

var ids atomic.Int64

// run is a text that no other run of a kit on this machine has, whatever its process ids are: what
// a worker leaves behind is known, and ended, by its id.
var run = sync.OnceValue(func() string {
	return strings.ToLower(rand.Text()[:10])
})

// NewID returns an id that no other case has, and a name. All ids have the same length: none is
// a prefix of another.
func NewID() (id, name string) {
	n := ids.Add(1)
	return fmt.Sprintf("plugintest-%s-%06d", run(), n), fmt.Sprintf("w%d", n)
}

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

// Line returns the next line. If none is written within wait, the error is
// [os.ErrDeadlineExceeded].
func (f *FIFO) Line(wait time.Duration) (string, error) {
	_ = f.file.SetReadDeadline(time.Now().Add(wait))
	line, err := f.reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(line, "\n"), nil
}
