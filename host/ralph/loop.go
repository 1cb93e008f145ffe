package ralph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/proc"
)

type Options struct {
	// Store holds the state of the loop, and Name is its name.
	Store Store
	Name  string
	// Stdin and Stdout are the streams of the process. If Stdin is a terminal it is made
	// raw meanwhile, and what is typed there goes to the agent.
	Stdin, Stdout *os.File
	// Profiles are the profiles of agents; nil: none. An agent with a profile is not given its
	// prompt while it asks something, and must be seen to take it.
	Profiles *profile.Set
	// RunDir is the run directory of the worker, where hooks of the agent report its
	// conversation; empty: there is none.
	RunDir string
	// Notify, if it is not nil, is called with notes that people should read at once, in a
	// goroutine of its own.
	Notify func(Note, string)
	// unit is the first wait after a failure; 0: a second.
	unit time.Duration
}

// Note is a kind of notification of a loop.
type Note int

const (
	// NoteAsks: the agent asks the question in the text.
	NoteAsks Note = iota + 1
	// NoteLimited: the loop waits for the end of a usage limit, as the text says.
	NoteLimited
	// NotePaused: the loop was paused for the reason in the text.
	NotePaused
)

// SignalError says that the loop was ended by a signal. The iteration that was
// under way is open.
type SignalError struct{ Signal syscall.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// loop is a loop that this process runs. One goroutine, that of Run, does
// everything; others only bring it events.
type loop struct {
	Options
	console *console
	// pattern ends the loop, ready recognises an agent that is ready; both may be nil.
	pattern, ready *regexp.Regexp
	signals        *signals
	// self is this process, and conversation the one of the current iteration.
	self         proc.Identity
	conversation conversation
	// notifying waits for the calls of Notify.
	notifying sync.WaitGroup
	progress  progress
	// types says that the agent did not take the last prompt as an argument: it is typed.
	types bool
	// begun says that this run of the loop has begun an iteration: otherwise an open one
	// comes from an earlier run.
	begun bool
	// halt is the text with which the log is to say that the loop continues, since it says that
	// it was paused or waits; empty: it does not say that. The state may change back before the
	// loop begins to wait for that.
	halt string
	// by is the signal that ended the loop, or 0.
	by syscall.Signal
}

// Run runs a loop until it has come to its end, which is nil. Everything that it starts has
// ended then. The error is [ErrOwned] if another process runs the loop, [ErrEnded] if the
// loop has ended, [ErrPrompt] or [ErrFailed] if it gave up, and a [SignalError] if it got a
// signal to end.
//
// It takes over the signals of the process and waits for all of its children, so
// a process that runs a loop does nothing else.
func Run(ctx context.Context, o Options) error {
	release, err := o.Store.own(o.Name)
	if err != nil {
		return err
	}
	defer release()
	o.unit = cmp.Or(o.unit, time.Second)
	l := &loop{Options: o, signals: noticeSignals()}
	if self, err := proc.Self(); err == nil {
		l.self = self.Identity
	}
	defer l.signals.stop()
	defer l.notifying.Wait()
	if err := adopt(); err != nil {
		return err
	}
	st, err := o.Store.Load(o.Name)
	if err != nil {
		return err
	}
	if l.pattern, err = optionalPattern(st.DonePattern); err != nil {
		return fmt.Errorf("the done pattern of '%s': %w", o.Name, err)
	}
	if l.ready, err = optionalPattern(st.ReadyPattern); err != nil {
		return fmt.Errorf("the ready pattern of '%s': %w", o.Name, err)
	}
	if l.console, err = openConsole(o.Stdin, o.Stdout); err != nil {
		return err
	}
	defer l.console.close()
	err = l.run(ctx)
	if errors.Is(err, ErrNoState) {
		// A clean has removed it.
		l.say("ralph state is gone, stopping loop")
		return nil
	}
	return err
}

func optionalPattern(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	return CompilePattern(pattern)
}

func (l *loop) run(ctx context.Context) error {
	for {
		if sig := l.signals.ended(0); sig != 0 {
			return l.ended(ctx, sig)
		}
		if err := l.waitLimit(ctx); err != nil {
			return err
		}
		st, prompt, err := l.next(ctx)
		if err != nil || st.Status != Running {
			return err
		}
		if !l.begun {
			l.progress.files = l.here(&st)
		}
		l.begun = true
		l.say("starting iteration %d/%d", st.Iteration, st.MaxIterations)
		l.log(eventStart, "iteration %d/%d", st.Iteration, st.MaxIterations)
		out := l.iterate(ctx, st, prompt)
		out.still, out.same = l.progress.step(l.here(&st), out.answer)
		if out.failed() {
			if sig := l.signals.ended(hindsight); sig != 0 {
				return l.ended(ctx, sig)
			}
		}
		wait, more, err := l.record(ctx, out)
		if err != nil || !more {
			return err
		}
		if wait == 0 {
			continue
		}
		if err := l.await(ctx, nil, time.After(wait)); err != nil {
			return err
		}
	}
}

// These keep a change from being written.
var (
	errPaused  = errors.New("paused")
	errAsItWas = errors.New("as it was")
)

// next opens the next iteration. If there is none, the status of the state is not Running.
// It waits while the loop is paused.
func (l *loop) next(ctx context.Context) (State, []byte, error) {
	for {
		var prompt []byte
		var promptErr error
		waits := false
		st, err := l.Store.Change(ctx, l.Name, func(st *State) error {
			switch {
			case st.Status == Paused:
				return errPaused
			case st.Status == Stopped && st.ExitReason == ReasonKilled:
				// Its worker was started again.
				st.Status, st.ExitReason = Running, ""
			case st.Status != Running:
				return Ended(l.Name, st.Status)
			}
			l.logResume()
			if st.Complete() {
				st.end(Stopped, ReasonIterations)
				l.say("loop complete after %d iterations", st.Iteration)
				l.log(eventDone, "loop complete after %d iterations reason=%s", st.Iteration, ReasonIterations)
				return nil
			}
			if st.spent() {
				st.end(Stopped, ReasonTime)
				text := fmt.Sprintf("%s of %s used", formatDuration(time.Duration(st.TimeUsed)), formatDuration(time.Duration(st.MaxTime)))
				l.say("%s, stopping loop", text)
				l.log(eventDone, "%s reason=%s", text, ReasonTime)
				return nil
			}
			if until, ok := st.mayStart(time.Now()); !ok {
				waits = true
				st.hourly(until)
				return nil
			}
			if prompt, promptErr = ReadPrompt(st.PromptFile); promptErr == nil {
				st.begin(time.Now())
			} else {
				st.end(Failed, ReasonPrompt)
				l.log(eventError, "%v", promptErr)
			}
			return nil
		})
		if errors.Is(err, errPaused) {
			if err := l.paused(ctx); err != nil {
				return st, nil, err
			}
			continue
		}
		if err == nil && waits {
			if err = l.awaitHour(ctx, &st); err == nil {
				continue
			}
		}
		if err == nil {
			err = promptErr
		}
		return st, prompt, err
	}
}

func (l *loop) paused(ctx context.Context) error {
	w, err := l.Store.watch(l.Name)
	if err != nil {
		return err
	}
	defer w.close()
	for said := false; ; said = true {
		// The state is read after the watch has begun, so that no change is missed.
		st, err := l.Store.Load(l.Name)
		if err != nil {
			return err
		}
		if st.Status != Paused {
			return nil
		}
		if !said && st.ExitReason != ReasonProgress { // which was said
			l.say("paused")
			l.logPause("loop paused")
		}
		if err := l.await(ctx, w, nil); err != nil {
			return err
		}
	}
}

// logPause logs a pause, whose end logResume logs.
func (l *loop) logPause(format string, args ...any) {
	l.log(eventPause, format, args...)
	l.halt = "loop resumed"
}

// logResume logs that the loop continues, if the log says that it was paused or waits.
func (l *loop) logResume() {
	if l.halt != "" {
		l.log(eventResume, "%s", l.halt)
		l.halt = ""
	}
}

// await returns when something in the loop's folder has changed, or when over fires. Input
// that is typed meanwhile is dropped.
func (l *loop) await(ctx context.Context, w *watch, over <-chan time.Time) error {
	for {
		select {
		case <-over:
			return nil
		case <-w.changes():
			return nil
		case <-w.due():
			return nil
		case err := <-w.failures():
			return w.failed(err)
		case sig := <-l.signals.ends:
			return l.ended(ctx, sig.(syscall.Signal))
		case <-l.signals.children:
			reap()
		case _, ok := <-l.console.typed:
			if !ok {
				l.console.typed = nil
			}
		}
	}
}

// ended records at once that the loop got a signal to end: the sender may not wait for
// long. A pause outlives it. It returns the error that Run ends with.
func (l *loop) ended(ctx context.Context, sig syscall.Signal) error {
	if l.by != 0 {
		return &SignalError{Signal: l.by}
	}
	l.by = sig
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	// If it can't be written, the worker's own end shows the same.
	_, _ = l.Store.Change(ctx, l.Name, func(st *State) error {
		if st.over() {
			return errAsItWas
		}
		text := "loop stopped"
		if st.Open() && l.begun {
			text = fmt.Sprintf("iteration %d killed", st.Iteration)
		}
		l.log(eventStop, "%s reason=%s", text, unix.SignalName(sig))
		if st.Status == Paused {
			return errAsItWas
		}
		if st.Open() && l.begun {
			st.use(time.Now())
			l.noteSession(st)
		}
		st.end(Stopped, ReasonKilled)
		return nil
	})
	return &SignalError{Signal: sig}
}

func (l *loop) say(format string, args ...any) {
	l.console.say("[ralph] %s: %s", l.Name, fmt.Sprintf(format, args...))
}

func (l *loop) notify(n Note, text string) {
	if l.Notify != nil {
		l.notifying.Go(func() { l.Notify(n, text) })
	}
}

// log writes to the log of iterations. An error there does not stop the loop.
func (l *loop) log(event, format string, args ...any) {
	if err := l.Store.append(l.Name, event, fmt.Sprintf(format, args...), time.Now()); err != nil {
		l.say("cannot write %s: %v", logFile, err)
	}
}
