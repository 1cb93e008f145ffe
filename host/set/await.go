package set

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

// await waits until a worker is ready. One that ran already is waited for only
// where another one needs it, and no longer than it has been given: after that
// whoever started it has been told, and what showed it may be gone for long.
func (u *upping) await(ctx context.Context, out *Outcome, ready host.ReadyRequest) {
	if ready.Timeout == 0 {
		ready.Timeout = host.DefaultReadyTimeout
	}
	if out.Action == Unchanged || out.Action == Differs {
		ready.Timeout -= time.Since(out.Worker.Started)
		if !u.needed[out.Name] || ready.Timeout <= 0 {
			return
		}
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
