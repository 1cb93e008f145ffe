package backendtest

import (
	"errors"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func listCases() []testCase {
	return []testCase{
		{
			name: "list-running", needs: swarm.CapList,
			rule: "List tells once of each worker, with its id, name and command, and with a handle that is as good as its own",
			run: func(k *kit) {
				w, other := k.ready(script.Sleep), k.ready(script.Sleep)
				all := k.listed(k.open(k.T))
				for _, w := range []*worker{w, other} {
					l := w.among(all)
					if l.Spec.Name != w.spec.Name || !slices.Equal(l.Spec.Command, w.spec.Command) {
						k.broken("it tells of %s %q, spawned was %s %q", l.Spec.Name, l.Spec.Command, w.spec.Name, w.spec.Command)
					}
					if l.Status.State != swarm.StateRunning {
						k.broken("it says that a running worker is %s", l.Status.State)
					}
				}
				if _, err := k.Kill(k.ctx, w.among(all).Handle, gentle()); err != nil {
					k.broken("Kill of what was listed: %v", err)
				}
				if st := w.status(); st.State != swarm.StateExited {
					k.broken("the worker is %s after what was listed was killed", st.State)
				}
				if st := other.status(); st.State != swarm.StateRunning {
					k.broken("another worker is %s", st.State)
				}
			},
		},
		{
			name: "list-ended", needs: swarm.CapList,
			rule: "List tells of a worker that has ended, as Status does",
			run: func(k *kit) {
				w := k.spawn(script.Lines)
				w.ended()
				k.wantExit(w.among(k.listed(k.subject)).Status, swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			},
		},
		{
			name: "list-stops", needs: swarm.CapList,
			rule: "List returns an error of each as it is, and calls it no more",
			run: func(k *kit) {
				k.ready(script.Sleep)
				k.ready(script.Sleep)
				ctx, cancel := k.limited()
				defer cancel()
				enough, calls := errors.New("enough"), 0
				err := k.Backend.(swarm.Lister).List(ctx, func(swarm.Listed) error {
					calls++
					return enough
				})
				k.wantErr("List", err, enough)
				if calls != 1 {
					k.broken("each was called %d times", calls)
				}
			},
		},
	}
}

func (k *kit) listed(s subject) []swarm.Listed {
	k.Helper()
	ctx, cancel := k.limited()
	defer cancel()
	var all []swarm.Listed
	err := s.Backend.(swarm.Lister).List(ctx, func(l swarm.Listed) error {
		all = append(all, l)
		return nil
	})
	if err != nil {
		k.fatal("List: %v", err)
	}
	return all
}

func (w *worker) among(all []swarm.Listed) swarm.Listed {
	w.k.Helper()
	var own []swarm.Listed
	for _, l := range all {
		if l.Spec.ID == w.spec.ID {
			own = append(own, l)
		}
	}
	if len(own) != 1 {
		w.k.fatal("List tells of a worker %d times", len(own))
	}
	return own[0]
}
