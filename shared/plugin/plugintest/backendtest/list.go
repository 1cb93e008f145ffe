package backendtest

import (
	"errors"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func listCases() []testCase {
	return []testCase{
		newCase("find-running", scope{needs: swarm.CapFind},
			"Find returns a handle of the worker that was spawned with that id",
			func(k *kit) {
				w, other := k.ready(script.Sleep), k.ready(script.Sleep)
				h, err := w.find(k.open(k.T))
				k.Must("Find", err)
				_, err = k.Kill(k.Ctx, h, gentle())
				k.Check("Kill of what was found", err)
				w.wantState(swarm.StateExited, "after what was found was killed, the worker")
				other.wantState(swarm.StateRunning, "another worker")
			}),
		newCase("find-ended", scope{needs: swarm.CapFind},
			"Find also finds a worker that has ended",
			func(k *kit) {
				w := k.finished(script.Lines)
				h, err := w.find(k.subject)
				k.Must("Find", err)
				k.wantExit(k.statusOf(k.subject, h), swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			}),
		newCase("find-nothing", scope{needs: swarm.CapFind},
			"Find of an id that was never spawned is ErrNotFound",
			func(k *kit) {
				k.ready(script.Sleep)
				_, err := k.newSpec(script.Sleep).find(k.subject)
				k.WantErr("Find", err, swarm.ErrNotFound)
			}),
		newCase("list-running", scope{needs: swarm.CapList},
			"List returns each worker once, with its id, name and command, and with a handle as good as its own",
			func(k *kit) {
				w, other := k.ready(script.Sleep), k.ready(script.Sleep)
				all := k.listed(k.open(k.T))
				for _, w := range []*worker{w, other} {
					l := w.among(all)
					if l.Spec.Name != w.spec.Name || !slices.Equal(l.Spec.Command, w.spec.Command) {
						k.Broken("List returned %s %q instead of %s %q", l.Spec.Name, l.Spec.Command, w.spec.Name, w.spec.Command)
					}
					if l.Status.State != swarm.StateRunning {
						k.Broken("the listed state of a running worker is %s", l.Status.State)
					}
				}
				_, err := k.Kill(k.Ctx, w.among(all).Handle, gentle())
				k.Check("Kill of what was listed", err)
				w.wantState(swarm.StateExited, "after what was listed was killed, the worker")
				other.wantState(swarm.StateRunning, "another worker")
			}),
		newCase("list-ended", scope{needs: swarm.CapList},
			"List returns the status of a worker that has ended, as Status does",
			func(k *kit) {
				w := k.finished(script.Lines)
				k.wantExit(w.among(k.listed(k.subject)).Status, swarm.Exit{Code: 3, Cause: swarm.CauseExited})
			}),
		newCase("list-stops", scope{needs: swarm.CapList},
			"List returns an error of its callback unchanged and does not call it again",
			func(k *kit) {
				k.ready(script.Sleep)
				k.ready(script.Sleep)
				ctx, cancel := k.limited()
				defer cancel()
				enough, calls := errors.New("enough"), 0
				err := k.Backend.(swarm.Lister).List(ctx, func(swarm.Listed) error {
					calls++
					return enough
				})
				k.WantErr("List", err, enough)
				if calls != 1 {
					k.Broken("the callback was called %d times", calls)
				}
			}),
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
	k.Must("List", err)
	return all
}

func (w *worker) among(all []swarm.Listed) swarm.Listed {
	w.Helper()
	var own []swarm.Listed
	for _, l := range all {
		if l.Spec.ID == w.spec.ID {
			own = append(own, l)
		}
	}
	if len(own) != 1 {
		w.Fatal("List returned a worker %d times", len(own))
	}
	return own[0]
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
	ctx, cancel := w.limited()
	defer cancel()
	return s.Backend.(swarm.Finder).Find(ctx, w.lookup())
}
