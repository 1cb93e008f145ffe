package server

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/swarm"
)

// tidyEvery is the number of requests between two garbage collections. By default the
// runtime lets a heap grow to 4 MiB first, several times what the shim needs.
const tidyEvery = 64

// tidyAfter is how long after a request or much output the shim gives the memory back that it used
// for them, and how often it does so while more comes.
const tidyAfter = time.Second

// serve carries out the request of a client, or lets it wait for the end.
func (k *shim) serve(r control.Request) {
	if k.served++; k.served%tidyEvery == 0 {
		runtime.GC()
	}
	k.tidyLater()
	if r.ID != "" && r.ID != k.launch.ID {
		r.Refuse(rundir.Answer{Kind: rundir.AnswerStale})
		return
	}
	// An end that has happened comes first, even if its signal does not.
	k.reap()
	var sig unix.Signal
	if r.Signal != "" {
		if sig = proc.SignalNumber(r.Signal); sig == 0 {
			r.Refuse(rundir.Answer{Kind: rundir.AnswerError, Text: "unknown signal " + r.Signal})
			return
		}
	}
	switch r.Verb {
	case rundir.VerbKill:
		r.From.Say(rundir.Answer{Kind: rundir.AnswerAccepted})
		if k.phase == over {
			k.wait(r.From)
			return
		}
		kl := killOf(r.Request, sig, r.From)
		if r.Closing && k.term != nil && !k.term.gone {
			// Its first signal is delayed, but not its deadline: a grace includes the time that the
			// terminal takes to close.
			k.kills = append(k.kills, kl)
			k.closing = &closure{kill: kl, limit: time.Now().Add(closeLimit)}
			return
		}
		k.begin(kl)
	case rundir.VerbSignal:
		r.From.Last(k.signal(sig, func(p proc.Process) bool { return !r.MainOnly || p.PID == k.status.Main.PID }))
	case rundir.VerbInput:
		k.serveInput(r)
	case rundir.VerbComplete:
		k.complete(r, sig)
	case rundir.VerbLimits:
		r.From.Last(k.setLimits(r.Limits))
	case rundir.VerbPause:
		k.setPaused(r)
	case rundir.VerbExec:
		k.exec(r)
	case rundir.VerbWatch:
		r.From.Watches = true
		r.From.Say(rundir.Answer{Kind: rundir.AnswerOK})
		k.wait(r.From)
	}
}

// serveInput passes the intake to the client that gives input, or refuses the input.
func (k *shim) serveInput(r control.Request) {
	if r.Kind == rundir.InputInterrupt && k.term == nil {
		// Like the key of a terminal: those in the main process's group.
		r.Refuse(k.signal(unix.SIGINT, func(p proc.Process) bool { return p.Group == k.status.Main.PID }))
		return
	}
	if k.phase != running {
		r.Refuse(k.noMain())
		return
	}
	r.Intake <- k.intake
}

// noMain answers a request that needs a main process when none runs.
func (k *shim) noMain() rundir.Answer {
	if k.phase == over || k.isFinal() {
		return rundir.Answer{Kind: rundir.AnswerEnded, Already: true}
	}
	return rundir.Answer{Kind: rundir.AnswerBusy, Text: "the worker is between two starts"}
}

func (k *shim) wait(c *control.Client) {
	c.Late = k.phase == over
	// Clients that left wait no longer.
	k.waiting = slices.DeleteFunc(k.waiting, func(c *control.Client) bool { return c.HasLeft() })
	k.waiting = append(k.waiting, c)
}

// signal sends a signal that is not meant to end the worker.
func (k *shim) signal(sig unix.Signal, to func(proc.Process) bool) rundir.Answer {
	members, err := k.members()
	if err != nil {
		return rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()}
	}
	members = slices.DeleteFunc(members, func(p proc.Process) bool { return !to(p) })
	if len(members) == 0 {
		return k.noMain()
	}
	for _, p := range members {
		if sigErr := p.Signal(sig); sigErr != nil && !errors.Is(sigErr, proc.ErrGone) {
			err = errors.Join(err, sigErr)
		}
	}
	if err != nil {
		return rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()}
	}
	return rundir.Answer{Kind: rundir.AnswerOK}
}

// caught handles a signal to the shim itself.
func (k *shim) caught(sig unix.Signal) {
	switch sig {
	case unix.SIGHUP:
		if k.term != nil {
			k.hangup()
			return
		}
		k.shutdown(sig)
	case unix.SIGTERM, unix.SIGINT, unix.SIGQUIT:
		k.shutdown(sig)
	case unix.SIGXCPU:
		k.outOfTime()
	default:
		// The others are caught so that they do not end the shim.
	}
}

// shutdown ends the worker because the system ends the shim.
func (k *shim) shutdown(sig unix.Signal) {
	k.beginOnce(swarm.CauseShutdown, "the shim got "+proc.SignalName(sig), unix.SIGTERM)
}

// hangup ends the worker because its terminal is gone.
func (k *shim) hangup() {
	k.term.hungup, k.term.gone = nil, true
	if k.closing != nil {
		k.closed()
		return
	}
	k.beginOnce(swarm.CauseHangup, "the terminal was closed", unix.SIGHUP)
}

// beginOnce begins a kill without a request, by the worker's policy.
func (k *shim) beginOnce(cause swarm.Cause, reason string, sig unix.Signal) {
	same := func(kl *kill) bool { return kl.cause == cause && !kl.spent }
	if k.phase == over || slices.ContainsFunc(k.kills, same) {
		return
	}
	k.begin(&kill{
		cause:    cause,
		reason:   reason,
		sig:      sig,
		mainOnly: k.launch.MainOnly,
		deadline: time.Now().Add(grace(k.launch.GraceMS)),
		force:    k.launch.Force,
	})
}
