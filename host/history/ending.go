package history

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The kinds of events. The first five are the ends of workers.
const (
	Complete registry.EventKind = "COMPLETE"
	Exited   registry.EventKind = "EXITED"
	Failed   registry.EventKind = "FAILED"
	Died     registry.EventKind = "DIED"
	Killed   registry.EventKind = "KILLED"

	Spawned registry.EventKind = "SPAWNED"
	// Adopted: it was found in its engine, where another host had spawned it.
	Adopted       registry.EventKind = "ADOPTED"
	Restarted     registry.EventKind = "RESTARTED"
	CrashLoop     registry.EventKind = "CRASH LOOP"
	KillRequested registry.EventKind = "KILL REQUESTED"
	Kept          registry.EventKind = "WORKTREE KEPT"
	// Rescued: the place of work that was saved from a workspace when no caller could be
	// notified.
	Rescued registry.EventKind = "WORK SAVED"
	// RespawnFailed says that the worker could not be started again; it stays ended.
	RespawnFailed registry.EventKind = "RESPAWN FAILED"
	// Resurrected: it ended with the machine, and is started again.
	Resurrected registry.EventKind = "RESURRECTED"
	Cleaned     registry.EventKind = "CLEANED"

	// These are the states of agents, as their screens show them or their hooks report them.
	// The text of Blocked is the question, that of Limited and Broken the reason, and that
	// of Background the work that runs on.
	Blocked    registry.EventKind = "BLOCKED"
	Idle       registry.EventKind = "IDLE"
	Working    registry.EventKind = "WORKING"
	Background registry.EventKind = "BACKGROUND"
	Compacting registry.EventKind = "COMPACTING"
	Broken     registry.EventKind = "BROKEN"
	// Limited: the agent stopped at a usage limit, or a loop waits for the end of one.
	Limited registry.EventKind = "LIMITED"
	// Asked: an agent asks something; the text is the question, and the digest of the dialog if
	// its screen shows one. Each dialog has one such event, however often it is seen.
	Asked registry.EventKind = "ASKED"
	// Answered: swarm answered the agent's question for a caller; the text is the question, the
	// choice, and who answered: a person, an agent, or a rule.
	Answered registry.EventKind = "ANSWERED"
	// LoopPaused: a loop was paused because it makes no progress; the text says so.
	LoopPaused registry.EventKind = "LOOP PAUSED"
)

// The texts of final events.
const (
	textExited = "success"
	textDied   = "process not found"
	textKilled = "by orchestrator"
	textMemory = "out of memory"
)

// endKind returns the event for the end of a worker. No other function chooses its words, so
// every process writes the same.
func endKind(s swarm.Status) (registry.EventKind, string) {
	e := s.Exit
	switch {
	case s.Completion != nil:
		return Complete, OneLine(s.Completion.Summary)
	case e == nil:
		return Died, textDied
	case e.Cause == swarm.CauseKilled || e.Cause == swarm.CauseOwner:
		return Killed, textKilled
	case e.Cause == swarm.CauseCompleted:
		return Complete, ""
	case e.Cause == swarm.CauseOutOfMemory && e.Reason != "":
		return Failed, textMemory + " (" + OneLine(e.Reason) + ")"
	case e.Cause == swarm.CauseOutOfMemory:
		return Failed, textMemory
	case e.Cause == swarm.CauseNotStarted && e.Reason != "":
		return Failed, OneLine(e.Reason)
	case e.Cause == swarm.CauseEvicted && e.Reason != "":
		if e.Code < 0 && e.Signal == "" {
			return Failed, OneLine(e.Reason)
		}
		return Failed, exitText(e.Code, e.Signal) + " (" + OneLine(e.Reason) + ")"
	case e.Code == 0:
		return Exited, textExited
	default:
		return Failed, exitText(e.Code, e.Signal)
	}
}

// TeamEnd returns the meaning of the end of a worker for its team.
func TeamEnd(s swarm.Status) team.End {
	switch kind, text := endKind(s); {
	case kind == Killed:
		return team.End{Killed: true}
	case kind == Complete && text != "":
		return team.End{Reason: "completed: " + text}
	case kind == Complete:
		return team.End{Reason: "completed"}
	case kind == Exited:
		return team.End{Reason: exitText(0, "")}
	default:
		return team.End{Reason: text}
	}
}

func exitText(code int, signal string) string {
	switch sig := unix.SignalNum(signal); {
	case signal == "":
		return fmt.Sprintf("exit status %d", code)
	case sig == 0:
		return "signal: " + OneLine(signal)
	default:
		return "signal: " + sig.String()
	}
}

// endTime is when the worker ended, or said that it is done; now if that is not known.
func endTime(s swarm.Status, now time.Time) time.Time {
	switch {
	case s.Completion != nil && !s.Completion.Time.IsZero():
		return s.Completion.Time
	case s.Exit != nil && !s.Exit.Time.IsZero():
		return s.Exit.Time
	default:
		return now
	}
}

// Over reports whether nothing of a worker is left. A lost worker that perhaps still runs has
// not ended.
func Over(s swarm.Status) bool {
	return s.State == swarm.StateExited || s.State == swarm.StateLost && len(s.Survivors) == 0 && len(s.PerhapsAlive) == 0
}

// FinalEvent is the end of a worker in the history.
func FinalEvent(rec *registry.Record, s swarm.Status, now time.Time) registry.Event {
	kind, text := endKind(s)
	e := NewEvent(rec, kind, text, endTime(s, now))
	e.Final, e.Exit = true, s.Exit
	return e
}

// SpawnedEvent returns the event for the start of a worker.
func SpawnedEvent(rec *registry.Record, s swarm.Status) registry.Event {
	at := s.Started
	if at.IsZero() {
		at = rec.Created
	}
	e := NewEvent(rec, Spawned, "", at)
	if n := len(rec.Previous); n > 0 {
		e.Previous = rec.Previous[n-1]
	}
	return e
}

// RestartEvents returns the events of the restarts that have none yet.
func RestartEvents(rec *registry.Record, s swarm.Status, now time.Time) []registry.Event {
	var events []registry.Event
	recorded := rec.Restarts
	gap := func(until int, at time.Time) {
		switch until - recorded {
		case 0:
		case 1:
			events = append(events, NewEvent(rec, Restarted, fmt.Sprintf("restart %d", until), at))
		default:
			events = append(events, NewEvent(rec, Restarted, fmt.Sprintf("restarts %d to %d", recorded+1, until), at))
		}
		recorded = max(recorded, until)
	}
	for _, r := range s.LastRestarts {
		if r.Number <= recorded {
			continue
		}
		gap(r.Number-1, r.Time)
		events = append(events, NewEvent(rec, Restarted, fmt.Sprintf("restart %d after %s", r.Number, exitText(r.Code, r.Signal)), r.Time))
		recorded = r.Number
	}
	if s.Restarts > recorded {
		gap(s.Restarts, now)
	}
	return events
}

// CrashLoopEvent reports that the restarts of a worker were used up, with the last
// lines that it wrote.
func CrashLoopEvent(rec *registry.Record, s swarm.Status, lines []string, now time.Time) registry.Event {
	r := rec.Restart.OrDefault()
	text := fmt.Sprintf("%d restarts within %s", r.Budget, r.Window)
	if len(lines) > 0 {
		text += "; last output: " + strings.Join(lines, " | ")
	}
	return NewEvent(rec, CrashLoop, text, endTime(s, now))
}

func NewEvent(rec *registry.Record, kind registry.EventKind, text string, at time.Time) registry.Event {
	return registry.Event{Time: at, ID: rec.ID, Worker: rec.Name, Kind: kind, Text: text, Tags: rec.Tags}
}

// OneLine makes one line of a text, without what controls how it is shown: sequences
// and hidden characters go, white space becomes a blank.
func OneLine(s string) string {
	s = string(screen.Text([]byte(strings.ReplaceAll(s, "\r", "\n"))))
	words := strings.Fields(strings.ToValidUTF8(s, "\ufffd"))
	return strings.Map(func(r rune) rune {
		if safetext.IsHidden(r) {
			return -1
		}
		return r
	}, strings.Join(words, " "))
}

// WhyUnknown reports whether a backend could not determine how a worker is, and why, in one
// line. An unavailable backend is in the status itself.
func WhyUnknown(r swarm.StatusResult) (reason string, unknown bool) {
	switch {
	case r.Err != nil:
		return OneLine(errtext.Without(r.Err, swarm.ErrUnavailable)), true
	case r.Status.State != swarm.StateUnknown:
		return "", false
	default:
		return cmp.Or(r.Status.Reason, "the backend does not know"), true
	}
}

// Processes lists ps for a person: "sleep (pid 12), npm (pid 13)".
func Processes(ps []swarm.Process) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		name := cmp.Or(p.Name, "process")
		if parts[i] = name; p.PID != 0 { // which is not known of other machines
			parts[i] = fmt.Sprintf("%s (pid %d)", name, p.PID)
		}
	}
	return strings.Join(parts, ", ")
}

// PerhapsAlive describes the processes that are perhaps those of a lost worker: "main process
// perhaps alive: pid 12, sleep, since 2026-11-21 15:53:13", or "perhaps alive: " if the main
// process is not among them. pid is the number of the main process, 0 if it is not known.
// The text is empty without processes.
func PerhapsAlive(pid int, ps []swarm.Process) string {
	if len(ps) == 0 {
		return ""
	}
	parts := make([]string, len(ps))
	what := "perhaps alive: "
	for i, p := range ps {
		text := p.Name
		if p.PID != 0 { // it is not known for other machines
			text = strings.TrimSuffix("pid "+strconv.Itoa(p.PID)+", "+p.Name, ", ")
		}
		if !p.Started.IsZero() {
			text += ", since " + p.Started.Local().Format("2006-01-02 15:04:05")
		}
		parts[i] = text
		if pid != 0 && p.PID == pid {
			what = "main process perhaps alive: "
		}
	}
	return what + strings.Join(parts, "; ")
}

// Confirmed returns nil if a backend without an error for a kill also confirms that no
// process of the worker is left. An end is never inferred from silence.
func Confirmed(backend string, res swarm.KillResult) error {
	s := res.Status
	switch {
	case len(Survivors(res)) > 0:
		return swarm.ErrSurvivors
	case Over(s):
		return nil
	case s.State == swarm.StatePending:
		return fmt.Errorf("backend '%s' says that the worker still waits for its start", backend)
	case s.State == swarm.StateRunning:
		return fmt.Errorf("backend '%s' says that the worker is still running", backend)
	case s.Reason != "":
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended: %s", backend, OneLine(s.Reason))
	default:
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended", backend)
	}
}

// Survivors returns the processes that a kill did not end.
func Survivors(res swarm.KillResult) []swarm.Process {
	if len(res.Survivors) > 0 {
		return res.Survivors
	}
	return res.Status.Survivors
}
