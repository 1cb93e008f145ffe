package ralph

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

const (
	// maxLimitWait is the longest wait for the end of a usage limit.
	maxLimitWait = 6 * time.Hour
	// limitMargin is added to the end of a limit: clocks differ, and agents round.
	limitMargin = time.Minute
	// stale is how far in the past a time of day may be and still mean today.
	stale = 10 * time.Minute
)

// A usage limit is recognised by its name and its end. Both are searched for only in the
// error that an agent shows or fails with, never in its other output.
var (
	limitName = lazyregexp.New(`(?i)\b(?:usage|rate|session|weekly|daily|hourly|\d+-hour|request|token)s? limit|\blimit (?:is |was |has been )?(?:reached|exceeded|hit)|\b(?:hit|reached|exceeded) (?:your|the) .{0,40}?limit|\blimit (?:will )?resets?|\bquota\b.{0,40}?\bexce|\bexce\w+ .{0,40}?\bquota`)
	// limitEpoch matches the form of Claude Code's headless mode.
	limitEpoch = lazyregexp.New(`(?i)limit reached\|(\d{10})\b`)
	limitIn    = lazyregexp.New(`(?i)\b(?:resets?|again|retry|available)\b\W{0,3}(?:\w+ ){0,2}?in (?:about )?((?:\d{1,5} ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b,? ?(?:and )?)+)`)
	limitPart  = lazyregexp.New(`(?i)(\d{1,5}) ?([dhms])`)
	limitAt    = lazyregexp.New(`(?i)\b(?:resets?|again|retry|available)\b\W{0,3}(?:on |at |by |after )?` +
		`(?:(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,? (?:at )?)?` +
		`(\d{1,2})(?::(\d{2}))? ?([ap]\.?m\b\.?)?(?: ?\(?([A-Z][A-Za-z_]+(?:/[A-Za-z_+-]+)*)\)?)?`)
)

func limitEnd(text string, now time.Time) (end time.Time, ok bool) {
	text = strings.Join(strings.Fields(text), " ")
	if m := limitEpoch().FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(n, 0), err == nil
	}
	if !limitName().MatchString(text) {
		return time.Time{}, false
	}
	if m := limitIn().FindStringSubmatch(text); m != nil {
		return now.Add(spanOf(m[1])), true
	}
	for _, m := range limitAt().FindAllStringSubmatch(text, -1) {
		if end, ok := clockOf(m, now); ok {
			return end, true
		}
	}
	return time.Time{}, false
}

// spanOf adds up "2 days 3h 5 minutes".
func spanOf(text string) (d time.Duration) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
	for _, m := range limitPart().FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			d += time.Duration(n) * units[strings.ToLower(m[2])]
		}
	}
	return d
}

// clockOf returns the next moment that a match of limitAt names: a month, a day, a year,
// an hour, minutes, am or pm, and a place. A bare number does not count as a time.
func clockOf(m []string, now time.Time) (time.Time, bool) {
	half := strings.ToLower(strings.ReplaceAll(m[6], ".", ""))
	if half == "" && m[5] == "" {
		return time.Time{}, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	hour, minute := number(m[4]), number(m[5])
	switch {
	case minute > 59 || hour > 23 || half != "" && (hour < 1 || hour > 12):
		return time.Time{}, false
	case half == "am":
		hour %= 12
	case half == "pm":
		hour = hour%12 + 12
	}
	// Agents show times in the user's own zone, which also replaces an unknown zone.
	in := now.Local().Location()
	if zone := m[7]; zone != "" {
		if l, err := time.LoadLocation(zone); err == nil {
			in = l
		}
	}
	here := now.In(in)
	if m[1] == "" {
		at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, in)
		if at.Before(now.Add(-stale)) {
			at = time.Date(here.Year(), here.Month(), here.Day()+1, hour, minute, 0, 0, in)
		}
		return at, true
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[1][:1])+strings.ToLower(m[1][1:]))
	if err != nil {
		return time.Time{}, false
	}
	year := here.Year()
	if m[3] != "" {
		year = number(m[3])
	}
	at := time.Date(year, month.Month(), number(m[2]), hour, minute, 0, 0, in)
	if at.Month() != month.Month() {
		return time.Time{}, false // the 31st of a shorter month
	}
	if m[3] == "" && at.Before(now.AddDate(0, -1, 0)) {
		at = at.AddDate(1, 0, 0)
	}
	return at, true
}

// limitWait returns until when to wait for the end of the usage limit in a text, if there
// is one.
func limitWait(text string, now time.Time) (until time.Time, ok bool) {
	end, ok := limitEnd(text, now)
	if !ok {
		return time.Time{}, false
	}
	left := min(max(0, end.Sub(now)), maxLimitWait-limitMargin)
	return now.Add(left + limitMargin), true
}

// errorLines is how many lines an error on the screen may have.
const errorLines = 6

// errorText returns the error of which a line is broken, as the screen shows it; without
// broken, the last lines.
func errorText(lines []string, broken string) string {
	from := max(0, len(lines)-errorLines)
	for i := len(lines) - 1; broken != "" && i >= 0; i-- {
		if strings.Contains(lines[i], broken) {
			from = i
			break
		}
	}
	var text []string
	for _, line := range lines[from:min(len(lines), from+errorLines)] {
		line = strings.TrimSpace(line)
		if broken != "" && strings.Trim(line, "─━═▔▁▄▀╭╰│┃") == "" {
			break // the end of the paragraph, or the frame around the prompt
		}
		text = append(text, line)
	}
	return strings.Join(text, " ")
}

// clockEvery is how often the clock is read while the loop waits for a time of day: a
// sleeping machine stops timers.
const clockEvery = time.Minute

func (l *loop) reportLimit(st *State) {
	text := fmt.Sprintf("until %s: %s", st.LimitUntil.Local().Format(ClockFormat), st.Limit)
	l.say("usage limit, waiting %s", text)
	l.log(eventLimit, "iteration %d: usage limit, waiting %s", st.Iteration, text)
	l.limits(st)
	l.notify(NoteLimited, text)
}

// waitLimit waits for the end of the usage limit in the state, if there is one, or until
// the loop is resumed or its state removed.
func (l *loop) waitLimit(ctx context.Context) error {
	st, err := l.Store.Load(l.Name)
	if err == nil && st.Status == Stopped && st.ExitReason == ReasonKilled && !st.LimitUntil.IsZero() {
		// Its worker was started again.
		st, err = l.Store.Change(ctx, l.Name, func(st *State) error {
			st.Status, st.ExitReason = Running, ""
			return nil
		})
	}
	if err != nil || st.LimitUntil.IsZero() || st.Status != Running {
		return err
	}
	w, err := l.Store.watch(l.Name)
	if err != nil {
		return err
	}
	defer w.close()
	return l.awaitLimit(ctx, w)
}

// awaitLimit waits until the state has no usage limit any more, or one that has ended.
func (l *loop) awaitLimit(ctx context.Context, w *watch) error {
	for {
		st, err := l.Store.Load(l.Name)
		if err != nil {
			return err
		}
		if st.LimitUntil.IsZero() {
			break
		}
		l.limits(&st)
		// The monotonic part of the time is dropped: that clock stops while the machine
		// sleeps.
		left := st.LimitUntil.Sub(time.Now().Round(0))
		if left <= 0 {
			_, err := l.Store.Change(ctx, l.Name, func(st *State) error {
				st.LimitUntil, st.Limit, st.LimitHourly = time.Time{}, "", false
				return nil
			})
			if err != nil {
				return err
			}
			break
		}
		if err := l.await(ctx, w, time.After(min(left, clockEvery))); err != nil {
			return err
		}
	}
	l.logResume()
	return nil
}

// limits notes that the loop waits because of the limit in the state.
func (l *loop) limits(st *State) {
	l.halt = "continuing after the usage limit"
	if st.LimitHourly {
		l.halt = "continuing after the wait"
	}
}
