package ralph

import (
	"context"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
)

// stop is a stop of the loop at a dialog of its agent, which stays open so that a person
// can answer it. Nothing is typed before the loop is resumed.
type stop struct {
	// watch reports when the loop is resumed; nil if it has not stopped.
	watch *watch
	// question is the question of the agent; empty once it was answered.
	question string
}

func (it *iteration) stopped() bool { return it.stop.watch != nil }

func (it *iteration) asks(ctx context.Context, question string, choices []profile.Choice) {
	question = deliver.Dialog(question, choices)
	if question == it.stop.question {
		return
	}
	if !it.stopped() {
		var err error
		// The watch begins before the state is written, so that no change is missed.
		if it.stop.watch, err = it.Store.watch(it.Name); err != nil {
			it.outcome.err, it.outcome.what = err, "cannot wait for an answer"
			it.end(refused)
			return
		}
		it.inactivity.Stop()
		it.limit.Stop()
	}
	it.stop.question = question
	// Nothing is written to the terminal: the agent draws there, and a person has to see
	// the dialog.
	it.logPause("the agent asks: %s reason=%s", question, ReasonDialog)
	it.notify(NoteAsks, question)
	it.note(ctx, func(st *State) {
		st.Status, st.ExitReason, st.Dialog, st.Choices = Paused, ReasonDialog, question, choices
	})
}

// answered notes that the dialog is gone at which the loop has stopped.
func (it *iteration) answered(ctx context.Context) {
	if it.stop.question == "" {
		return
	}
	it.stop.question = ""
	it.note(ctx, func(st *State) { st.Dialog, st.Choices = "", nil })
}

// note changes the state during the iteration. If that can't be written, the outcome of the
// iteration has it too.
func (it *iteration) note(ctx context.Context, change func(*State)) {
	_, _ = it.Store.Change(ctx, it.Name, func(st *State) error {
		if st.over() {
			return errAsItWas
		}
		change(st)
		return nil
	})
}

// resume continues if a person has resumed the loop. If the dialog is still shown, the next
// check stops the loop again.
func (it *iteration) resume() {
	st, err := it.Store.Load(it.Name)
	if err != nil || st.Status == Paused {
		return
	}
	it.leaveStop()
	it.logResume()
	it.alive()
	it.turn.look.Reset(0)
	if it.ready.waiting {
		it.quiet.Reset(sure)
	}
}

func (it *iteration) leaveStop() {
	if it.stopped() {
		it.stop.watch.close()
		it.stop = stop{}
	}
}
