package watch_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestWatchWarnsAgain: a warning is given once for as long as it holds, and again after all was
// well.
func TestWatchWarnsAgain(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	var down atomic.Bool
	var asked atomic.Int32
	r.One.BeforeStatus = func(context.Context) error {
		asked.Add(1)
		if down.Load() {
			return errors.New("the host is not there")
		}
		return nil
	}
	r.MustSpawn(t, "w", "one")
	w := r.StartWatch(t)
	warned := func() {
		t.Helper()
		select {
		case text := <-w.Warnings:
			if !strings.HasPrefix(text, "cannot watch 'w': ") {
				t.Errorf("warned %q", text)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("not warned")
		}
	}
	looks := func(n int32) {
		t.Helper()
		from := asked.Load()
		hosttest.WaitFor(t, func() bool { return asked.Load() >= from+n })
	}
	for range 2 {
		down.Store(true)
		warned()
		looks(2)
		if len(w.Warnings) > 0 {
			t.Errorf("warned again of the same: %q", <-w.Warnings)
		}
		down.Store(false)
		looks(2)
	}
}

// TestWatchSlowHost: while a host takes its time to answer what a worker in a crash loop wrote
// last, the ends of other workers are recorded, and that of the slow one once it has answered.
func TestWatchSlowHost(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapRestart, swarm.CapWatch)
	r.Announce("two", swarm.CapWatch)
	answer, asked := make(chan struct{}), make(chan struct{}, 10)
	r.One.OnOutput = func(ctx context.Context, _ hosttest.Worker, _ swarm.OutputOptions, each func(swarm.Output) error) error {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return each(swarm.Output{Data: []byte("boom\n")})
	}
	r.MustSpawn(t, "slow", "one", func(q *spawn.Request) { q.Restart.When = swarm.RestartOnFailure })
	r.MustSpawn(t, "near", "one")
	r.MustSpawn(t, "other", "two")
	w := r.StartWatch(t)
	r.One.Change(t, "slow", func(f *hosttest.Worker) {
		f.State, f.Exit = swarm.StateExited, &swarm.Exit{Code: 7, Cause: swarm.CauseCrashLoop, Time: time.Unix(1700000001, 0)}
	})
	<-asked
	r.Two.End(t, "other", swarm.Exit{Code: 3})
	w.Expect(t, "[other] FAILED: exit status 3")
	r.One.End(t, "near", swarm.Exit{Code: 4})
	w.Expect(t, "[near] FAILED: exit status 4")
	if len(asked) > 0 {
		t.Error("its output is asked for more than once")
	}
	close(answer)
	w.Expect(t, "[slow] CRASH LOOP: 5 restarts within 1m0s; last output: boom", "[slow] FAILED: exit status 7")
}
