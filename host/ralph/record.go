package ralph

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const maxBackOff = 300 * time.Second

func backOff(k int, unit time.Duration) time.Duration {
	return min(unit<<min(k-1, 20), maxBackOff)
}

// record records and reports the outcome of an iteration. It returns whether another one
// may follow, and how long to wait before it.
func (l *loop) record(ctx context.Context, out outcome) (wait time.Duration, more bool, err error) {
	if out.ending == killed {
		return 0, false, &SignalError{Signal: l.by}
	}
	now := time.Now()
	st, err := l.Store.Change(ctx, l.Name, func(st *State) error {
		st.use(now)
		resumable := true
		if !out.failed() {
			resumable = l.noteSession(st)
		}
		until, limited := time.Time{}, false
		if out.failed() && !st.LimitWaited && out.question == "" {
			until, limited = limitWait(out.failure, now)
		}
		if limited {
			// The iteration does not count: it is repeated.
			st.LimitUntil, st.Limit, st.LimitWaited, st.LimitHourly = until, out.failure, true, false
			st.Dialog, st.Choices, st.ExitReason = "", nil, ""
			l.reportLeft(st, out)
			l.reportLimit(st)
			return nil
		}
		st.LimitWaited = false
		if !out.untaken || out.done {
			st.close(now)
		}
		if out.failed() {
			st.Failures++
			st.TotalFailures++
		} else if out.ending == exited || out.ending == idle || out.done {
			st.Failures = 0
		}
		switch out.ending {
		case compacted:
			st.ExitReason = ReasonCompaction
		case overContext:
			st.ExitReason = ReasonContext
		default:
			st.ExitReason = ""
		}
		st.Dialog, st.Choices = out.question, nil
		st.count(&out)
		switch {
		case out.done:
			st.end(Stopped, ReasonDone)
		case out.question != "":
			// The next one would ask the same.
			st.end(Failed, ReasonDialog)
		case st.Failures >= MaxFailures:
			st.end(Failed, ReasonFailures)
		case st.Complete():
		case !resumable:
			st.end(Failed, ReasonSession)
		case out.failed():
			wait = backOff(st.Failures, l.unit)
		default:
			// An agent that ends at once must not keep the machine busy.
			wait = min(max(0, l.unit-now.Sub(st.IterationStarted)), l.unit)
			if st.stuck() && st.Status == Running {
				st.end(Paused, ReasonProgress)
			}
		}
		// The log is written before the state: a follower reads the log until the state
		// says that the loop has ended.
		l.report(st, out, wait)
		return nil
	})
	switch {
	case err != nil:
		return 0, false, err
	case st.Status != Failed:
	case st.ExitReason == ReasonFailures:
		return 0, false, fmt.Errorf("%w: %d consecutive failures", ErrFailed, st.Failures)
	case st.ExitReason == ReasonSession:
		return 0, false, fmt.Errorf("%w: %w", ErrFailed, &noSessionError{l.Name})
	case st.ExitReason == ReasonDialog:
		return 0, false, fmt.Errorf("%w: the agent asks: %s", ErrFailed, st.Dialog)
	}
	return wait, !out.done, nil
}

func (o outcome) failed() bool {
	return !o.done && (o.ending == refused || o.untaken || o.broken != "" || o.ending == exited && o.exit != "0")
}

func (l *loop) report(st *State, out outcome, wait time.Duration) {
	l.reportLeft(st, out)
	i, took := st.Iteration, ""
	if !st.Open() {
		took = formatDuration(time.Duration(st.Durations[len(st.Durations)-1]))
	}
	switch {
	case out.failed():
		what := fmt.Sprintf("iteration %d failed (%s)", i, exitText(": ", out.exit))
		how := exitText("=", out.exit)
		switch {
		case out.err != nil:
			what, how = out.what, "exit=1"
			l.say("%v", out.err)
			l.log(eventError, "iteration %d: %v", i, out.err)
		case out.unseen:
			what, how = fmt.Sprintf("iteration %d failed (the agent was not seen to work)", i), "unseen"
			l.log(eventError, "iteration %d: the agent is at its prompt, and was not seen to work on the prompt or to answer it", i)
		case out.ending == idle:
			what, how = fmt.Sprintf("iteration %d failed (%s)", i, out.broken), "error"
			l.log(eventError, "iteration %d: the agent shows an error: %s", i, out.broken)
		case out.ending == inactive:
			what, how = fmt.Sprintf("iteration %d failed (it did not take the prompt)", i), "inactivity_timeout"
			l.log(eventError, "iteration %d: the inactivity timeout (%gs) ended the agent before it took the prompt", i, time.Duration(st.Inactivity).Seconds())
		case out.last != "":
			l.log(eventError, "iteration %d: the agent wrote last: %s", i, out.last)
		case out.untaken:
			l.log(eventError, "iteration %d: the agent ended before it took the prompt", i)
		}
		l.log(eventFail, "iteration %d %s attempt=%d/%d backoff=%gs", i, how, st.Failures, MaxFailures, wait.Seconds())
		if wait > 0 {
			what += fmt.Sprintf(", retrying in %gs (attempt %d/%d)", wait.Seconds(), st.Failures, MaxFailures)
		}
		l.say("%s", what)
	case out.ending == inactive && !out.done:
		seconds := time.Duration(st.Inactivity).Seconds()
		next := ", restarting"
		if st.Complete() || out.question != "" {
			next = ""
		}
		l.say("inactivity timeout (%gs)%s", seconds, next)
		l.log(eventTimeout, "iteration %d inactivity_timeout=%gs", i, seconds)
		if out.background != "" {
			l.log(eventWarn, "iteration %d: background work of the agent was ended: %s", i, out.background)
		}
	case out.ending == idle:
		l.say("iteration %d completed (idle, duration: %s)", i, took)
		l.log(eventEnd, "iteration %d idle duration=%s", i, took)
	case out.ending == exited:
		if out.unasked {
			l.log(eventWarn, "iteration %d: the agent ended before it was given the prompt", i)
		}
		l.say("iteration %d completed (%s, duration: %s)", i, exitText(": ", out.exit), took)
		l.log(eventEnd, "iteration %d %s duration=%s", i, exitText("=", out.exit), took)
	}
	switch {
	case st.Status == Paused && st.ExitReason == ReasonProgress:
		text := st.StillText()
		l.say("paused: %s", text)
		l.logPause("%s reason=%s", text, ReasonProgress)
		l.notify(NotePaused, text)
	case out.done:
		l.say("done pattern matched, stopping loop")
		l.log(eventDone, "done pattern matched in iteration %d reason=%s", i, ReasonDone)
	case st.ExitReason == ReasonDialog:
		l.say("the agent waits for a person, stopping loop: %s", st.Dialog)
		l.log(eventDone, "the agent asks: %s reason=%s", st.Dialog, ReasonDialog)
	case st.ExitReason == ReasonSession:
		err := &noSessionError{l.Name}
		l.say("%v, stopping loop: %s", err, err.Hint())
		l.log(eventDone, "%v: %s reason=%s", err, err.Hint(), ReasonSession)
	case st.Status == Failed:
		l.say("%d consecutive failures, stopping loop", st.Failures)
		l.log(eventDone, "%d consecutive failures reason=%s", st.Failures, ReasonFailures)
	case st.stuck() && st.Complete():
		l.log(eventWarn, "%s", st.StillText())
	}
}

func (l *loop) reportLeft(st *State, out outcome) {
	for _, p := range out.left {
		l.log(eventError, "iteration %d: cannot end %s (pid %d)", st.Iteration, p.Name, p.PID)
	}
}

// exitText is "exit: 3" or "signal: SIGTERM", with sep between.
func exitText(sep, exit string) string {
	if unix.SignalNum(exit) != 0 || strings.HasPrefix(exit, "SIG") {
		return "signal" + sep + exit
	}
	return "exit" + sep + exit
}

// formatDuration formats a duration for people: "5m 12s".
func formatDuration(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %ds", s/60, s%60)
	default:
		return fmt.Sprintf("%dh %dm %ds", s/3600, s/60%60, s%60)
	}
}
