package kill

import (
	"context"
	"errors"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	shimclient "github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A worker whose plugin was removed, speaks another contract or can't read the worker's
// handle is not out of reach if it has a shim: the host asks that itself. The run directory
// follows from the state directory and the id.

// isMute reports whether a backend could not be asked about a worker, now and later. asked
// says that its plugin was there to be asked. A plugin that is slow or ends in a call is
// another matter: it may answer the next time.
func isMute(ctx context.Context, err error, asked bool) bool {
	switch {
	case err == nil, ctx.Err() != nil:
		return false
	case errors.Is(err, swarm.ErrInvalidHandle):
		return true
	default:
		return !asked && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) && !errors.Is(err, client.ErrPluginGone)
	}
}

// hasShim reports whether a shim was started on this machine for a worker, alive or not.
func (k *Killer) hasShim(id string) bool {
	s, err := statedir.ReadStatus(k.Dir.RunDir(id))
	return err == nil && s.ID == id
}

// shimStatus returns how a worker is whose backend can't be asked, as its shim says.
func (k *Killer) shimStatus(rec registry.Record) (swarm.StatusResult, bool) {
	if !k.hasShim(rec.ID) {
		return swarm.StatusResult{}, false
	}
	s, err := shimclient.Status(k.Dir.RunDir(rec.ID), rec.ID)
	return swarm.StatusResult{Status: s}, err == nil
}

// observed returns the workers of recs as they are now. One that its backend does not know,
// or can't be asked about, is as its shim says; mute[i] is why the shim was asked.
func (k *Killer) observed(ctx context.Context, recs []registry.Record) (ws []worker.Worker, mute []string) {
	ws, mute = k.Roster.Observe(ctx, recs), make([]string, len(recs))
	for i := range ws {
		if ws[i].Status != worker.StatusUnknown || ctx.Err() != nil {
			continue
		}
		if s, ok := k.shimStatus(recs[i]); ok {
			mute[i] = ws[i].Reason
			ws[i].Apply(s)
		}
	}
	return ws, mute
}

// byShim is a kill that the shims of workers carry out without their backend.
type byShim struct {
	at   []int
	errs []error
}

func (b *byShim) add(at int, err error) { b.at, b.errs = append(b.at, at), append(b.errs, err) }

// run ends the workers of a group, all at once. An error of a shim that says nothing of the
// worker leaves that of the backend.
func (b *byShim) run(ctx context.Context, k *killRun, g *backend.Group, answer func(i int, res swarm.KillResult, err error)) {
	var wg sync.WaitGroup
	for n, i := range b.at {
		wg.Go(func() {
			rec := g.Recs[i]
			k.byShim.Store(rec.ID, b.errs[n])
			res, err := shimclient.Kill(ctx, k.Dir.RunDir(rec.ID), rec.ID, k.req.options(rec.Kill))
			if err != nil && !errors.Is(err, swarm.ErrSurvivors) {
				err = errors.Join(b.errs[n], err)
			}
			answer(i, res, err)
		})
	}
	wg.Wait()
}
