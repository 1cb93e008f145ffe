package output

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
)

// progressDelay keeps the line from flashing when workers end at once.
const progressDelay = 300 * time.Millisecond

// Progress shows on one line of a terminal which workers are still alive and how
// long they may be. Without a terminal it shows nothing.
type Progress struct {
	w     io.Writer
	width func() int
	begun time.Time
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	waiting []host.KillEvent
	shown   bool
	stopped bool
}

// NewProgress shows nothing on a terminal of width 0. stop ends it.
func NewProgress(w io.Writer, width func() int) *Progress {
	p := &Progress{w: w, width: width, begun: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	if width() == 0 {
		close(p.done)
		return p
	}
	go p.run()
	return p
}

func (p *Progress) run() {
	defer close(p.done)
	tick := time.NewTicker(progressDelay)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// Event records the beginning or the end of a kill.
func (p *Progress) Event(e host.KillEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(w host.KillEvent) bool { return w.Worker == e.Worker })
	if !e.Done {
		p.waiting = append(p.waiting, e)
	}
}

// Aside takes the line away, prints, and leaves it to the next tick to show it
// again.
func (p *Progress) Aside(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	print()
}

// Stop removes the line and prints no other; it may be called again.
func (p *Progress) Stop() {
	p.mu.Lock()
	if !p.stopped {
		p.stopped = true
		close(p.quit)
	}
	p.mu.Unlock()
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *Progress) draw() {
	now := time.Now()
	if p.stopped || now.Sub(p.begun) < progressDelay {
		return
	}
	p.clear()
	if line := progressLine(p.waiting, now, p.width()-1); line != "" {
		fmt.Fprint(p.w, line)
		p.shown = true
	}
}

// progressLine returns as much as fits of "waiting for a (4s), b (4s)", with the longest
// waits last.
func progressLine(waiting []host.KillEvent, now time.Time, width int) string {
	if len(waiting) == 0 {
		return ""
	}
	waiting = slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b host.KillEvent) int { return a.Deadline.Compare(b.Deadline) })
	parts := make([]string, len(waiting))
	for i, e := range waiting {
		parts[i] = Visible(e.Worker)
		if left := e.Deadline.Sub(now); left > 0 {
			parts[i] = fmt.Sprintf("%s (%ds left)", parts[i], (left+time.Second-1)/time.Second)
		}
	}
	for shown := len(parts); shown > 0; shown-- {
		line := "waiting for " + strings.Join(parts[:shown], ", ")
		if more := len(parts) - shown; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		if len(line) <= width {
			return line
		}
	}
	return fmt.Sprintf("waiting for %d", len(parts))
}
