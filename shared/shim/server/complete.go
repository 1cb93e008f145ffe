package server

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/swarm"
)

type completion struct {
	rundir.Request
	sig unix.Signal
	// deadline is until when the worker may end by itself; zero if it is not done, or is being
	// ended.
	deadline time.Time
}

// complete records that the worker is done, and answers once that is durable. A later kill
// ends the worker, but is not the cause of its end.
func (k *shim) complete(r control.Request, sig unix.Signal) {
	if k.phase == over || k.status.Completion != nil || k.completing || len(k.kills) > 0 || k.isFinal() {
		r.From.Last(rundir.Answer{Kind: rundir.AnswerLate})
		return
	}
	k.completing = true
	done := &rundir.Completion{Summary: r.Summary, TimeNS: time.Now().UnixNano()}
	k.writes.add(write{
		begin: func() func() error {
			st := k.status
			st.Completion = done
			e := k.encode(st)
			e.answered = true
			return func() error {
				if err := k.file.write(e); err != nil {
					return err
				}
				_ = k.journal.changed() // otherwise the host notices the change at its next check
				failpoint("completed")
				return nil
			}
		},
		end: func(err error) { k.completed(r, sig, done, err) },
	})
}

// completed follows the write of a completion.
func (k *shim) completed(r control.Request, sig unix.Signal, done *rundir.Completion, err error) {
	k.completing = false
	if err != nil {
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			err = errno
		}
		r.From.Last(rundir.Answer{Kind: rundir.AnswerBusy, Text: "the completion can't be written: " + err.Error()})
		return
	}
	k.status.Completion = done
	k.completion = completion{Request: r.Request, sig: sig, deadline: time.Now().Add(grace(r.GraceMS))}
	if k.isFinal() {
		// It ended during the write.
		k.status.Cause, k.status.Reason = k.cause()
	}
	r.From.Last(rundir.Answer{Kind: rundir.AnswerOK})
	k.announce()
}

// graceOver ends a worker that did not end by itself after it was done. While a kill is in
// progress it waits for that kill's deadline: the kill may give up.
func (k *shim) graceOver(now time.Time) {
	c := &k.completion
	if c.deadline.IsZero() || c.deadline.After(now) {
		return
	}
	c.deadline = time.Time{}
	for _, kl := range k.kills {
		if !kl.spent {
			c.deadline = kl.deadline
		}
	}
	if !c.deadline.IsZero() {
		return
	}
	kl := killOf(c.Request, c.sig, nil)
	kl.cause = swarm.CauseCompleted
	k.begin(kl)
}

func grace(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// cause is the cause of an end at this moment: a completion, else the earliest running
// kill, else an exit of its own. A system that goes down may close the terminal first.
func (k *shim) cause() (cause swarm.Cause, reason string) {
	switch {
	case k.status.Completion != nil:
		return swarm.CauseCompleted, ""
	case len(k.kills) > 0:
		first := k.kills[0]
		if first.cause == swarm.CauseHangup {
			shutdown := slices.IndexFunc(k.kills, func(kl *kill) bool { return kl.cause == swarm.CauseShutdown })
			if shutdown > 0 {
				first = k.kills[shutdown]
			}
		}
		return first.cause, first.reason
	default:
		return swarm.CauseExited, ""
	}
}
