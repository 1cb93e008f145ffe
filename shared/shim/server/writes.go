package server

import "sync"

// writes are the pending writes of the status. They run one after the other, concurrently
// with the shim's own goroutine: a hanging disk must not delay a kill.
type writes struct {
	// calls is held by the running one.
	calls sync.Locker
	// ended gets the error of the first one, once.
	ended chan error
	// queue holds the running write first.
	queue []write
}

type write struct {
	// begin prepares it, in the shim's goroutine, and returns what writes.
	begin func() func() error
	// end follows it, in the shim's goroutine.
	end func(error)
}

func (w *writes) underWay() bool { return len(w.queue) > 0 }

func (w *writes) add(next write) {
	w.queue = append(w.queue, next)
	if len(w.queue) == 1 {
		w.start()
	}
}

func (w *writes) start() {
	work := w.queue[0].begin()
	go func() {
		w.calls.Lock()
		err := work()
		w.calls.Unlock()
		w.ended <- err
	}()
}

// next follows the end of the first one, and begins the one after it.
func (w *writes) next(err error) {
	first := w.queue[0]
	w.queue = w.queue[1:]
	if len(w.queue) > 0 {
		w.start()
	} else {
		w.queue = nil
	}
	first.end(err)
}

// finish waits for all of them.
func (w *writes) finish() {
	for w.underWay() {
		w.next(<-w.ended)
	}
}
