package launch

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin/client"
)

const (
	// againFirst is the first pause before a failed plugin is started again; it doubles
	// with every failure, up to againMost.
	againFirst = time.Second
	againMost  = 30 * time.Second
	// steady is how long a plugin has to run for its end to count as the first
	// failure.
	steady = time.Minute
	// keptOld is how many replaced slots are kept, to report to callers that still hold
	// their clients how the processes ended.
	keptOld = 8
)

type slot struct {
	began time.Time
	// failures counts the slots right before this one that failed in a row.
	failures int
	// begun is closed when the process has begun to run, or never will.
	begun chan struct{}
	// done is closed when the fields below are set.
	done   chan struct{}
	client *client.Client
	proc   *child
	err    error
	// failed is when the start failed.
	failed time.Time

	// deaf is the time since which the process does not serve its connection; closed says
	// that it was replaced and has ended. Set.mu guards both.
	deaf   time.Time
	closed bool
}

// slot returns the slot of a plugin that is not old, making it if need be.
func (s *Set) slot(e catalog.Entry, old *client.Client) (*slot, error) {
	settings, err := encodeConfig(e)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	key := identity(e, settings)
	sl := &slot{began: s.now(), begun: make(chan struct{}), done: make(chan struct{})}
	if before := s.slots[key]; before != nil {
		over, why := before.over()
		restart := before.is(old)
		switch {
		case why == nil && !restart:
			return before, nil
		case why == nil:
			over = s.now()
		}
		sl.failures = before.failures + 1
		if before.proc != nil && over.Sub(before.began) >= steady {
			sl.failures = 1
		}
		if !restart && s.now().Before(over.Add(before.again(sl.failures))) {
			return nil, why
		}
		s.replaced(before)
	}
	s.slots[key] = sl
	go func() {
		defer close(sl.done)
		begun := sync.OnceFunc(func() { close(sl.begun) })
		defer begun()
		sl.proc, sl.client, sl.err = s.start(e, settings, begun)
		sl.failed = s.now()
	}()
	return sl, nil
}

// over returns why the slot is useless any more and since when; nil if it is of
// use, or not started yet. Set.mu is held.
func (sl *slot) over() (at time.Time, why error) {
	select {
	case <-sl.done:
	default:
		return time.Time{}, nil
	}
	switch {
	case sl.err != nil:
		return sl.failed, sl.err
	case !sl.proc.proc.running():
		return sl.proc.proc.ended, sl.proc.crash(true)
	case !sl.deaf.IsZero():
		return sl.deaf, &DeafError{sl.proc.name}
	}
	return time.Time{}, nil
}

// again returns the pause before the next start after that many failures. The first crash
// of a plugin that worked causes none. After a slow failure the pause is at least as long
// as the start.
func (sl *slot) again(failures int) time.Duration {
	if sl.proc != nil {
		failures--
	}
	if failures <= 0 {
		return 0
	}
	// More doublings than that would overflow, and all exceed the limit.
	delay := min(againFirst<<min(failures-1, 10), againMost)
	if sl.proc == nil {
		delay = max(delay, sl.failed.Sub(sl.began))
	}
	return delay
}

func (sl *slot) is(c *client.Client) bool {
	if c == nil {
		return false
	}
	select {
	case <-sl.done:
		return sl.client == c
	default:
		return false
	}
}

// replaced ensures the end of a slot's process. s.mu is held.
func (s *Set) replaced(sl *slot) {
	if sl.proc == nil {
		return
	}
	s.old = append(s.old, sl)
	go func() {
		sl.proc.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		sl.closed = true
		s.forget()
	}()
}

// forget drops the oldest of the replaced slots, if there are too many. A plugin that has
// not ended yet stays, for Close to wait for. s.mu is held.
func (s *Set) forget() {
	for len(s.old) > keptOld {
		i := slices.IndexFunc(s.old, func(sl *slot) bool { return sl.closed })
		if i < 0 {
			return
		}
		s.old = slices.Delete(s.old, i, i+1)
	}
}

// holder returns the slot of a client, nil if the set has forgotten it.
func (s *Set) holder(c *client.Client) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sl := range s.all() {
		if sl.is(c) {
			return sl
		}
	}
	return nil
}

func (s *Set) all() []*slot { return slices.AppendSeq(slices.Clone(s.old), maps.Values(s.slots)) }
