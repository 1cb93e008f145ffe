package ralph

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/screen"
)

const glanceEvery = time.Second

const touchEvery = time.Second

// iteration is one run of the agent under the eyes of the loop.
type iteration struct {
	*loop
	state  State
	prompt []byte
	agent  *agent
	// screen reads the output of the agent, and finished are its finished lines.
	screen   screen.Screen
	finished []byte
	// cut says that the last one of them may continue.
	cut   bool
	ready readiness
	done  *doneMatcher

	outcome outcome
	// pasted carries the result of giving the prompt, once; nil while the prompt is not
	// being given.
	pasted chan error
	// mainGone says that the agent's main process has ended, gone that nothing of the
	// agent is left, drained that its output is complete too: then it has ended.
	mainGone, gone, drained bool
	// terminated are the processes that were asked to end, by pid and start time, and forced says
	// that the remaining ones were killed.
	terminated map[int]uint64
	forced     bool
	// profile is the agent's profile; nil if it has none that can prove that the prompt was
	// taken. looks reads the screen.
	profile *profile.Profile
	looks   chan chan profile.Screen
	// turn follows what an agent with a profile does, and stop is set while it asks
	// something.
	turn turn
	stop stop
	// argued says that the agent got the prompt as an argument, and resumed that it continues
	// with a conversation.
	argued, resumed bool
	// presses is how often Enter was pressed again.
	presses int
	// entered is when the agent was given the prompt, in ns: when Enter was first pressed
	// after it, or when the agent was started with it; 0: it was not.
	entered atomic.Int64
	// waitsFor is what an agent without a profile asks before it takes the prompt; empty:
	// nothing that is known.
	waitsFor string
	// context watches how much of its context the agent uses.
	context contextWatch
	// touched is when it was noted last that there was output, and glanced when the
	// screen was looked at last although output continued. seen says that the done pattern
	// was on it.
	touched, glanced time.Time
	seen             bool

	// inactivity fires when there was no output for too long, quiet when there was none for a
	// moment, limit when the prompt has to be given although output continues, deadline when
	// the end takes too long.
	inactivity, quiet, limit, deadline *time.Timer
}

func (l *loop) iterate(ctx context.Context, st State, prompt []byte) outcome {
	resumed := st.Session != "" && (st.Continue || st.ContinueOnce)
	began := time.Now()
	a, argued, err := l.startAgent(ctx, st, prompt)
	if err != nil {
		return outcome{ending: refused, err: err, what: "spawn failed"}
	}
	ctx, cancel := context.WithCancel(ctx)
	it := &iteration{
		loop: l, state: st, prompt: prompt, agent: a, argued: argued, resumed: resumed,
		ready: readiness{pattern: l.ready, waiting: true}, terminated: make(map[int]uint64), turn: turn{look: stoppedTimer()},
		inactivity: stoppedTimer(), quiet: time.NewTimer(silent), limit: time.NewTimer(readyLimit), deadline: stoppedTimer(),
	}
	if l.pattern != nil {
		it.done = newDoneMatcher(l.pattern, prompt)
	}
	if p := ProfileOf(l.Profiles, &st); deliver.Supports(p) {
		it.profile, it.looks = p, make(chan chan profile.Screen)
	}
	if st.Headless || argued {
		it.ready.waiting = false // it has its prompt
		it.limit.Stop()
	}
	if argued {
		it.entered.Store(began.UnixNano())
		it.turn.take(began)
	}
	it.context = contextWatch{limit: st.MaxContext, compacted: newDoneMatcher(compacting(), prompt)}
	drop(l.signals.interrupts) // meant for another
	l.conversation.taken = func() bool { return st.Headless || it.entered.Load() != 0 && !it.outcome.untaken }
	it.screen = screen.Screen{
		Live: true, Styles: true,
		Mode: func(mode int, on bool) { l.console.modes[mode] = on },
		Line: it.finish,
	}
	it.screen.Resize(int(a.size.Col), int(a.size.Row))
	it.alive()
	defer func() {
		cancel()
		it.leaveStop()
		a.close()
		l.Store.dropPrompt(l.Name)
		l.console.tidy()
	}()
	for !it.drained {
		it.step(ctx)
	}
	if it.done != nil && it.done.shows(it.screen.Open()) {
		it.outcome.done = true
	}
	if it.argued && !it.turn.begun && !it.replied() && it.outcome.ending == exited {
		it.outcome.untaken = true
	}
	if it.outcome.ending == exited {
		it.outcome.answer = it.words()
	}
	l.types = l.types || it.argued && it.outcome.unseen
	if st.Headless {
		it.outcome.last = lastLine(it.screen.Shown())
	}
	if it.outcome.failed() && it.outcome.failure == "" && (st.Headless || it.profile != nil) {
		it.outcome.failure = errorText(it.shown().Text(), "")
	}
	return it.outcome
}

// startAgent starts the agent of an iteration. A headless one gets its prompt, and so does one
// whose profile knows an argument for it: argued.
func (l *loop) startAgent(ctx context.Context, st State, prompt []byte) (a *agent, argued bool, err error) {
	command, err := l.talk(&st)
	if err != nil {
		return nil, false, err
	}
	if !st.Headless {
		full := l.withPrompt(&st, command, prompt)
		if full != nil {
			command = full
		}
		a, err = startAgent(ctx, command, l.console, nil)
		return a, full != nil, err
	}
	command, stdin, err := l.headless(command, prompt)
	if err != nil {
		return nil, false, err
	}
	defer stdin.Close()
	a, err = startAgent(ctx, command, l.console, stdin)
	return a, false, err
}

// withPrompt returns a command with the prompt as an argument, or nil if that has to be typed:
// the agent has no such argument or did not take it the last time, or the loop waits for what
// the agent writes when it is ready.
func (l *loop) withPrompt(st *State, command []string, prompt []byte) []string {
	if p := ProfileOf(l.Profiles, st); deliver.Supports(p) && l.ready == nil && !l.types {
		return p.WithPrompt(command, string(prompt))
	}
	return nil
}

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

func (it *iteration) step(ctx context.Context) {
	select {
	case data, ok := <-it.agent.output:
		if !ok {
			// Processes of it that remain do not have the terminal open.
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
		shown <- it.shown()
	case <-it.turn.look.C:
		it.readTurn(ctx)
	case <-it.stop.watch.changes():
		it.resume()
	case <-it.stop.watch.due():
		it.resume()
	case <-it.stop.watch.failures(): //nolint:errcheck // what is on the disk counts, however it was learnt
		it.resume()
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

func (it *iteration) wrote(ctx context.Context, data []byte) {
	it.console.write(data)
	it.alive()
	it.turn.wrote(time.Now())
	it.finished = it.finished[:0]
	it.screen.Write(data, time.Time{})
	found := it.done != nil && it.done.write(it.finished)
	if it.ready.waiting {
		it.ready.looked = false
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

// glance searches the screen of an agent that never stops writing, such as one with a
// clock, for the done pattern. Two reads must find it, since one may see a half-painted
// screen.
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

func (it *iteration) alive() {
	if d := time.Duration(it.state.Inactivity); d > 0 && it.outcome.ending == 0 && !it.stopped() {
		it.inactivity.Reset(d)
	}
	if now := time.Now(); now.Sub(it.touched) >= touchEvery {
		it.touched = now
		it.Store.touch(it.Name, now)
	}
}

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
	if !it.ready.waiting || it.outcome.ending != 0 || it.stopped() {
		return
	}
	if it.profile != nil {
		if r := it.read(time.Now()); r.State.State == profile.Blocked {
			it.readTurn(ctx)
			return
		}
		it.turn.before = it.shown().Text()
	} else if question := it.ready.question(it.screen.Shown()); question != "" {
		it.waits(ctx, question)
		return
	}
	it.waits(ctx, "")
	it.ready.waiting = false
	it.quiet.Reset(settled)
	given := make(chan error, 1)
	it.pasted = given
	it.agent.busy.Go(func() { given <- it.paste(ctx, it.prompt) })
}

func (it *iteration) waits(ctx context.Context, question string) {
	if question == it.waitsFor {
		return
	}
	if it.waitsFor == "" {
		it.log(eventWarn, "iteration %d: the agent asks something that a person must answer first: %s", it.state.Iteration, question)
		it.say("the agent asks: %s", question)
	}
	it.waitsFor = question
	it.note(ctx, func(st *State) { st.Dialog = question })
}

func (it *iteration) given(ctx context.Context, err error) {
	if it.outcome.ending != 0 || it.mainGone {
		return // the paste ends with the agent, which is not a failure of its own
	}
	switch asks, ok := errors.AsType[*deliver.AsksError](err); {
	case err == nil:
		it.turn.take(time.Now())
	case errors.Is(err, pty.ErrNoPaste):
		// Nothing was given: the program is not the agent that the profile describes.
		it.profile = nil
		it.ready.waiting = true
		it.give(ctx)
	case ok:
		// It is given again, or only Enter pressed, once that is answered.
		it.ready.waiting = true
		it.asks(ctx, asks.Question, asks.Choices)
	case errors.Is(err, deliver.ErrNotSubmitted) && it.presses < maxPresses && it.unsubmitted():
		// An agent that is still starting takes no Enter. The text at its prompt is not
		// typed again.
		it.presses++
		it.ready.waiting = true
		it.give(ctx)
	default:
		it.outcome.err, it.outcome.what, it.outcome.untaken = err, "prompt refused", it.profile != nil
		it.end(refused)
	}
}

// maxPresses is how often Enter is pressed again for an agent that did not take it.
const maxPresses = 2

// unsubmitted reports whether exactly the whole prompt is at the place for input.
func (it *iteration) unsubmitted() bool {
	draft := it.read(time.Now()).look.Draft
	return it.entered.Load() != 0 && profile.Squeeze(draft) == profile.Squeeze(string(it.prompt))
}

func (it *iteration) matched() {
	it.outcome.done = true
	if it.state.DoneAtOnce {
		it.end(done)
	}
}
