package backendtest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func deadlineCases() []testCase {
	return []testCase{
		newCase("deadline-in-spawn", scope{needs: swarm.CapFind},
			"after a Spawn that its deadline ended, nothing is left behind, or Find finds the worker and it can be killed",
			func(k *kit) {
				// At any moment: a Spawn takes some milliseconds, more on a busy machine.
				ok, inTime := true, false
				for limit := time.Duration(0); ok && (limit < 10*time.Millisecond || !inTime && limit < patience); {
					ok, inTime = k.deadlineInSpawn(limit)
					if limit < 10*time.Millisecond {
						limit += time.Millisecond
					} else {
						limit *= 2
					}
				}
			}),
		newCase("deadline-in-kill", scope{},
			"a Kill that its deadline ended does not block another Kill",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				for range 3 {
					ctx, cancel := context.WithTimeout(k.Ctx, shortGrace)
					// Another case checks its result.
					_, _ = k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
					cancel()
				}
				w.wantState(swarm.StateRunning, "the worker, which ignores the signal,")
				w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true, Grace: patience})
				w.wantState(swarm.StateExited, "the worker")
			}),
	}
}

// deadlineInSpawn spawns with a short deadline. When the caller is gone, the plugin may be
// undoing the spawn, or may still have the worker. It reports whether nothing remained, and
// whether the Spawn was in time.
func (k *kit) deadlineInSpawn(limit time.Duration) (ok, inTime bool) {
	k.Helper()
	program := script.Sleep
	if k.local {
		program = script.Tree // names its processes, so that they can be checked
	}
	w := k.newSpec(program)
	w.spec.Name = "deadline-" + w.spec.Name
	ctx, cancel := context.WithTimeout(k.Ctx, limit)
	defer cancel()
	_, err := k.Spawn(ctx, w.spec)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		k.Broken("Spawn: %v", err)
	}
	pids := k.parsePIDs(w.readSoon())
	var found error
	gone := harness.ComesTrue(k.Ctx, func() bool {
		var h swarm.Handle
		h, found = w.find(k.subject)
		switch {
		case found == nil:
			_, kill := k.Kill(k.Ctx, h, gentle())
			return kill == nil // or the plugin has undone the Spawn meanwhile
		case !errors.Is(found, swarm.ErrNotFound):
			k.Broken("Find: %v", found)
			return true
		}
		return err != nil && !slices.ContainsFunc(pids, alive)
	})
	if !gone {
		k.Broken("Spawn returned %v, then Find %v, and the worker's processes are %v", err, found, pids)
		k.dead(pids)
	}
	return gone, err == nil
}
