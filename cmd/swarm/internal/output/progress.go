package output

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/kill"
)

// progressDelay keeps the line from flashing when workers end at once.
const progressDelay = 300 * time.Millisecond

// printEvery is how often Progress prints, without a terminal, what a start waits for.
const printEvery = 10 * time.Second

// Progress shows on one line of a terminal what the starts of workers wait for, which
// workers are still alive and how long they may be. Without a terminal it prints the
// former alone, now and then on a line.
type Progress struct {
	w     io.Writer
	width func() int
	begun time.Time
	quit  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	starts  []start
	waiting []kill.Event
	shown   bool
	stopped bool
}

type start struct {
	worker, text string
	printed      time.Time // without a terminal
}

// NewProgress writes to w, which is no terminal if its width is 0. Stop ends it.
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
func (p *Progress) Event(e kill.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(w kill.Event) bool { return w.Worker == e.Worker })
	if !e.Done {
		p.waiting = append(p.waiting, e)
	}
}

// Start records what the start of a worker waits for; nothing if the text is empty.
func (p *Progress) Start(worker, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.starts, func(s start) bool { return s.worker == worker })
	switch {
	case text == "" && i < 0:
		return
	case text == "":
		p.starts = slices.Delete(p.starts, i, i+1)
	case i < 0:
		i = len(p.starts)
		p.starts = append(p.starts, start{worker: worker, text: text})
	default:
		p.starts[i].text = text
	}
	switch {
	case p.stopped:
	case p.width() > 0:
		p.draw()
	case text != "" && time.Since(p.starts[i].printed) >= printEvery:
		p.starts[i].printed = time.Now()
		fmt.Fprintf(p.w, "swarm: %s\n", p.starts[i])
	}
}

func (s start) String() string { return Visible(s.worker) + ": " + Visible(s.text) }

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
	if line := p.line(now, p.width()-1); line != "" {
		fmt.Fprint(p.w, line)
		p.shown = true
	}
}

// line returns as much as fits of what starts wait for, or else of the workers waited for.
func (p *Progress) line(now time.Time, width int) string {
	if len(p.starts) == 0 {
		return progressLine(p.waiting, now, width)
	}
	texts := make([]string, len(p.starts))
	for i, s := range p.starts {
		texts[i] = s.String()
	}
	return Cut(strings.Join(texts, "; "), width)
}

// progressLine returns as much as fits of "waiting for a (4s), b (4s)", with the longest
// waits last.
func progressLine(waiting []kill.Event, now time.Time, width int) string {
	if len(waiting) == 0 {
		return ""
	}
	waiting = slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b kill.Event) int { return a.Deadline.Compare(b.Deadline) })
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
