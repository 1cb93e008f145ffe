package ralph

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// spent reports whether the loop has used all of its time.
func (s *State) spent() bool { return s.MaxTime > 0 && s.TimeUsed >= s.MaxTime }

// Spent returns how much of its time a loop has used if it has used all of it; else ok is
// false.
func (s *State) Spent() (used, limit time.Duration, ok bool) {
	return time.Duration(s.TimeUsed), time.Duration(s.MaxTime), s.spent()
}

// use adds the time of the open iteration until now to what the loop has used.
func (s *State) use(now time.Time) {
	if !s.IterationStarted.IsZero() {
		s.TimeUsed += Seconds(max(0, now.Sub(s.IterationStarted)))
	}
}

// mayStart notes the start of an iteration, or returns until when the loop has to wait because
// it has begun too many in the last hour.
func (s *State) mayStart(now time.Time) (until time.Time, ok bool) {
	if s.MaxPerHour == 0 {
		return time.Time{}, true
	}
	now = now.Round(0)
	s.Starts = slices.DeleteFunc(s.Starts, func(at time.Time) bool { return now.Sub(at) >= time.Hour || at.After(now) })
	if n := len(s.Starts); n >= s.MaxPerHour {
		return s.Starts[n-s.MaxPerHour].Add(time.Hour), false
	}
	s.Starts = append(s.Starts, now)
	return time.Time{}, true
}

// hourly has the loop wait until a time because of [State.MaxPerHour].
func (s *State) hourly(until time.Time) {
	s.LimitUntil, s.LimitHourly = until, true
	if s.Limit = fmt.Sprintf("%d iterations an hour", s.MaxPerHour); s.MaxPerHour == 1 {
		s.Limit = "one iteration an hour"
	}
}

// awaitHour waits until the next iteration may begin.
func (l *loop) awaitHour(ctx context.Context, st *State) error {
	text := fmt.Sprintf("until %s: %s", st.LimitUntil.Local().Format(ClockFormat), st.Limit)
	l.say("waiting %s", text)
	l.log(eventLimit, "waiting %s", text)
	l.limits(st)
	return l.waitLimit(ctx)
}

// NoLimit ends every wait of a loop.
func (s *State) NoLimit() {
	s.LimitUntil, s.Limit, s.LimitHourly, s.Starts = time.Time{}, "", false, nil
}
