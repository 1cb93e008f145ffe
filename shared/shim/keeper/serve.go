package keeper

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// tidyEvery is after how many requests their garbage goes. Left to itself the
// runtime first lets a heap grow to 4 MiB, several times what the shim needs.
const tidyEvery = 64

// serve does what a client asks for, or lets it wait for the end.
func (k *keeper) serve(r request) {
	if k.served++; k.served%tidyEvery == 0 {
		runtime.GC()
	}
	if r.ID != "" && r.ID != k.launch.ID {
		r.from.last(rundir.Answer{Kind: rundir.AnswerStale})
		return
	}
	var sig unix.Signal
	if r.Signal != "" {
		if sig = proc.SignalNumber(r.Signal); sig == 0 {
			r.from.last(rundir.Answer{Kind: rundir.AnswerError, Text: "unknown signal " + r.Signal})
			return
		}
	}
	switch r.Verb {
	case rundir.VerbKill:
		r.from.say(rundir.Answer{Kind: rundir.AnswerAccepted})
		if k.over {
			k.wait(r.from)
			return
		}
		k.begin(&kill{
			cause:    causeKilled,
			signal:   r.Signal,
			deadline: time.Now().Add(time.Duration(r.GraceMS) * time.Millisecond),
			force:    r.Force,
			client:   r.from,
		}, sig, r.MainOnly)
	case rundir.VerbSignal:
		if err := k.signal(sig, r.MainOnly); err != nil {
			r.from.last(rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()})
			return
		}
		r.from.last(rundir.Answer{Kind: rundir.AnswerOK})
	case rundir.VerbWait:
		k.wait(r.from)
	}
}

func (k *keeper) wait(c *client) {
	c.late = k.over
	// Those who left need no place any more.
	k.waiting = slices.DeleteFunc(k.waiting, func(c *client) bool { return c.left.Load() })
	k.waiting = append(k.waiting, c)
}

// signal sends a signal that is not meant to end the worker.
func (k *keeper) signal(sig unix.Signal, mainOnly bool) error {
	targets, err := k.members()
	if err != nil {
		return err
	}
	if mainOnly {
		targets = only(targets, k.status.Main.PID)
	}
	if len(targets) == 0 {
		return errors.New("the process has ended")
	}
	var failed []error
	for _, p := range targets {
		if err := p.Signal(sig); err != nil && !errors.Is(err, proc.ErrGone) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// caught handles a signal to the shim itself.
func (k *keeper) caught(sig unix.Signal) {
	switch sig {
	case unix.SIGHUP:
		if k.term != nil {
			k.hangup()
			return
		}
		k.shutdown(sig)
	case unix.SIGTERM, unix.SIGINT, unix.SIGQUIT:
		k.shutdown(sig)
	default:
		// The others are caught so that they do not end the shim.
	}
}

// shutdown ends the worker because the system ends the shim.
func (k *keeper) shutdown(sig unix.Signal) {
	k.beginOnce(causeShutdown, "the keeper got "+proc.SignalName(sig), unix.SIGTERM)
}

// hangup ends the worker because its terminal is gone.
func (k *keeper) hangup() {
	k.term.hungup = nil
	k.beginOnce(causeHangup, "the terminal was closed", unix.SIGHUP)
}

// beginOnce begins a kill that nobody asked for, by the worker's policy.
func (k *keeper) beginOnce(cause, reason string, sig unix.Signal) {
	same := func(kl *kill) bool { return kl.cause == cause && !kl.spent }
	if k.over || slices.ContainsFunc(k.kills, same) {
		return
	}
	k.begin(&kill{
		cause:    cause,
		reason:   reason,
		signal:   proc.SignalName(sig),
		deadline: time.Now().Add(time.Duration(k.launch.GraceMS) * time.Millisecond),
		force:    k.launch.Force,
	}, sig, k.launch.MainOnly)
}
