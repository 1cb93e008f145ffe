package server

import (
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/swarm"
)

// lastLook is how long processes may take to vanish after SIGKILL. A process that sleeps
// in the kernel does not vanish.
const lastLook = 5 * time.Second

const (
	// maxSurvivors is how many survivors an answer names, so that it fits a socket's buffer.
	maxSurvivors = 200
	// breather is the pause before the next attempt where no event says when to try again.
	breather = 100 * time.Millisecond
)

type kill struct {
	cause  swarm.Cause
	reason string
	// sig is the first signal, signal its name in the answer to the client.
	signal   string
	sig      unix.Signal
	mainOnly bool
	deadline time.Time
	force    bool
	// client is waiting for the answer; it may be nil.
	client *control.Client
	// forced says that SIGKILL was sent, and that the deadline is for the last look.
	forced bool
	// extended says that the deadline was extended for the report of a sandbox.
	extended bool
	// spent says that the deadline has passed.
	spent bool
}

// killOf returns the kill that a request asks for; its grace begins now.
func killOf(r rundir.Request, sig unix.Signal, from *control.Client) *kill {
	return &kill{
		cause:    swarm.CauseKilled,
		signal:   r.Signal,
		sig:      sig,
		mainOnly: r.MainOnly,
		deadline: time.Now().Add(grace(r.GraceMS)),
		force:    r.Force,
		client:   from,
	}
}

// begin sends the first signal of a kill. Earlier kills continue: each has its own deadline,
// and the earliest one with force ends all processes.
func (k *shim) begin(kl *kill) {
	k.kills = append(k.kills, kl)
	k.first(kl)
}

// first sends the first signal of a kill that has begun.
func (k *shim) first(kl *kill) {
	targets, _ := k.members()
	if kl.mainOnly && k.phase == running {
		targets = slices.DeleteFunc(targets, func(p proc.Process) bool { return p.PID != k.status.Main.PID })
	}
	if kl.sig == unix.SIGKILL && !kl.mainOnly {
		k.force()
		return
	}
	k.signalAll(targets, kl.sig)
	if kl.sig != unix.SIGSTOP && kl.sig != unix.SIGTSTP {
		// A stopped process sees its signal only when it continues.
		k.signalAll(targets, unix.SIGCONT)
	}
	k.thaw()
}

func (k *shim) signalAll(targets []proc.Process, sig unix.Signal) {
	self := os.Getpid()
	for _, p := range targets {
		// A process that can't be signalled is noticed at the deadline.
		if p.Parent == self {
			// Only the shim reaps its children, so this is still the same one.
			_ = unix.Kill(p.PID, sig)
		} else {
			_ = p.Signal(sig)
		}
		k.signalled[p.PID] = p.Start
	}
}

// endLeftover ends the processes that outlived the main process, unless a running kill sets
// the time for that. A process that got a signal already gets no second one: many programs
// take that for impatience.
func (k *shim) endLeftover(members []proc.Process) {
	if k.leftover != nil {
		return
	}
	fresh := slices.DeleteFunc(members, func(p proc.Process) bool { return k.signalled[p.PID] == p.Start })
	k.signalAll(fresh, unix.SIGTERM)
	k.signalAll(fresh, unix.SIGCONT)
	if !k.underWay() {
		k.leftover = &kill{deadline: time.Now().Add(grace(k.launch.GraceMS)), force: k.launch.Force}
	}
}

// underWay reports whether a kill still waits for its deadline.
func (k *shim) underWay() bool {
	return slices.ContainsFunc(k.kills, func(kl *kill) bool { return !kl.spent })
}

func (k *shim) untilNext() time.Duration {
	next := time.Hour
	at := func(t time.Time) { next = min(next, max(time.Until(t), 0)) }
	ending := k.phase != running || k.forcing
	if ending {
		next = recheck
	}
	if k.seen.partial || k.seen.apart && ending {
		next = breather
	}
	if k.unsaved && !k.writes.underWay() {
		at(k.saved.Add(saveEvery))
	}
	for kl := range k.deadlines {
		at(kl.deadline)
	}
	if !k.tidyAt.IsZero() {
		at(k.tidyAt)
	}
	if c := k.closing; c != nil && !c.done {
		next = min(next, closeEvery)
	}
	if k.forcing && k.sparesInit() {
		at(k.forcedAt.Add(spareLimit))
	}
	if d := k.completion.deadline; !d.IsZero() {
		at(d)
	}
	for _, e := range k.executions {
		if !e.killAt.IsZero() {
			at(e.killAt)
		}
	}
	if k.phase == pausing && k.drainedForStart() {
		at(k.restarts.at)
	}
	return next
}

func (k *shim) tidyLater() {
	if k.tidyAt.IsZero() {
		k.tidyAt = time.Now().Add(tidyAfter)
	}
}

// tidy gives memory back if it is time for that, and reports whether it was.
func (k *shim) tidy(now time.Time) bool {
	if k.tidyAt.IsZero() || now.Before(k.tidyAt) {
		return false
	}
	k.tidyAt = time.Time{}
	collect()
	trim()
	return true
}

func (k *shim) deadlines(yield func(*kill) bool) {
	for _, kl := range k.kills {
		if !kl.spent && !yield(kl) {
			return
		}
	}
	if k.leftover != nil && !k.leftover.spent {
		yield(k.leftover)
	}
}

func (k *shim) expire() {
	if k.tidy(time.Now()) {
		return
	}
	members, err := k.members()
	if err == nil && len(members) == 0 {
		// The process has ended, but its signal has not been reported yet.
		k.reap()
		return
	}
	now := time.Now()
	k.expireExecs(now)
	k.graceOver(now)
	if c := k.closing; c != nil && c.hopeless() {
		k.closed()
	}
	for kl := range k.deadlines {
		if kl.deadline.After(now) {
			continue
		}
		if !kl.force || kl.forced {
			k.giveUp(kl)
			continue
		}
		if err == nil && !kl.extended && k.reports(members) {
			kl.extended = true
			kl.deadline = now.Add(spareLimit)
			continue
		}
		kl.forced = true
		kl.deadline = now.Add(lastLook)
		k.status.Forced = true
		k.force()
	}
}

// force has SIGKILL sent to all processes, from the next look on.
func (k *shim) force() {
	if !k.forcing {
		k.forcing, k.forcedAt = true, time.Now()
	}
}

// giveUp names the surviving processes. Without force the worker continues, so a later exit
// is its own.
func (k *shim) giveUp(kl *kill) {
	members, err := k.members()
	if err == nil && len(members) == 0 {
		// The last one has just ended, so the kill succeeded.
		return
	}
	kl.spent = true
	if kl.client != nil {
		a := rundir.Answer{Kind: rundir.AnswerSurvivors, Forced: kl.forced, Signal: kl.signal}
		for _, p := range members[:min(len(members), maxSurvivors)] {
			a.Survivors = append(a.Survivors, swarm.Process{PID: p.PID, Name: p.Name})
		}
		kl.client.Last(a)
	}
	if kl.forced || k.forcing {
		return
	}
	// A copy, since the caller may be in a loop over the kills.
	k.kills = slices.DeleteFunc(slices.Clone(k.kills), func(other *kill) bool { return other == kl })
	if len(k.kills) == 0 {
		clear(k.signalled)
	}
}

// sweep kills all processes of the worker. It stops them first, so that none can fork while
// the tree is read.
//
// SIGKILL of the first process of a sandbox ends all others in it in one step of the kernel,
// but also removes the process that reports how the main process ended. So it is sent last, unless
// that report has arrived.
func (k *shim) sweep(members []proc.Process) {
	limit := lastLook
	spared := k.sparesInit()
	if spared {
		members, limit = k.spared(members), spareLimit
	} else if k.box != nil {
		for _, p := range members {
			if k.isBox(p.PID) {
				_ = p.Signal(unix.SIGKILL)
			}
		}
	}
	if !spared && slices.ContainsFunc(members, func(p proc.Process) bool { return k.killed[p.PID] != p.Start }) {
		_ = k.group.Kill(k.alone) // all at once, where that is possible; what is not in it follows
	}
	until := time.Now().Add(limit)
	for time.Now().Before(until) {
		fresh := false
		stopGroups(members, k.killed)
		for _, p := range members {
			if k.killed[p.PID] == p.Start {
				continue
			}
			fresh = true
			k.killed[p.PID] = p.Start
			_ = p.Signal(unix.SIGSTOP)
		}
		if !fresh {
			break
		}
		k.reap()
		if members, _ = k.members(); spared {
			members = k.spared(members)
		}
	}
	for _, p := range members {
		_ = p.Signal(unix.SIGKILL)
	}
	k.thaw()
}

// takeOrder carries out the kill that lies in the run directory, if one does, see
// [rundir.OrderFile]. It is called at every SIGCONT.
func (k *shim) takeOrder() {
	f, err := safefile.Open(rundir.OrderFile, rundir.MaxLine)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return
	}
	// The removal shows the writer that the kill is accepted, so it comes first. An order
	// that was taken back meanwhile is not carried out.
	if os.Remove(rundir.OrderFile) != nil {
		return
	}
	line, whole := strings.CutSuffix(string(b), "\n")
	r, err := rundir.ParseRequest(line)
	sig := proc.SignalNumber(r.Signal)
	switch {
	case err != nil, !whole, r.Verb != rundir.VerbKill, r.ID != k.launch.ID, sig == 0:
		return
	case time.Since(info.ModTime()) > rundir.OrderLife:
		// The writer is gone, and its request is too old.
		return
	}
	k.reap()
	if k.phase != over {
		k.begin(killOf(r, sig, nil))
	}
}
