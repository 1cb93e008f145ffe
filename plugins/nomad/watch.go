package nomad

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// outage is how long to wait for an agent that does not answer.
	outage = 30 * time.Second
	// retryEvery is the pause before the next query after a failure.
	retryEvery = 250 * time.Millisecond
)

// Watch reports every change of the worker's state. It waits for an agent that is being
// restarted.
func (b *Backend) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	r, err := decode(h)
	if err != nil {
		return err
	}
	var last *swarm.Status
	return b.follow(ctx, r, func(st swarm.Status) (bool, error) {
		if last == nil || last.State != st.State {
			last = &st
			if err := each(st); err != nil {
				return true, err
			}
		}
		return isFinal(st), nil
	})
}

// isFinal reports whether a worker in this status will not run again.
func isFinal(st swarm.Status) bool {
	return st.State == swarm.StateExited || st.State == swarm.StateLost
}

// follow calls each with the worker's status now and after every change in its place, until
// each returns false.
func (b *Backend) follow(ctx context.Context, r ref, each func(swarm.Status) (enough bool, err error)) error {
	s, err := b.look(ctx, r.place, r.Job, 0)
	if err != nil {
		return err
	}
	if enough, err := each(b.statusIn(ctx, s, r)); enough || err != nil {
		return err
	}
	s.asked = time.Now()
	f, leave := b.feeds.join(ctx, r.place)
	defer leave()
	for {
		if s, err = f.after(ctx, s); err != nil {
			return err
		}
		if enough, err := each(b.statusIn(ctx, s, r)); enough || err != nil {
			return err
		}
	}
}

// awaitEnd waits for the end of a worker, for so long at most, and returns its status then. It
// does not wait for a node that is away.
func (b *Backend) awaitEnd(ctx context.Context, r ref, limit time.Duration) (swarm.Status, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last swarm.Status
	err := b.follow(limited, r, func(st swarm.Status) (bool, error) {
		last = st
		return isFinal(st) || st.State == swarm.StateUnknown, nil
	})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return b.status(ctx, r)
	}
	return last, err
}

// feeds have one open question to Nomad for each place, however many wait for
// something to happen there: an agent takes 100 connections of one client.
type feeds struct {
	look func(ctx context.Context, at place, job string, index uint64) (snapshot, error)

	mu sync.Mutex
	at map[place]*feed
}

// feed holds the latest snapshot of a place. It lives as long as it has users.
type feed struct {
	stop context.CancelFunc
	over sync.WaitGroup

	mu      sync.Mutex
	users   int
	seen    snapshot
	err     error
	changed chan struct{} // closed at the next snapshot or error
}

// join returns the feed of a place and a function that leaves it.
func (all *feeds) join(ctx context.Context, at place) (f *feed, leave func()) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if f = all.at[at]; f == nil {
		f = &feed{changed: make(chan struct{})}
		ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
		f.over.Go(func() { f.run(ctx, at, all.look) })
		if all.at == nil {
			all.at = make(map[place]*feed)
		}
		all.at[at] = f
	}
	f.users++
	return f, func() { all.leave(at, f) }
}

func (all *feeds) leave(at place, f *feed) {
	all.mu.Lock()
	f.users--
	last := f.users == 0
	if last {
		delete(all.at, at)
	}
	all.mu.Unlock()
	if last {
		f.stop()
		f.over.Wait()
	}
}

// run takes snapshots until it is stopped.
func (f *feed) run(ctx context.Context, at place, look func(context.Context, place, string, uint64) (snapshot, error)) {
	var index uint64
	var failing time.Time
	for ctx.Err() == nil {
		asked := time.Now()
		s, err := look(ctx, at, "", index)
		switch {
		case err == nil:
			s.asked = asked
			if s.index < index {
				// After a restore from a backup the index goes back. The query may have
				// begun before the restore, so waiting calls need the answer to a later
				// one.
				s.index = 0
			}
			index, failing = s.index, time.Time{}
			if index != 0 {
				f.publish(s, nil)
			}
			continue
		case !errors.Is(err, swarm.ErrUnavailable):
			f.publish(snapshot{}, err)
		case failing.IsZero():
			failing = time.Now()
		case time.Since(failing) > outage:
			f.publish(snapshot{}, err)
		}
		_ = sleep.For(ctx, retryEvery)
	}
}

func (f *feed) publish(s snapshot, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.err = s, err
	close(f.changed)
	f.changed = make(chan struct{})
}

// after waits for a snapshot that is newer than the last one.
func (f *feed) after(ctx context.Context, last snapshot) (snapshot, error) {
	for {
		f.mu.Lock()
		s, err, changed := f.seen, f.err, f.changed
		f.mu.Unlock()
		if err != nil || s.newer(last) {
			return s, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return snapshot{}, ctx.Err()
		}
	}
}

// newer reports whether a snapshot was taken after another one. A lower index alone does not
// decide: the snapshot is older, or the engine was restored from a backup since.
func (s snapshot) newer(last snapshot) bool {
	return s.index > last.index || s.index != 0 && s.index < last.index && s.asked.After(last.asked)
}
