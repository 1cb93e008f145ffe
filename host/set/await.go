package set

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

// leastAwait is how long to look whether a worker has shown that it is ready which
// has had its time.
const leastAwait = 5 * time.Second

// await waits until a worker is ready. One that ran already is waited for only
// where another one needs it, and only for the rest of its time.
func (u *upping) await(ctx context.Context, out *Outcome, ready host.ReadyRequest) {
	if ready.Timeout == 0 {
		ready.Timeout = host.DefaultReadyTimeout
	}
	if out.Action == Unchanged || out.Action == Differs {
		if !u.needed[out.Name] || ctx.Err() != nil {
			return
		}
		left := ready.Timeout - time.Since(out.Worker.Started)
		ready.Timeout = max(left, min(leastAwait, ready.Timeout))
	}
	if u.req.Waiting != nil {
		u.telling.Lock()
		u.req.Waiting(out.Name, time.Now().Add(ready.Timeout))
		u.telling.Unlock()
	}
	err := u.AwaitReady(ctx, out.Name, ready)
	out.Awaited, out.Ready = true, err == nil
	if out.Err = err; ctx.Err() != nil {
		out.Err = context.Cause(ctx)
	}
	u.tell(u.req.Waited, *out)
}
