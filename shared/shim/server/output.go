package server

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/shim/server/nowait"
	"github.com/swarmhost/swarm/shared/shim/server/record"
	"github.com/swarmhost/swarm/shared/shim/server/view"
)

// readSize is how much of a stream is read at once. All of it is logged with the same time.
const readSize = 32 << 10

// output carries one stream of the worker into the log.
type output struct {
	from   *os.File
	stream record.Stream
	log    *record.Log
	raw    *record.Transcript
	// view shows the same bytes, which come from the terminal inner; nil if there is
	// none.
	view  *view.View
	inner *pty.Terminal
}

// copy reads until the end of the stream, or until it is empty after finish.
func (o *output) copy(done chan<- *output) {
	buf := make([]byte, readSize)
	from := nowait.NewReader(o.from)
	for {
		n, err := from.Read(buf)
		o.put(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.drain(buf)
			break
		}
		if err != nil {
			break
		}
	}
	o.from.Close()
	done <- o
}

func (o *output) put(b []byte) {
	if len(b) == 0 {
		return
	}
	o.log.Append(o.stream, b, time.Now())
	o.raw.Append(b)
	if o.view != nil {
		o.inner.Saw(b)
		o.view.Show(b)
	}
}

// finish makes copy read the present output and then stop: once the worker has ended, a
// process that still holds the other end does not belong to it.
func (o *output) finish() {
	_ = o.from.SetReadDeadline(time.Now())
	if o.view != nil {
		// A terminal without a reader must not block the shim.
		o.view.Finish(time.Second)
	}
}

// drain reads the contents of the pipe, but not more than a pipe holds, in case another
// process continues to write.
func (o *output) drain(buf []byte) {
	_ = o.from.SetReadDeadline(time.Time{})
	raw, err := o.from.SyscallConn()
	if err != nil {
		return
	}
	for left := pipeSize; left > 0; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf)
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		o.put(buf[:n])
		left -= n
	}
}
