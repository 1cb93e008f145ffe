package backendtest

import (
	"strings"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func completeCases() []testCase {
	return []testCase{
		newCase("complete-is-recorded", scope{needs: swarm.CapComplete},
			"Complete returns before the worker has ended, and its status has the summary from then on",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.completed("all done: é", patient())
				st := w.status()
				if st.State != swarm.StateRunning || st.Completion == nil || st.Completion.Summary != "all done: é" || st.Completion.Time.IsZero() {
					k.Broken("the status is %+v, completion %+v", st, st.Completion)
				}
			}),
		newCase("complete-is-the-cause", scope{needs: swarm.CapComplete},
			"the cause of the end of a worker that has completed is the completion, even if it was killed afterwards",
			func(k *kit) {
				w := k.ready(script.Trap)
				w.completed("done", patient())
				w.kill(swarm.KillOptions{Signal: "SIGUSR1", Grace: patience, Force: true})
				st := w.status()
				k.wantExit(st, swarm.Exit{Code: 7, Cause: swarm.CauseCompleted})
				if st.Completion == nil || st.Completion.Summary != "done" {
					k.Broken("the completion is %+v", st.Completion)
				}
			}),
		newCase("complete-ends-the-worker", scope{needs: swarm.CapComplete},
			"processes that remain after the grace of a Complete are ended, if necessary by force, even without a caller",
			func(k *kit) {
				w := k.ready(script.Stubborn)
				w.completed("done", swarm.KillOptions{Grace: shortGrace, Force: true})
				k.wantExit(w.ended(), swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseCompleted})
			}),
		newCase("complete-once", scope{needs: swarm.CapComplete},
			"a second Complete is ErrTooLate, and the first one stays",
			func(k *kit) {
				w := k.ready(script.Sleep)
				w.completed("first", patient())
				k.WantErr("Complete", w.complete("second", patient()), swarm.ErrTooLate)
				if c := w.status().Completion; c == nil || c.Summary != "first" {
					k.Broken("the completion is %+v", c)
				}
			}),
		newCase("complete-in-a-kill", scope{needs: swarm.CapComplete},
			"Complete of a worker that is being killed is ErrTooLate, and the cause of its end is the kill",
			func(k *kit) {
				w := k.ready(script.Deaf)
				w.kill(swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace, Force: true, Detach: true})
				w.wantLine("heard")
				k.WantErr("Complete", w.complete("done", patient()), swarm.ErrTooLate)
				w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true})
				st := w.status()
				k.wantExit(st, swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
				if st.Completion != nil {
					k.Broken("the completion is %+v", st.Completion)
				}
			}),
		newCase("complete-after-the-end", scope{needs: swarm.CapComplete},
			"Complete of a worker that has ended is ErrTooLate",
			func(k *kit) {
				w := k.finished(script.Lines)
				k.WantErr("Complete", w.complete("done", patient()), swarm.ErrTooLate)
				st := w.status()
				k.wantExit(st, swarm.Exit{Code: 3, Cause: swarm.CauseExited})
				if st.Completion != nil {
					k.Broken("the completion is %+v", st.Completion)
				}
			}),
		newCase("complete-long-summary", scope{needs: swarm.CapComplete},
			"a summary that is longer than MaxSummary is cut",
			func(k *kit) {
				w := k.ready(script.Sleep)
				long := strings.Repeat("0123456789", swarm.MaxSummary)
				w.completed(long, patient())
				if c := w.status().Completion; c == nil || len(c.Summary) > swarm.MaxSummary || c.Summary == "" || !strings.HasPrefix(long, c.Summary) {
					k.Broken("the completion is %+v", c)
				}
			}),
	}
}

// patient returns options with which a completed worker runs for as long as a case takes.
func patient() swarm.KillOptions { return swarm.KillOptions{Grace: longGrace, Force: true} }

func (w *worker) complete(summary string, o swarm.KillOptions) error {
	ctx, cancel := w.limited()
	defer cancel()
	return w.Backend.(swarm.Completer).Complete(ctx, w.handle, summary, o)
}

func (w *worker) completed(summary string, o swarm.KillOptions) {
	w.Helper()
	w.Check("Complete", w.complete(summary, o))
}
