package backendtest

import (
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func findCases() []testCase {
	return []testCase{
		{
			name: "find-running", needs: swarm.CapFind,
			rule: "Find returns a handle of the worker that was spawned with that id",
			run: func(k *kit) {
				w, other := k.ready(script.Sleep), k.ready(script.Sleep)
				h, err := w.find(k.open(k.T))
				k.Must("Find", err)
				_, err = k.Kill(k.Ctx, h, gentle())
				k.Check("Kill of what was found", err)
				w.wantState(swarm.StateExited, "after what was found was killed, the worker")
				other.wantState(swarm.StateRunning, "another worker")
			},
		},
		{
			name: "find-ended", needs: swarm.CapFind,
			rule: "Find also finds a worker that has ended",
			run: func(k *kit) {
				w := k.finished(script.Lines)
				h, err := w.find(k.subject)
				k.Must("Find", err)
				k.wantExit(k.statusOf(k.subject, h), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "find-nothing", needs: swarm.CapFind,
			rule: "Find of an id that was never spawned is ErrNotFound",
			run: func(k *kit) {
				k.ready(script.Sleep)
				_, err := k.newSpec(script.Sleep).find(k.subject)
				k.WantErr("Find", err, swarm.ErrNotFound)
			},
		},
	}
}

func (w *worker) lookup() swarm.Lookup {
	l := swarm.Lookup{ID: w.spec.ID, Name: w.spec.Name, Options: w.spec.Options}
	if w.spec.Local != nil {
		local := *w.spec.Local
		local.HostEnv = nil
		l.Local = &local
	}
	return l
}

func (w *worker) find(s subject) (swarm.Handle, error) {
	ctx, cancel := w.k.limited()
	defer cancel()
	return s.Backend.(swarm.Finder).Find(ctx, w.lookup())
}
