package backendtest

import (
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func movedCases() []testCase {
	return []testCase{
		newCase("moved-running", scope{local: true},
			"a running worker can be seen and killed after its run directory was moved, when the host names the new place",
			func(k *kit) {
				w := k.ready(script.Sleep)
				k.move(w)
				w.reopen(nil)
				w.wantState(swarm.StateRunning, "the worker")
				w.kill(gentle())
				w.wantState(swarm.StateExited, "after the kill, the worker")
			}),
		newCase("moved-ended", scope{local: true},
			"the exit of a worker is known after its run directory was moved, when the host names the new place",
			func(k *kit) {
				w := k.spawn(script.Fail)
				before := w.ended()
				k.move(w)
				w.reopen(nil)
				if after := w.status(); after.State != before.State || after.Exit == nil || after.Exit.Code != before.Exit.Code {
					k.Broken("the status was %v before the move, and %v after it", before, after)
				}
			}),
		newCase("moved-output", scope{local: true, needs: swarm.CapOutput},
			"the output of a worker can be read after its run directory was moved, when the host names the new place",
			func(k *kit) {
				w := k.finished(script.Lines)
				k.move(w)
				w.reopen(nil)
				k.wantLines(w.output(swarm.OutputOptions{}), allLines())
			}),
	}
}

// move moves the run directories of the host to another place. The worker's old place has
// another, empty directory then: what is there is no fact.
func (k *kit) move(w *worker) {
	k.Helper()
	old := k.runDirs
	k.keepIn(filepath.Join(k.state, "moved"))
	err := os.Rename(old, k.runDirs)
	if err == nil {
		err = os.MkdirAll(filepath.Join(old, w.spec.ID), 0o700)
	}
	if err != nil {
		k.Fatalf("move the run directories: %v", err)
	}
}
