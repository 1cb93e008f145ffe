package server

import (
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// end makes the end durable and reports it, in the only order in which no client learns of
// an end that a crash undoes, or reads a status before its output.
func (k *shim) end() int {
	failpoint("drained")
	k.log.Close()
	k.transcript.Close()
	failpoint("logged")
	k.capture()
	k.writes.finish()
	k.countDrops()
	if peak, ok := k.group.Peak(); ok {
		k.used.Peak = peak
	}
	k.status.State, k.status.Used, k.status.Paused = rundir.StateEnded, &k.used, false
	err := k.file.end(k.status)
	failpoint("ended")
	if err == nil {
		_ = k.journal.ended() // otherwise the host notices the end at its next check
	}
	failpoint("noted")
	_ = k.group.Remove() // it stays while workers that this one spawned are in it, and share its limits
	if k.term != nil {
		k.term.restore()
	}
	if err != nil {
		// The status still says running, and with the shim gone that reads as lost.
		k.control.Close()
		return exitError
	}
	k.answerAll()
	k.awaitInput()
	failpoint("answered")
	k.control.Close()
	return exitDone
}

// answerAll answers all waiting clients, and those that asked while the end was written.
func (k *shim) answerAll() {
	for _, kl := range k.kills {
		if kl.client != nil && !kl.spent {
			kl.client.Last(rundir.Answer{Kind: rundir.AnswerEnded, Forced: k.status.Forced, Signal: kl.signal})
		}
	}
	for {
		for _, c := range k.waiting {
			c.Last(rundir.Answer{Kind: rundir.AnswerEnded, Forced: k.status.Forced, Already: c.Late})
		}
		k.waiting = nil
		select {
		case r := <-k.requests:
			k.serve(r)
		default:
			return
		}
	}
}

// awaitInput waits until the last input is answered: it may have ended the worker.
func (k *shim) awaitInput() {
	late := time.After(breather)
	for {
		select {
		case k.turn <- struct{}{}:
			return
		case c := <-k.control.Left():
			c.Release()
		case <-late:
			return
		}
	}
}
