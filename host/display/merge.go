package display

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// logPiece is a piece of a worker's output, or the beginning of its next run.
type logPiece struct {
	swarm.Output
	// run is set for the beginning of a run.
	run *worker.Worker
	// read is when it was read.
	read time.Time
}

// While workers are followed, a piece is held back until it is clear that no other worker
// wrote an older one: for firstPatience after the beginning, in which all report what they
// have, and for morePatience after each piece of the other worker. No piece is held back
// for longer than morePatience after it was read, or linePatience if the line of another
// worker continues.
const (
	firstPatience = 250 * time.Millisecond
	morePatience  = 50 * time.Millisecond
	linePatience  = 250 * time.Millisecond
)

// queued is how many pieces of one worker are read ahead.
const queued = 64

// logSource is the output of one worker on its way.
type logSource struct {
	pieces chan logPiece
	// end is valid once pieces is closed.
	end LogsEnd

	// head is the next piece; nil: it has not come yet.
	head *logPiece
	// over says that all pieces were given.
	over bool
	// open says that the line of the last piece continues.
	open bool
	// until is the time until which the next piece is waited for; zero: without a limit.
	until time.Time
}

// source reads the output of one worker: it gives each piece, and returns how it ended.
type source = func(ctx context.Context, give func(logPiece) error) LogsEnd

// arrivals are sources that come while others are followed.
type arrivals struct {
	// watch calls wake when there are some, until ctx ends.
	watch func(ctx context.Context, wake func())
	// take returns those that have come since the last call.
	take func() []source
}

// merge reads all sources at once and gives their pieces in the order of their times. Each
// source gives its own pieces in order. ended is called for each after its last piece. later
// are sources that come while it reads; nil if none can come.
func merge(ctx context.Context, read []source, follow bool, each func(int, logPiece) error, ended func(LogsEnd), later *arrivals) error {
	if len(read) == 1 && later == nil {
		var failed error
		end := read[0](ctx, func(p logPiece) error {
			failed = each(0, p)
			return failed
		})
		if failed != nil || ctx.Err() != nil {
			return cmp.Or(failed, context.Cause(ctx))
		}
		ended(end)
		return nil
	}
	m := &merger{begun: time.Now(), follow: follow, wake: make(chan struct{}, 1), each: each, ended: ended, later: later}
	ctx, cancel := context.WithCancel(ctx)
	defer m.readers.Wait()
	defer cancel()
	for _, r := range read {
		m.add(ctx, r, firstPatience)
	}
	if later != nil {
		m.readers.Go(func() { later.watch(ctx, func() { wake.Up(m.wake) }) })
	}
	return m.run(ctx)
}

// add begins to read a source.
func (m *merger) add(ctx context.Context, read source, patience time.Duration) {
	s := &logSource{pieces: make(chan logPiece, queued)}
	m.sources = append(m.sources, s)
	m.await(s, patience)
	m.readers.Go(func() {
		s.end = read(ctx, func(p logPiece) error {
			p.Data, p.read = bytes.Clone(p.Data), time.Now()
			select {
			case s.pieces <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
			wake.Up(m.wake)
			return nil
		})
		close(s.pieces)
		wake.Up(m.wake)
	})
}

// merger puts the pieces of several sources in order.
type merger struct {
	begun   time.Time
	sources []*logSource
	follow  bool
	// wake has a value when a source has something new.
	wake  chan struct{}
	each  func(int, logPiece) error
	ended func(LogsEnd)
	// line is the source in whose line the last piece was.
	line *logSource
	// later are more sources, or nil.
	later *arrivals
	// readers are the goroutines that read the sources.
	readers sync.WaitGroup
}

// await sets how long the next piece of a source is waited for.
func (m *merger) await(s *logSource, patience time.Duration) {
	if m.follow {
		s.until = time.Now().Add(patience)
	}
}

func (m *merger) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m.later != nil {
			for _, read := range m.later.take() {
				m.add(ctx, read, morePatience)
			}
		}
		if m.fetch() == len(m.sources) {
			return nil
		}
		next, wait := m.choose(time.Now())
		if next >= 0 {
			if err := m.give(next); err != nil {
				return err
			}
			continue
		}
		// Without a limit, only a source can end the wait.
		var limit <-chan time.Time
		if wait > 0 {
			limit = time.After(wait)
		}
		select {
		case <-ctx.Done():
		case <-m.wake:
		case <-limit:
		}
	}
}

func (m *merger) fetch() (over int) {
	for _, s := range m.sources {
		if s.head == nil && !s.over {
			select {
			case p, more := <-s.pieces:
				if more {
					s.head = &p
				} else {
					s.over = true
					m.ended(s.end)
				}
			default:
			}
		}
		if s.over {
			over++
		}
	}
	return over
}

// choose returns the source whose piece is next, or -1 and how long to wait for an older
// one; 0: until a source has something new.
func (m *merger) choose(now time.Time) (next int, wait time.Duration) {
	if s := m.line; s != nil && s.open && !s.over && !m.overdue(now) {
		// Its line continues, and the lines of others wait for its end.
		if left, patient := s.patience(now); s.head == nil && patient {
			return -1, left
		}
		if s.head != nil {
			return slices.Index(m.sources, s), 0
		}
	}
	next = -1
	for i, s := range m.sources {
		switch {
		case s.over:
		case s.head != nil:
			if next < 0 || s.head.before(m.sources[next].head) {
				next = i
			}
		default:
			left, patient := s.patience(now)
			if patient && left == 0 {
				return -1, 0
			}
			if patient && (wait == 0 || left < wait) {
				wait = left
			}
		}
	}
	if wait > 0 && next >= 0 {
		wait = min(wait, m.due(m.sources[next].head, morePatience).Sub(now))
	}
	if wait > 0 {
		return -1, wait
	}
	return next, 0
}

func (m *merger) due(p *logPiece, patience time.Duration) time.Time {
	due := p.read.Add(patience)
	if first := m.begun.Add(firstPatience); first.After(due) {
		due = first
	}
	return due
}

func (m *merger) overdue(now time.Time) bool {
	return m.follow && slices.ContainsFunc(m.sources, func(s *logSource) bool {
		return s.head != nil && s != m.line && now.After(m.due(s.head, linePatience))
	})
}

// patience reports whether the next piece of a source is still waited for, and how long;
// 0: without a limit.
func (s *logSource) patience(now time.Time) (left time.Duration, patient bool) {
	if s.until.IsZero() {
		return 0, true
	}
	left = s.until.Sub(now)
	return left, left > 0
}

// before reports whether p goes before q. The beginning of a run goes first.
func (p *logPiece) before(q *logPiece) bool {
	if (p.run != nil) != (q.run != nil) {
		return p.run != nil
	}
	return p.Time.Before(q.Time)
}

func (m *merger) give(i int) error {
	s := m.sources[i]
	p := *s.head
	s.head, s.open, m.line = nil, p.run == nil && p.Partial, s
	m.await(s, morePatience)
	return m.each(i, p)
}
