package ralph

import (
	"context"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/plain"
	"github.com/swarmhost/swarm/shared/shim/proc"
)

const (
	// grace is how long an agent may take to end when its iteration is over.
	grace = 10 * time.Second
	// patience is how long to wait for an agent to end by the signal that whoever
	// ends the worker may have sent to all of its processes.
	patience = time.Second
	// drain is how long output may come after the agent's end.
	drain = time.Second
	// touchEvery is how often it is noted that there was output.
	touchEvery = time.Second
)

// ending is why an iteration is over.
type ending int

const (
	// exited: the agent ended by itself.
	exited ending = iota + 1
	// inactive: it wrote nothing for too long.
	inactive
	// done: it wrote what the done pattern matches.
	done
	// refused: the prompt can't be given to it.
	refused
	// killed: the loop itself was told to end.
	killed
)

// outcome is what came of an iteration.
type outcome struct {
	ending ending
	// exit is how the agent ended: a code, or the name of a signal.
	exit string
	// err is why the agent could not be started, or not be given the prompt; what
	// says which.
	err  error
	what string
	// done says that the done pattern was matched, however it ended.
	done bool
	// left are processes that could not be ended.
	left []proc.Process
}

// iteration is one run of the agent under the eyes of the loop.
type iteration struct {
	*loop
	state  State
	prompt []byte
	agent  *agent
	text   plain.Text
	ready  readiness
	done   *doneMatcher

	outcome outcome
	// pasted is closed, or gets an error, when the prompt was given; nil before.
	pasted chan error
	// gone says that nothing of the agent is left, mainGone that of its main
	// process.
	gone, mainGone, drained bool
	asked                   map[int]uint64
	forced, warned          bool
	touched                 time.Time

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
	drop(l.signals.interrupts) // meant for another
	it.text.Mode = func(mode int, on bool) { l.console.modes[mode] = on }
	it.alive()
	defer func() {
		cancel()
		a.close()
		l.console.tidy()
	}()
	for !it.drained {
		it.step(ctx)
	}
	if it.done != nil && it.done.quiet() {
		it.outcome.done = true
	}
	return it.outcome
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
		it.wrote(data)
	case <-it.signals.children:
		it.reap(ctx)
	case sig := <-it.signals.ends:
		it.killed(ctx, sig.(syscall.Signal))
	case <-it.signals.interrupts:
		_ = it.agent.terminal.Interrupt()
	case <-it.signals.resized:
		it.console.resize(it.agent.terminal)
	case err := <-it.pasted:
		it.pasted = nil
		it.given(err)
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
func (it *iteration) wrote(data []byte) {
	it.console.write(data)
	it.alive()
	text := it.text.Strip(data, false)
	found := it.done != nil && it.done.write(text)
	if it.ready.waiting {
		it.quiet.Reset(it.ready.wrote(text))
	} else {
		it.quiet.Reset(settled)
	}
	if found {
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
		it.give(ctx)
	} else if it.done != nil && it.done.quiet() {
		it.matched()
	}
}

// give begins to paste the prompt, unless a person has to answer something before.
func (it *iteration) give(ctx context.Context) {
	if !it.ready.waiting || it.outcome.ending != 0 {
		return
	}
	if it.ready.asking() {
		if !it.warned {
			it.warned = true
			it.log(eventWarn, "iteration %d: the agent asks something that a person must answer first", it.state.Iteration)
		}
		return
	}
	it.ready.waiting = false
	it.quiet.Reset(settled)
	given := make(chan error, 1)
	it.pasted = given
	it.agent.busy.Go(func() { given <- it.agent.paste(ctx, it.prompt, nil) })
}

func (it *iteration) given(err error) {
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

// reap takes notice of ends.
func (it *iteration) reap(ctx context.Context) {
	for _, child := range reap() {
		if child.pid != it.agent.pid {
			continue
		}
		it.mainGone = true
		it.outcome.exit = exitOf(child.status)
		// Whoever ends the worker signals the loop before the agent.
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

// killed is called when the loop was told to end.
func (it *iteration) killed(ctx context.Context, sig syscall.Signal) {
	_ = it.ended(ctx, sig)
	it.end(killed)
}

// end ends the iteration, for the first reason that is given.
func (it *iteration) end(why ending) {
	if it.outcome.ending != 0 && why != killed || it.outcome.ending == killed {
		return
	}
	it.outcome.ending = why
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

func (it *iteration) terminate() {
	ps, _ := members()
	terminate(ps, it.asked)
}

// look sees whether anything of the agent is left.
func (it *iteration) look() {
	if it.gone || !it.mainGone {
		return
	}
	ps, err := members()
	switch {
	case err != nil:
	case len(ps) > 0 && it.outcome.ending != killed:
		terminate(ps, it.asked)
	case len(ps) == 0:
		it.leave()
	}
}

// leave waits only for what was written.
func (it *iteration) leave() {
	it.gone = true
	it.agent.hangUp()
	it.deadline.Reset(drain)
	it.drained = it.agent.output == nil
}

// overdue is called when something took too long.
func (it *iteration) overdue() {
	switch {
	case it.gone:
		it.drained = true
	case it.outcome.ending == killed:
		// It is not for the loop to force what its killer may want to wait for.
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
