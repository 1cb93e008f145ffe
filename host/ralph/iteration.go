package ralph

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/screen"
)

// glanceEvery is how often the screen of an agent that goes on writing is looked at.
const glanceEvery = time.Second

// touchEvery is how often it is noted that there was output.
const touchEvery = time.Second

// iteration is one run of the agent under the eyes of the loop.
type iteration struct {
	*loop
	state  State
	prompt []byte
	agent  *agent
	// screen reads what the agent writes, and finished are the lines that it finished.
	screen   screen.Screen
	finished []byte
	// cut says that the last one of them may go on.
	cut   bool
	ready readiness
	done  *doneMatcher

	outcome outcome
	// pasted tells once what came of giving the prompt; nil while that is not under
	// way.
	pasted chan error
	// mainGone says that the agent's main process has ended, gone that nothing of the
	// agent is left, drained that its output is complete too: then it is over.
	mainGone, gone, drained bool
	// asked are the processes that were asked to end, by pid and start time, and
	// forced says that those which did not were killed.
	asked  map[int]uint64
	forced bool
	// profile is that of the agent; nil: it has none by which its prompt can be seen to
	// be taken. looks are asked for what the screen shows.
	profile *profile.Profile
	looks   chan chan []string
	// question is what the agent asks a person before it takes the prompt; empty:
	// nothing that is known.
	question string
	// context watches how much of its context the agent uses.
	context contextWatch
	// touched is when it was noted last that there was output, and glanced when the
	// screen was looked at last although output went on. seen says that the done pattern
	// was on it.
	touched, glanced time.Time
	seen             bool

	// inactivity fires when there was no output for too long, quiet when there was
	// none for a moment, limit when the prompt has to be given although output goes
	// on, deadline when the end takes too long.
	inactivity, quiet, limit, deadline *time.Timer
}

// iterate runs the agent once.
func (l *loop) iterate(ctx context.Context, st State, prompt []byte) outcome {
	a, err := startAgent(ctx, st.Command, l.console)
	if err != nil {
		return outcome{ending: refused, err: err, what: "spawn failed"}
	}
	ctx, cancel := context.WithCancel(ctx)
	it := &iteration{
		loop: l, state: st, prompt: prompt, agent: a,
		ready: newReadiness(l.ready), asked: make(map[int]uint64),
		inactivity: stoppedTimer(), quiet: time.NewTimer(silent), limit: time.NewTimer(readyLimit), deadline: stoppedTimer(),
	}
	if l.pattern != nil {
		it.done = newDoneMatcher(l.pattern, prompt)
	}
	if p := l.profiles.For(st.Command); deliver.Supports(p) && !p.Headless(st.Command) {
		it.profile, it.looks = p, make(chan chan []string)
	}
	it.context = newContextWatch(st.MaxContext, prompt)
	drop(l.signals.interrupts) // meant for another
	it.screen = screen.Screen{
		Live: true,
		Mode: func(mode int, on bool) { l.console.modes[mode] = on },
		Line: it.finish,
	}
	it.screen.Resize(int(a.size.Col), int(a.size.Row))
	it.alive()
	defer func() {
		cancel()
		a.close()
		l.console.tidy()
	}()
	for !it.drained {
		it.step(ctx)
	}
	if it.done != nil && it.done.shows(it.screen.Open()) {
		it.outcome.done = true
	}
	return it.outcome
}

// finish takes a line that the agent has finished, or a piece of one.
func (it *iteration) finish(l screen.Line) {
	if l.Begins && it.cut {
		it.finished = append(it.finished, '\n')
	}
	it.finished = append(it.finished, l.Text...)
	if it.cut = !l.Ends; l.Ends {
		it.finished = append(it.finished, '\n')
	}
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// step waits for one event.
func (it *iteration) step(ctx context.Context) {
	select {
	case data, ok := <-it.agent.output:
		if !ok {
			// All that is left of it, if anything, is not on the terminal.
			it.agent.output = nil
			it.drained = it.gone
			return
		}
		it.wrote(ctx, data)
	case <-it.signals.children:
		it.reap(ctx)
	case sig := <-it.signals.ends:
		it.killed(ctx, sig.(syscall.Signal))
	case <-it.signals.interrupts:
		_ = it.agent.terminal.Interrupt()
	case <-it.signals.resized:
		size := it.console.resize(it.agent.terminal)
		it.screen.Resize(int(size.Col), int(size.Row))
	case err := <-it.pasted:
		it.pasted = nil
		it.given(ctx, err)
	case shown := <-it.looks:
		shown <- it.screen.Shown()
	case <-it.quiet.C:
		it.calm(ctx)
	case <-it.limit.C:
		it.give(ctx)
	case <-it.inactivity.C:
		it.end(inactive)
	case <-it.deadline.C:
		it.overdue()
	}
}

// wrote takes output of the agent.
func (it *iteration) wrote(ctx context.Context, data []byte) {
	it.console.write(data)
	it.alive()
	it.finished = it.finished[:0]
	it.screen.Write(data, time.Time{})
	found := it.done != nil && it.done.write(it.finished)
	if it.ready.waiting {
		it.ready.wrote()
		it.quiet.Reset(sure)
	} else {
		it.quiet.Reset(settled)
	}
	if found {
		it.matched()
	}
	it.glance(time.Now())
	it.context.wrote(it.finished)
	it.watchContext(ctx, time.Now())
}

// glance looks for the done pattern on the screen of an agent that never stops writing,
// such as one with a clock. Two looks see it, since one may see a half-painted screen.
func (it *iteration) glance(now time.Time) {
	if it.done == nil || now.Sub(it.glanced) < glanceEvery {
		return
	}
	it.glanced = now
	before := it.seen
	if it.seen = it.done.shows(it.screen.Open()); it.seen && before {
		it.matched()
	}
}

// alive begins to wait for the next output.
func (it *iteration) alive() {
	if d := time.Duration(it.state.Inactivity); d > 0 && it.outcome.ending == 0 {
		it.inactivity.Reset(d)
	}
	if now := time.Now(); now.Sub(it.touched) >= touchEvery {
		it.touched = now
		it.store.touch(it.name, now)
	}
}

// calm is called when nothing was written for a moment.
func (it *iteration) calm(ctx context.Context) {
	if it.ready.waiting {
		if more := it.ready.calm(it.screen.Shown()); more > 0 {
			it.quiet.Reset(more)
		} else {
			it.give(ctx)
		}
		return
	}
	open := it.screen.Open()
	if it.done != nil && it.done.shows(open) {
		it.matched()
	}
	it.context.quiet(open)
	it.watchContext(ctx, time.Time{})
}

// give begins to paste the prompt, unless a person has to answer something before.
func (it *iteration) give(ctx context.Context) {
	if !it.ready.waiting || it.outcome.ending != 0 {
		return
	}
	if question := it.dialog(); question != "" {
		it.blocked(ctx, question)
		return
	}
	it.asks(ctx, "")
	it.ready.waiting = false
	it.quiet.Reset(settled)
	given := make(chan error, 1)
	it.pasted = given
	it.agent.busy.Go(func() { given <- it.paste(ctx) })
}

// dialog returns the question that the agent shows; empty: none that is known.
func (it *iteration) dialog() string {
	lines := it.screen.Shown()
	if it.profile != nil {
		if l := it.profile.Look(profile.Screen{Lines: lines}); l.State == profile.Blocked {
			return deliver.Dialog(l.Question, l.Choices)
		}
	}
	return it.ready.question(lines)
}

// blocked says that the agent asks something, and waits for a person.
func (it *iteration) blocked(ctx context.Context, question string) {
	if it.question == "" {
		it.log(eventWarn, "iteration %d: the agent asks something that a person must answer first: %s", it.state.Iteration, question)
		it.say("the agent asks: %s", question)
	}
	it.asks(ctx, question)
}

// asks notes in the state what the agent asks a person.
func (it *iteration) asks(ctx context.Context, question string) {
	if question == it.question {
		return
	}
	it.question = question
	// The outcome of the iteration says it too.
	_, _ = it.store.Change(ctx, it.name, func(st *State) error {
		st.Dialog = question
		return nil
	})
}

func (it *iteration) given(ctx context.Context, err error) {
	if asks, ok := errors.AsType[*deliver.AsksError](err); ok && it.outcome.ending == 0 {
		// It is given again, or only Enter pressed, once that is answered.
		it.blocked(ctx, deliver.Dialog(asks.Question, asks.Choices))
		it.ready.waiting = true
		it.quiet.Reset(sure)
		return
	}
	// The paste ends with the agent, which is no failure of its own.
	if err != nil && it.outcome.ending == 0 && !it.mainGone {
		it.outcome.err, it.outcome.what = err, "prompt refused"
		it.end(refused)
	}
}

// matched is called when the done pattern was found.
func (it *iteration) matched() {
	it.outcome.done = true
	if it.state.DoneAtOnce {
		it.end(done)
	}
}
