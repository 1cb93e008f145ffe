package agent

import (
	"context"
	"sync"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// AwaitAnswer waits until the shutdown of an agent, by its id or name, has ended:
// [registry.ShutdownConfirmed], [registry.ShutdownRejected] or [registry.ShutdownForceKilled]. The next kill does not return a
// rejection again that this call has returned. Members may wait.
func AwaitAnswer(ctx context.Context, h *host.Host, teamName, who string) (Killed, error) {
	a, err := Look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) (registry.Agent, error) {
		if _, err := team.Member(ctx, tx, caller, teamName); err != nil {
			return registry.Agent{}, err
		}
		return team.Find(ctx, tx, teamName, who)
	})
	if err != nil {
		return Killed{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	// The end of an agent without an answer counts as an answer too, once it is noticed.
	background.Go(func() {
		err := h.Wait(ctx, worker.Selection{Names: []string{a.WorkerID}}, func(worker.Worker) {})
		if err == nil {
			_, _ = h.Sweeper().Sweep(ctx, teamName) // otherwise the next call does it
		}
	})
	var s registry.Shutdown
	err = h.Store().AwaitChange(ctx, func(ctx context.Context) (_ bool, err error) {
		s, err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (registry.Shutdown, error) {
			return tx.LastShutdown(ctx, a.ID)
		})
		return err == nil && s.Phase != registry.ShutdownRequested && s.Phase != registry.ShutdownApproved, err
	})
	if err != nil {
		return Killed{}, err
	}
	out := Killed{Agent: a.ID, Phase: s.Phase, Reason: s.Response, ReassignedTasks: s.Reassigned}
	if s.Phase == registry.ShutdownRejected {
		err = h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return team.Answered(ctx, tx, a.ID) })
	}
	return out, err
}
