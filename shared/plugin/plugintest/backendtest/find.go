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
				if err != nil {
					k.fatal("Find: %v", err)
				}
				if _, err := k.Kill(k.ctx, h, gentle()); err != nil {
					k.broken("Kill of what was found: %v", err)
				}
				if st := w.status(); st.State != swarm.StateExited {
					k.broken("the worker is %s after what was found was killed", st.State)
				}
				if st := other.status(); st.State != swarm.StateRunning {
					k.broken("another worker is %s", st.State)
				}
			},
		},
		{
			name: "find-ended", needs: swarm.CapFind,
			rule: "Find finds a worker that ended too",
			run: func(k *kit) {
				w := k.spawn(script.Lines)
				w.ended()
				h, err := w.find(k.subject)
				if err != nil {
					k.fatal("Find: %v", err)
				}
				k.wantExit(k.statusOf(k.subject, h), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "find-nothing", needs: swarm.CapFind,
			rule: "Find of an id that was never spawned is ErrNotFound",
			run: func(k *kit) {
				k.ready(script.Sleep)
				_, err := k.newSpec(script.Sleep).find(k.subject)
				k.wantErr("Find", err, swarm.ErrNotFound)
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
