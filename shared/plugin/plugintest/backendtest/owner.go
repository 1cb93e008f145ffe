package backendtest

import (
	"errors"
	"os/exec"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func ownerCases() []testCase {
	return []testCase{
		newCase("owner-ends", scope{needs: swarm.CapOwner, local: true},
			"a worker is killed once its owner has ended, however the owner ended",
			func(k *kit) {
				owner, end := k.process()
				w := k.newSpec(script.Stubborn)
				w.spec.Owner = &owner
				w.start()
				w.wantLine("ready")
				end()
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseOwner})
			}),
		newCase("owner-lives", scope{needs: swarm.CapOwner, local: true},
			"a worker whose owner is alive keeps running and can be killed",
			func(k *kit) {
				owner, _ := k.process()
				w := k.newSpec(script.Sleep)
				w.spec.Owner = &owner
				w.start()
				w.wantLine("ready")
				w.wantState(swarm.StateRunning, "the worker")
				w.kill(gentle())
				if st := w.status(); st.Exit == nil || st.Exit.Cause != swarm.CauseKilled {
					k.Broken("the status is %+v, exit %+v", st, st.Exit)
				}
			}),
		newCase("owner-had-ended", scope{needs: swarm.CapOwner, local: true},
			"a worker whose owner has already ended is not spawned, or is killed at once",
			func(k *kit) {
				owner, end := k.process()
				end()
				w := k.newSpec(script.Sleep)
				w.spec.Owner = &owner
				if err := w.tryStart(k.Ctx); err != nil {
					if !errors.Is(err, swarm.ErrInvalidSpec) && !errors.Is(err, swarm.ErrNotFound) {
						k.Broken("Spawn: %v", err)
					}
					return
				}
				if st := w.ended(); st.Exit == nil || st.Exit.Cause != swarm.CauseOwner {
					k.Broken("the status is %+v, exit %+v", st, st.Exit)
				}
			}),
	}
}

// process starts a process that can be an owner, and returns what ends it.
func (k *kit) process() (owner swarm.Owner, end func()) {
	k.Helper()
	cmd := exec.CommandContext(k.Ctx, "sleep", "3600")
	if err := cmd.Start(); err != nil {
		k.Fatalf("start an owner: %v", err)
	}
	end = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	k.Cleanup(end)
	id, err := proc.Identify(cmd.Process.Pid)
	if err != nil {
		k.Fatalf("identify the owner: %v", err)
	}
	return swarm.Owner{PID: id.PID, Start: id.Start, Boot: id.Boot}, end
}
