package server

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/box"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/shim/server/inherit"
	"github.com/swarmhost/swarm/shared/shim/server/record"
	"github.com/swarmhost/swarm/shared/swarm"
)

// shim is one worker with all its state. Only the goroutine of run accesses it.
type shim struct {
	launch rundir.Launch
	status rundir.Status
	file   *statusFile
	calls  *calls
	log    *record.Log
	// transcript is nil unless the launch file asks for it.
	transcript *record.Transcript
	// outputs are the streams of the worker that are still read.
	outputs []*output
	term    *terminal
	control *control.Control
	// threads are those that the shim's children are children of, see
	// [proc.ForkThreads].
	threads []int

	// phase is changed by enter alone.
	phase phase
	kills []*kill
	// inherited is for each start of the worker.
	inherited inherit.Inherited
	// leftover is the kill of what outlived the main process, if any did.
	leftover *kill
	// forcing says that SIGKILL is being sent to all there is, since forcedAt.
	forcing  bool
	forcedAt time.Time
	// signalled are the processes that got the first signal of a kill, by pid and
	// start time.
	signalled map[int]uint64
	// strangers are other shims and servers of engines that were seen below this one, servers
	// the latter alone; nil if there was none.
	strangers, servers map[int]uint64
	// killed are those that SIGKILL was sent to, or is about to be.
	killed  map[int]uint64
	waiting []*control.Client
	// intake takes input for the main process.
	intake *control.Intake
	// turn holds a token while a client gives input, for all starts.
	turn       chan struct{}
	restarts   restarts
	completion completion
	// completing says that a completion is being written.
	completing bool
	// unsaved says that output was dropped since the status was written, saved when
	// that was.
	unsaved bool
	saved   time.Time
	writes  writes
	// text is that of the last status that was written.
	text []byte
	// queued says that a write of the status is pending, unannounced that the watchers are
	// notified after it.
	queued, unannounced bool
	// journal is for the writes only, and for the end after them.
	journal journal
	// unjournaled says that the next write of the status needs an entry in the journal.
	unjournaled bool
	// closing is nil unless the client that asked for a kill closes the terminal.
	closing *closure
	// seen is what the last look at the processes found.
	seen struct {
		// childless: the kernel knew of no child of the shim.
		childless bool
		// partial: there may be processes that were not seen.
		partial bool
		// apart: some processes of the worker are below a server; the shim gets no event
		// when they end.
		apart bool
	}
	// used is what all reaped processes have used.
	used rundir.Used
	// group holds the processes of a worker with limits; it has no directories for others.
	// oomKills is how many of them were killed for lack of memory before the last start.
	group    *cgroup.Group
	oomKills int64
	// box is the sandbox that the main process was started in last; nil without one.
	box *box.Box
	// boxLost says that the sandbox has ended without a report.
	boxLost bool
	// data is the limit of the memory of each single process, 0 if the group has one.
	data int64
	// executions are the commands that clients run in the worker.
	executions []*execution
	// served counts requests.
	served int
	// tidyAt is when memory is given back after requests and much output; zero if it was.
	tidyAt time.Time

	requests chan control.Request
	children chan os.Signal
	signals  chan os.Signal
	resized  chan os.Signal
	// continued gets SIGCONT.
	continued chan os.Signal
	drained   chan *output
	// ownerEnded is closed when the owner has ended.
	ownerEnded chan struct{}
}

func newShim(l rundir.Launch, self rundir.Identity) *shim {
	c := newCalls()
	return &shim{
		calls:  c,
		writes: writes{calls: c, ended: make(chan error, 1)},
		launch: l,
		status: rundir.Status{
			Version: rundir.StatusVersion,
			ID:      l.ID,
			State:   rundir.StateRunning,
			Shim:    self,
		},
		journal:    journal{id: l.ID},
		signalled:  make(map[int]uint64),
		killed:     make(map[int]uint64),
		turn:       make(chan struct{}, 1),
		restarts:   restarts{Restart: l.Restart, began: time.Now()},
		requests:   make(chan control.Request),
		children:   make(chan os.Signal, 1),
		signals:    make(chan os.Signal, 8),
		resized:    make(chan os.Signal, 1),
		continued:  make(chan os.Signal, 1),
		drained:    make(chan *output, 2),
		ownerEnded: make(chan struct{}),
	}
}

// catchSignals takes over all signals that would end or stop the shim. As a side effect the
// worker starts with the defaults of these signals, even if the program that started the
// shim ignored them.
func (k *shim) catchSignals() error {
	return catch(func(sig unix.Signal) {
		to := k.signals
		switch sig {
		case unix.SIGCHLD:
			to = k.children
		case unix.SIGWINCH:
			to = k.resized
		case unix.SIGCONT:
			to = k.continued
		case unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXFSZ:
			return // these only have to be caught
		}
		select {
		case to <- sig:
		default: // there is one to be seen
		}
	}, unix.SIGCHLD, unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP, unix.SIGWINCH, unix.SIGCONT,
		unix.SIGPIPE, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ)
}

// run handles the events of the worker until its end.
func (k *shim) run() int {
	timer := time.NewTimer(time.Hour)
	for k.phase != over || len(k.outputs) > 0 {
		timer.Reset(k.untilNext())
		handle := k.next(timer)
		locked := k.calls.begin()
		handle()
		k.saveDrops()
		k.look()
		k.resume()
		if locked {
			k.calls.end()
		}
	}
	return k.end()
}

// next waits for an event and returns what handles it.
func (k *shim) next(timer *time.Timer) (handle func()) {
	select {
	case <-k.children:
		return k.reap
	case s := <-k.signals:
		return func() { k.caught(s.(unix.Signal)) }
	case <-k.resized:
		return k.resize
	case <-k.continued:
		return k.takeOrder
	case <-k.term.closed():
		return k.hangup
	case <-k.ownerEnded:
		return k.ownerGone
	case <-k.boxOver():
		return func() { k.boxEnd(nil) }
	case r := <-k.requests:
		return func() { k.serve(r) }
	case <-k.boxSaid():
		return k.boxReports
	case c := <-k.control.Left():
		return func() { k.leave(c) }
	case <-timer.C:
		return k.expire
	case o := <-k.drained:
		return func() {
			k.outputs = slices.DeleteFunc(k.outputs, func(other *output) bool { return other == o })
		}
	case err := <-k.writes.ended:
		return func() { k.writes.next(err) }
	case <-k.log.Dropped:
		k.unsaved = true
		k.tidyLater()
		return func() {}
	}
}

func (k *shim) resize() {
	if k.term != nil {
		k.term.resize()
	}
}

func (k *shim) reap() {
	for {
		var ws unix.WaitStatus
		var ru unix.Rusage
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, &ru)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			k.seen.childless = proc.Verified && errors.Is(err, unix.ECHILD)
			return
		}
		addUsage(&k.used, ru)
		delete(k.signalled, pid)
		delete(k.killed, pid)
		switch {
		case pid == k.status.Main.PID:
			k.mainEnd(ws)
		case k.isBox(pid):
			k.boxEnd(&ws)
		default:
			k.execEnded(pid, ws)
		}
	}
}

// shutdownSkew is how much later than its worker the shim may get the signal of a system
// that goes down.
const shutdownSkew = 100 * time.Millisecond

// awaitShutdown finds out whether the system goes down if the main process died of a signal
// that is typical for that: the system signals a worker, its shim and its terminal in any
// order.
func (k *shim) awaitShutdown(ws unix.WaitStatus) {
	if !ws.Signaled() || ws.Signal() != unix.SIGTERM && ws.Signal() != unix.SIGHUP {
		return
	}
	late := time.After(shutdownSkew)
	for {
		if cause, _ := k.cause(); cause != swarm.CauseExited && cause != swarm.CauseHangup {
			return
		}
		select {
		case s := <-k.signals:
			k.caught(s.(unix.Signal))
		case <-late:
			return
		}
	}
}

// mainEnd records the real end of the main process, and why.
func (k *shim) mainEnd(ws unix.WaitStatus) {
	k.awaitShutdown(ws)
	if !k.enter(leaving) {
		return
	}
	k.status.EndedNS = time.Now().UnixNano()
	k.status.Code = ws.ExitStatus()
	if ws.Signaled() {
		k.status.Code, k.status.Signal = -1, proc.SignalName(ws.Signal())
	}
	k.status.Cause, k.status.Reason = k.cause()
	k.noteMemory(ws)
	k.thaw()
	k.intake.Close()
}

// look follows up after every event: it ends the processes that outlived the main process,
// and notices when none is left.
func (k *shim) look() {
	if k.phase != leaving && (k.phase != running || !k.forcing) {
		return
	}
	if k.phase == leaving && k.seen.childless {
		// A subreaper without children has no descendants either.
		k.treeEnded()
		return
	}
	members, err := k.members()
	k.seen.partial = err != nil
	switch {
	case len(members) == 0 && k.phase == leaving && !k.seen.partial:
		k.treeEnded()
	case k.forcing:
		k.sweep(members)
	default:
		k.endLeftover(members)
	}
}

// finish ends the streams of output after their present content is read.
func (k *shim) finish() {
	if k.term != nil {
		k.term.Inner.Close()
	}
	for _, o := range k.outputs {
		o.finish()
	}
}

// watchOwner closes gone when the owner has ended. It returns an error for an owner that
// has ended already, or that can't be watched.
func watchOwner(owner rundir.Identity, gone chan<- struct{}) error {
	if owner == (rundir.Identity{}) {
		return nil
	}
	if !owner.Alive() {
		return errors.New("the owner (pid " + strconv.Itoa(owner.PID) + ") has ended")
	}
	go func() {
		// Without an answer the worker stays: it is not known to have no owner.
		if proc.AwaitEnd(context.Background(), owner) == nil {
			close(gone)
		}
	}()
	return nil
}

func (k *shim) ownerGone() {
	k.ownerEnded = nil
	sig := proc.SignalNumber(k.launch.Signal)
	if sig == 0 {
		sig = unix.SIGTERM
	}
	k.beginOnce(swarm.CauseOwner, "its owner (pid "+strconv.Itoa(k.launch.Owner.PID)+") ended", sig)
}
