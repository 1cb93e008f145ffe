package plugintest

import (
	"context"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

func waitCases() []testCase {
	return []testCase{
		{
			name: "wait-for-the-end", needs: swarm.CapWait,
			rule: "Wait returns when the worker no longer runs, with its status then",
			run: func(k *kit) {
				w := k.ready(Trap)
				var st swarm.Status
				var err error
				var waiting sync.WaitGroup
				waiting.Go(func() { st, err = w.wait() })
				w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true})
				waiting.Wait()
				if err != nil {
					k.fatal("Wait: %v", err)
				}
				k.wantExit(st, swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
			},
		},
		{
			name: "wait-for-what-ended", needs: swarm.CapWait,
			rule: "Wait for a worker that ended returns at once",
			run: func(k *kit) {
				w := k.spawn(Lines)
				w.ended()
				st, err := w.wait()
				if err != nil {
					k.fatal("Wait: %v", err)
				}
				k.wantExit(st, swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "wait-cancelled", needs: swarm.CapWait,
			rule: "Wait obeys its context, and the worker goes on running",
			run: func(k *kit) {
				w := k.ready(Sleep)
				ctx, cancel := context.WithTimeout(k.ctx, shortGrace)
				defer cancel()
				start := time.Now()
				_, err := k.Backend.(swarm.Waiter).Wait(ctx, w.handle)
				k.wantErr("Wait", err, context.DeadlineExceeded)
				if took := time.Since(start); took > patience {
					k.broken("it took %v", took)
				}
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("the worker is %s", st.State)
				}
			},
		},
		{
			name: "wait-bad-handle", needs: swarm.CapWait,
			rule: "Wait for a handle that can't be read is ErrInvalidHandle",
			run: func(k *kit) {
				ctx, cancel := k.limited()
				defer cancel()
				_, err := k.Backend.(swarm.Waiter).Wait(ctx, swarm.Handle{Version: 1, Data: []byte("plugintest: not a handle")})
				k.wantErr("Wait", err, swarm.ErrInvalidHandle)
			},
		},
	}
}

// wait waits for the end of the worker.
func (w *worker) wait() (swarm.Status, error) {
	ctx, cancel := w.k.limited()
	defer cancel()
	return w.k.Backend.(swarm.Waiter).Wait(ctx, w.handle)
}
