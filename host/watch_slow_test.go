package host

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestWatchWarnsAgain: a warning is given once for as long as it holds, and again after all was
// well.
func TestWatchWarnsAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var down atomic.Bool
	var asked atomic.Int32
	r.one.beforeStatus = func(context.Context) error {
		asked.Add(1)
		if down.Load() {
			return errors.New("the host is not there")
		}
		return nil
	}
	r.spawn(t, "w", "one")
	w := r.watch(t)
	warned := func() {
		t.Helper()
		select {
		case text := <-w.warned:
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
		waitFor(t, func() bool { return asked.Load() >= from+n })
	}
	for range 2 {
		down.Store(true)
		warned()
		looks(2)
		if len(w.warned) > 0 {
			t.Errorf("warned again of the same: %q", <-w.warned)
		}
		down.Store(false)
		looks(2)
	}
}

// TestWatchSlowHost: while a host takes its time to answer what a worker in a crash loop wrote
// last, the ends of other workers are recorded, and that of the slow one once it has answered.
func TestWatchSlowHost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapRestart, swarm.CapWatch)
	r.can("two", swarm.CapWatch)
	answer, asked := make(chan struct{}), make(chan struct{}, 10)
	r.one.onOutput = func(ctx context.Context, _ fakeWorker, _ swarm.OutputOptions, each func(swarm.Output) error) error {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return each(swarm.Output{Data: []byte("boom\n")})
	}
	r.spawn(t, "slow", "one", func(q *SpawnRequest) { q.Restart.When = swarm.RestartOnFailure })
	r.spawn(t, "near", "one")
	r.spawn(t, "other", "two")
	w := r.watch(t)
	r.one.change(t, "slow", func(f *fakeWorker) {
		f.State, f.Exit = swarm.StateExited, &swarm.Exit{Code: 7, Cause: swarm.CauseCrashLoop, Time: time.Unix(1700000001, 0)}
	})
	<-asked
	r.two.end(t, "other", swarm.Exit{Code: 3})
	w.expect(t, "[other] FAILED: exit status 3")
	r.one.end(t, "near", swarm.Exit{Code: 4})
	w.expect(t, "[near] FAILED: exit status 4")
	if len(asked) > 0 {
		t.Error("its output is asked for more than once")
	}
	close(answer)
	w.expect(t, "[slow] CRASH LOOP: 5 restarts within 1m0s; last output: boom", "[slow] FAILED: exit status 7")
}
