package launch

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kept is how much of a plugin's standard output is kept for error messages, after how much is
// read after its end.
const (
	kept  = 16 << 10
	after = 256 << 10
)

// pipe is the read end of a plugin's stdout or stderr. It ends when the plugin
// does, even if some other process has inherited the write end.
type pipe struct {
	r *os.File
	// rest is how much may still be read after the plugin's end.
	rest int
	// ended is closed when all was read.
	ended chan struct{}
	once  sync.Once

	// lines, if it is not nil, gets all that is read, and nothing is kept in seen.
	lines io.Writer

	mu sync.Mutex
	// seen is the first that was read.
	seen []byte
}

func newPipe(lines io.Writer) (*pipe, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &pipe{r: r, rest: after, ended: make(chan struct{}), lines: lines}, w, nil
}

// Read reads until the plugin has ended and its output was read.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = p.readRest(b)
	}
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	p.keep(b[:n])
	if err != nil {
		p.once.Do(func() { close(p.ended) })
	}
	return n, err
}

// end says that the plugin has ended: no read waits any more.
func (p *pipe) end() { _ = p.r.SetReadDeadline(time.Unix(1, 0)) }

// readRest reads the contents of the pipe without waiting. The limit is for a process that
// has inherited the other end and writes without end.
func (p *pipe) readRest(b []byte) (n int, err error) {
	b = b[:min(len(b), p.rest)]
	if len(b) == 0 {
		return 0, io.EOF
	}
	conn, err := p.r.SyscallConn()
	if err != nil {
		return 0, io.EOF
	}
	// It uses Control, since Read would return at the deadline without reading.
	if cerr := conn.Control(func(fd uintptr) { n, err = unix.Read(int(fd), b) }); cerr != nil || err != nil || n <= 0 {
		return 0, io.EOF
	}
	p.rest -= n
	return n, nil
}

func (p *pipe) keep(b []byte) {
	if p.lines != nil {
		_, _ = p.lines.Write(b)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, b[:min(len(b), kept-len(p.seen))]...)
}

func (p *pipe) text() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.seen...)
}

// Close makes it an io.ReadCloser; go-plugin never calls it.
func (p *pipe) Close() error { return p.r.Close() }
