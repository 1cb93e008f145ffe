package ralph

import (
	"cmp"
	"context"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/proc"
)

const (
	// grace is how long an agent may take to end after its iteration.
	grace = 10 * time.Second
	// patience is how long to wait for an agent to end by the signal that a kill of the
	// worker may have sent to all of its processes.
	patience = time.Second
	// drain is how long output may arrive after the agent's end.
	drain = time.Second
)

type cause int

const (
	// exited: the agent ended by itself.
	exited cause = iota + 1
	// inactive: it wrote nothing for too long.
	inactive
	// done: its output matched the done pattern.
	done
	// refused: it can't be given the prompt.
	refused
	// killed: the loop itself got a signal to end.
	killed
	// compacted: the agent has replaced its context by a summary.
	compacted
	// overContext: it uses more of its context than it may.
	overContext
	// idle: its turn has ended, it is at its prompt again.
	idle
)

type outcome struct {
	ending cause
	// exit is the exit of the agent: a code, or the name of a signal.
	exit string
	// err is the error of the start or of the prompt; what says which.
	err  error
	what string
	// done says that the done pattern was matched, however it ended.
	done bool
	// question is its question to a person at the end, or empty.
	question string
	// unasked says that it ended before the prompt was given to it.
	unasked bool
	// untaken says that an agent with a profile did not take the prompt. The iteration
	// does not count then.
	untaken bool
	// unseen says that an agent with a profile came back to its prompt, and that nothing shows
	// that it worked on it or answered.
	unseen bool
	// background is the work of the agent that was ended although its turn had ended; empty:
	// none that is known.
	background string
	// answer is what the agent answered. still says that the iteration left no commit and
	// changed no file, same that it has the answer of the one before.
	answer      string
	still, same bool
	// broken is the error on its screen at the end of its turn, or empty.
	broken string
	// last is the last line that a headless agent wrote.
	last string
	// failure is the text on the screen of a known agent after a failed iteration, which
	// may mention a usage limit; it may be empty.
	failure string
	// left are processes that could not be ended.
	left []proc.Process
}

func (it *iteration) reap(ctx context.Context) {
	for _, child := range reap() {
		if child.pid != it.agent.pid {
			continue
		}
		it.mainGone = true
		it.outcome.exit = exitOf(child.status)
		it.outcome.unasked = it.ready.waiting
		it.outcome.untaken = it.outcome.untaken || it.profile != nil && !it.argued && it.entered.Load() == 0
		// A kill of the worker signals the loop before the agent.
		it.signals.settle()
		if sig := it.signals.ended(0); sig != 0 {
			it.killed(ctx, sig)
		}
		it.end(exited)
	}
	if it.outcome.ending != 0 {
		it.look()
	}
}

// killed is called when the loop got a signal to end.
func (it *iteration) killed(ctx context.Context, sig syscall.Signal) {
	_ = it.ended(ctx, sig)
	it.end(killed)
}

func (it *iteration) end(why cause) {
	if it.outcome.ending != 0 && why != killed || it.outcome.ending == killed {
		return
	}
	it.outcome.ending = why
	it.outcome.question = it.question()
	it.outcome.answer = it.words() // before the agent clears its screen
	if why == inactive && it.turn.shown.State == profile.Background {
		it.outcome.background = cmp.Or(it.turn.shown.Reason, "unknown")
	}
	it.inactivity.Stop()
	it.limit.Stop()
	if why == killed {
		it.deadline.Reset(patience)
	} else {
		it.deadline.Reset(grace)
		it.terminate()
	}
	it.look()
}

// question returns the question that a person must answer before the agent continues, or
// "".
func (it *iteration) question() string {
	switch {
	case !it.ready.waiting && !it.stopped():
		return ""
	case it.profile == nil:
		return it.ready.question(it.screen.Shown())
	}
	r := it.read(time.Now())
	if r.State.State != profile.Blocked {
		return ""
	}
	return deliver.Dialog(r.Question, r.Choices)
}

func (it *iteration) terminate() {
	ps, _ := members()
	terminate(ps, it.terminated)
}

// look checks whether processes of the agent are left.
func (it *iteration) look() {
	if it.gone || !it.mainGone {
		return
	}
	ps, err := members()
	switch {
	case err != nil:
	case len(ps) > 0 && it.outcome.ending != killed:
		terminate(ps, it.terminated)
	case len(ps) == 0:
		it.leave()
	}
}

// leave only waits for the rest of the output.
func (it *iteration) leave() {
	it.gone = true
	it.agent.terminal.Inner.Close() // so that the output comes to an end
	it.deadline.Reset(drain)
	it.drained = it.agent.output == nil
}

// overdue is called when something took too long.
func (it *iteration) overdue() {
	switch {
	case it.gone:
		it.drained = true
	case it.outcome.ending == killed:
		// The loop must not force an end for which the kill may want to wait.
		it.terminate()
	case !it.forced:
		it.forced = true
		force()
		it.deadline.Reset(lastLook)
	default:
		it.outcome.left, _ = members()
		it.leave()
	}
}
