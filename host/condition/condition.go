// Package condition says in a few words how a worker is and how urgently it needs a person.
// Tables and dashboards show the same words, because they all come from [Of].
package condition

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kind is what a condition amounts to, in one word for programs.
type Kind string

// The kinds, the most urgent first.
const (
	// Blocked means that an agent asks something and takes no other input.
	Blocked Kind = "blocked"
	// Broken means that an agent stopped with an error, or needs a sign-in.
	Broken Kind = "broken"
	// Limited means that an agent stopped at a usage limit.
	Limited Kind = "limited"
	// CrashLoop means that the restart policy has given the worker up.
	CrashLoop Kind = "crash-loop"
	// Lost means that the exit will never be known.
	Lost Kind = "lost"
	// Failed means that the worker did not start, or ended by itself with an error.
	Failed Kind = "failed"
	// Unknown means that the backend can't be asked.
	Unknown Kind = "unknown"
	// Restarting means that the worker waits for its next start.
	Restarting Kind = "restarting"
	// Starting means that the spawn is under way.
	Starting Kind = "starting"
	// Pending means that the engine has accepted the worker and has not started it yet.
	Pending Kind = "pending"
	// Paused means that the processes of the worker are stopped until it is resumed.
	Paused Kind = "paused"
	// Idle means that an agent waits at its prompt.
	Idle Kind = "idle"
	// Background means that the turn of an agent has ended and its background work runs on.
	Background Kind = "background"
	// Compacting means that an agent summarizes its conversation.
	Compacting Kind = "compacting"
	// Working means that an agent works on something.
	Working Kind = "working"
	// Running means that the worker runs, and no more is known of it.
	Running Kind = "running"
	// Succeeded means that the worker ended by itself with exit code 0.
	Succeeded Kind = "succeeded"
	// Completed means that the worker reported that it is done, and has ended.
	Completed Kind = "completed"
	// Killed means that swarm ended the worker.
	Killed Kind = "killed"
)

// kinds are all kinds with how they are shown, the most urgent first.
var kinds = []struct {
	kind Kind
	tone Tone
	// symbol is one character, plain is for terminals without Unicode.
	symbol, plain string
}{
	{Blocked, Asking, "◆", "!"},
	{Broken, Bad, "✗", "x"},
	{Limited, Bad, "◔", "#"},
	{CrashLoop, Bad, "↻", "%"},
	{Lost, Bad, "?", "?"},
	{Failed, Bad, "✗", "x"},
	{Unknown, Waiting, "?", "?"},
	{Restarting, Waiting, "◌", "~"},
	{Starting, Waiting, "◌", "~"},
	{Pending, Waiting, "◌", "~"},
	{Paused, Waiting, "‖", "="},
	{Idle, Good, "○", "o"},
	{Background, Good, "◍", "&"},
	{Compacting, Good, "◎", "@"},
	{Working, Good, "●", "*"},
	{Running, Good, "●", "*"},
	{Succeeded, Quiet, "✓", "+"},
	{Completed, Quiet, "✓", "+"},
	{Killed, Quiet, "■", "-"},
	{"", Quiet, "?", "?"}, // any other
}

// Urgency is the position of a kind in the list of kinds: less is more urgent.
func (k Kind) Urgency() int {
	last := len(kinds) - 1
	for i := range last {
		if kinds[i].kind == k {
			return i
		}
	}
	return last
}

// Tone is how a condition is to be shown.
type Tone int

// The tones.
const (
	// Quiet is for what has ended.
	Quiet Tone = iota
	// Good is for what continues as it should.
	Good
	// Waiting is for what is about to change by itself.
	Waiting
	// Asking is for what waits for a person.
	Asking
	// Bad is for what went wrong.
	Bad
)

// Tone returns how a kind is to be shown.
func (k Kind) Tone() Tone { return kinds[k.Urgency()].tone }

// SGR returns the numbers of the sequence that gives a tone its colour on a terminal, as in
// ESC [ 32 m. The colours are those of the user's terminal.
func (t Tone) SGR() string {
	return [...]string{Quiet: "2", Good: "32", Waiting: "33", Asking: "1;33", Bad: "31"}[t]
}

// Symbol returns one character for a kind; plain is for terminals without Unicode.
func (k Kind) Symbol(plain bool) string {
	if plain {
		return kinds[k.Urgency()].plain
	}
	return kinds[k.Urgency()].symbol
}

// Condition is how a worker is at one moment.
type Condition struct {
	Kind Kind
	// Text is a few words such as "running", "exited 3" or "restarting in 4s". A plugin or
	// a worker may have written part of it.
	Text string
	// Since is when it began to be so; zero if that is not known.
	Since time.Time
	// Over reports whether the worker has ended.
	Over bool
	// Restarted is how often its restart policy has started it again; 0 once it has ended.
	Restarted int
}

// RestartMark returns "↻4" for a worker that was restarted four times, and "" for one that
// was not; plain is for terminals without Unicode.
func (c Condition) RestartMark(plain bool) string {
	if c.Restarted == 0 {
		return ""
	}
	return CrashLoop.Symbol(plain) + strconv.Itoa(c.Restarted)
}

// Age returns how long it has been so: "2h" for a worker that runs, "2h ago" for one that
// has ended; empty if that is not known.
func (c Condition) Age(now time.Time) string {
	if c.Since.IsZero() {
		return ""
	}
	age := humane.Age(now.Sub(c.Since))
	if c.Over {
		age += " ago"
	}
	return age
}

// Words returns the text and the age, as in "running 2h" or "exited 3, 5m ago".
func (c Condition) Words(now time.Time) string {
	switch age := c.Age(now); {
	case age == "":
		return c.Text
	case c.Over:
		return c.Text + ", " + age
	default:
		return c.Text + " " + age
	}
}

// Compare orders conditions by urgency. Of the same kind, the newest comes first.
func Compare(a, b Condition) int {
	return cmp.Or(cmp.Compare(a.Kind.Urgency(), b.Kind.Urgency()), b.Since.Compare(a.Since))
}

func Of(w worker.Worker) Condition {
	c := of(w)
	if w.Status == worker.StatusRunning {
		c.Restarted = w.Restarts
	}
	return c
}

func of(w worker.Worker) Condition {
	switch w.Status {
	case worker.StatusRunning:
		return runningCondition(w)
	case worker.StatusPending:
		return Condition{Kind: Pending, Text: "pending"}
	case worker.StatusStopped:
		return ended(w)
	case worker.StatusLost:
		c := Condition{Kind: Lost, Text: "lost", Over: w.Gone()}
		if n := len(w.Survivors); n > 0 {
			c.Text += ", " + strconv.Itoa(n) + " alive"
		} else if len(w.PerhapsAlive) > 0 {
			c.Text += ", perhaps alive"
		}
		return c
	case worker.StatusStarting:
		if w.Reason == history.ReasonInterrupted {
			return Condition{Kind: Failed, Text: "spawn interrupted"}
		}
		return Condition{Kind: Starting, Text: "starting", Since: w.Created}
	default:
		return Condition{Kind: Unknown, Text: "unknown"}
	}
}

func runningCondition(w worker.Worker) Condition {
	if w.Paused {
		return Condition{Kind: Paused, Text: "paused"}
	}
	if w.BetweenStarts() {
		text, _, _ := strings.Cut(w.Reason, " (")
		if !strings.HasPrefix(text, "restarting") {
			text = "restarting"
		}
		return Condition{Kind: Restarting, Text: text}
	}
	c := Condition{Kind: Running, Text: "running", Since: w.Started}
	if w.State == nil {
		return c
	}
	// The states of agents are kinds of their own names, but one says nothing.
	if s := w.State.State; s != "" && s != profile.Unknown {
		return Condition{Kind: Kind(s), Text: string(s), Since: w.State.Since}
	}
	return c
}

func ended(w worker.Worker) Condition {
	c := Condition{Kind: Failed, Since: w.Ended, Over: true}
	switch e := w.Exit; {
	case w.Completion != nil:
		c.Kind, c.Text = Completed, "completed"
	case e == nil:
		c.Text = "exit unknown"
	case e.Cause == swarm.CauseCompleted:
		c.Kind, c.Text = Completed, "completed"
	case e.Cause == swarm.CauseKilled || e.Cause == swarm.CauseOwner:
		c.Kind, c.Text = Killed, "killed"
	case w.InCrashLoop():
		c.Kind, c.Text = CrashLoop, "crash loop"
	case e.Cause == swarm.CauseOutOfMemory:
		c.Text = "out of memory"
	case e.Cause == swarm.CauseEvicted:
		c.Text = "ended by its engine"
	case e.Signal != "":
		c.Text = "killed " + e.Signal
	case e.Code < 0:
		c.Text = "not started"
	case e.Code == 0:
		c.Kind, c.Text = Succeeded, "exited 0"
	default:
		c.Text = "exited " + strconv.Itoa(e.Code)
	}
	return c
}
