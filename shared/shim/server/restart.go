package server

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// restarts records the restarts of a worker, and when the next one is due.
type restarts struct {
	swarm.Restart
	// recent are the starts, or attempts, within the window.
	recent []time.Time
	// row counts the starts without a run that was longer than the window.
	row int
	// began is when the main process was started.
	began time.Time
	// at is when the next start is due while the worker pauses.
	at time.Time
	// untidy says that the memory of the previous start is not freed yet.
	untidy bool
	// failed is why the last attempt failed, nil if it did not.
	failed error
}

// wants reports whether the policy demands a start after an end of that kind.
func (r *restarts) wants(code int) bool {
	switch r.When {
	case swarm.RestartAlways:
		return true
	case swarm.RestartOnFailure:
		return code != 0 || r.failed != nil
	default:
		return false
	}
}

// spent reports whether the budget of starts is used up.
func (r *restarts) spent(now time.Time) bool {
	for len(r.recent) > 0 && now.Sub(r.recent[0]) >= r.Window {
		r.recent = r.recent[1:]
	}
	return len(r.recent) >= r.Budget
}

// delay returns how long to wait before the next start: twice as long each time, plus or
// minus a fifth, so that workers that ended together do not start together.
func (r *restarts) delay() time.Duration {
	least, most := r.MinDelay, r.MaxDelay
	d := most
	// Compared so that nothing can overflow.
	if r.row < 32 && least <= most>>r.row {
		d = least << r.row
	}
	return min(d*4/5+rand.N(d*2/5+1), max(most, 1))
}

// failure returns the error of the last attempt, which may hold a text of any length.
func (r *restarts) failure() string { return shortened(r.failed.Error(), 200) }

// treeEnded follows when no process of the worker is left: its run has ended, or it pauses until
// its next start.
func (k *shim) treeEnded() {
	k.endExecs()
	if k.willRestart() {
		k.pause()
		return
	}
	if k.enter(over) {
		k.finish()
	}
}

// willRestart decides whether a start follows the end of the main process. If it does not,
// the reason for that replaces the cause of the end.
func (k *shim) willRestart() bool {
	r := &k.restarts
	now := time.Now()
	switch {
	case !k.startDue():
		return false
	case k.status.Completion != nil || len(k.kills) > 0:
		k.status.Cause, k.status.Reason = k.cause()
		k.status.EndedNS = now.UnixNano()
		return false
	case r.spent(now):
		last := k.status
		k.status.Cause = swarm.CauseCrashLoop
		k.status.Reason = "restarted " + strconv.Itoa(len(r.recent)) + " times within " + span(r.Window)
		switch {
		case r.failed != nil:
			k.status.Reason += "; " + r.failure()
		case last.Cause == swarm.CauseOutOfMemory:
			k.status.Reason += "; out of memory (" + last.Reason + ")"
		}
		return false
	}
	return true
}

// startDue reports whether the policy demands a start after the end of the main process.
func (k *shim) startDue() bool {
	byItself := k.status.Cause == swarm.CauseExited || k.status.Cause == swarm.CauseOutOfMemory
	return byItself && k.restarts.wants(k.status.Code)
}

// isFinal reports whether the main process has ended and was the last one.
func (k *shim) isFinal() bool { return k.phase != running && !k.startDue() }

// pause schedules the next start. The last output may still arrive; on a terminal it
// continues.
func (k *shim) pause() {
	if !k.enter(pausing) {
		return
	}
	r := &k.restarts
	if time.Since(r.began) > r.Window {
		r.row = 0
	}
	d := r.delay()
	r.at = time.Now().Add(d)
	r.row++
	why := describe(k.status)
	if r.failed != nil {
		why = r.failure()
	}
	k.status.Reason = "restarting in " + span(d) + " (" + why + ")"
	k.status.Main, k.status.Session = rundir.Identity{}, 0
	k.status.Forced, k.forcing, k.leftover = false, false, nil
	clear(k.signalled)
	clear(k.killed)
	if k.term == nil {
		k.finish()
	}
	k.publish()
}

// resume starts the worker again when it is time.
func (k *shim) resume() {
	r := &k.restarts
	if k.phase != pausing {
		return
	}
	if k.status.Completion != nil || len(k.kills) > 0 {
		k.treeEnded()
		return
	}
	if time.Now().Before(r.at) || !k.drainedForStart() {
		return
	}
	r.began = time.Now()
	r.recent = append(r.recent, r.began)
	k.seen.childless = false
	if r.failed = k.startWorker(); r.failed != nil {
		k.treeEnded()
		return
	}
	k.enter(running)
	k.restarted()
}

// drainedForStart reports whether the output of the last start is complete: the output of the
// next start must come after it.
func (k *shim) drainedForStart() bool { return k.term != nil || len(k.outputs) == 0 }

func (k *shim) restarted() {
	s := &k.status
	s.Restarts++
	s.LastRestarts = append(s.LastRestarts, rundir.Restarted{
		Number: s.Restarts, TimeNS: s.StartedNS, Code: s.Code, Signal: s.Signal,
	})
	if len(s.LastRestarts) > swarm.MaxRestarts {
		s.LastRestarts = slices.Delete(s.LastRestarts, 0, 1)
	}
	s.EndedNS, s.Code, s.Signal, s.Cause, s.Reason = 0, 0, "", "", ""
	k.unjournaled, k.restarts.untidy = true, true
	k.publish()
}

// tidy frees the memory of the previous start, whose buffers are unused now: there may be
// many starts.
func (r *restarts) tidy() {
	if r.untidy {
		r.untidy = false
		runtime.GC()
		trim()
	}
}

func describe(s rundir.Status) string {
	if s.Cause == swarm.CauseOutOfMemory {
		return "out of memory: " + s.Reason
	}
	if s.Signal != "" {
		return "signal " + s.Signal
	}
	return "exit status " + strconv.Itoa(s.Code)
}

// span formats a duration in milliseconds or, from one second on, in seconds.
func span(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	return strconv.FormatInt(int64((d+time.Second/2)/time.Second), 10) + "s"
}

// maxHeap is how much memory may be used or free to be collected, in bytes. By itself the runtime
// collects at 4 MiB, which is more than all else of a shim together.
const maxHeap = 512 << 10

// memory is what the last look found; it is too large for a stack.
var memory runtime.MemStats

// collect gives the memory that is not used any more back to the system, once there is much of it.
// A collection itself uses some, so it is not done more often.
func collect() {
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > maxHeap {
		freeOSMemory()
	}
}

// freeOSMemory is [runtime/debug.FreeOSMemory]; that package links fmt.
//
//go:linkname freeOSMemory runtime/debug.freeOSMemory
func freeOSMemory()
