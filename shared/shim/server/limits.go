package server

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/shim/server/inherit"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxGroups and maxUnenforced bound the directories of the group and the text about limits
// that are not enforced in the status, in bytes.
const (
	maxGroups     = 6 << 10
	maxUnenforced = 1000
)

// limit makes the group of the worker, before each start: another process may have removed
// it between two of them. It fails for a limit that can't be enforced, unless the best
// effort is enough.
func (k *shim) limit() error {
	l := k.launch.Limits
	k.status.Unenforced = k.inherited.Warning()
	if l.IsZero() {
		return nil
	}
	group, problems := cgroup.Look().Make(k.launch.Group, k.launch.ID, l)
	if len(problems) > 0 && !l.BestEffort {
		_ = group.Remove()
		return errors.New(problemText(problems[0]) + " (--limits best-effort starts the worker all the same)")
	}
	k.group, k.data = group, 0
	var unenforced []string
	if k.status.Unenforced != "" {
		unenforced = append(unenforced, k.status.Unenforced)
	}
	for _, p := range problems {
		text := problemText(p)
		if p.Controller == cgroup.Memory {
			k.data = l.Memory
			text = "the limit of memory holds for each process alone: " + p.Reason
		}
		unenforced = append(unenforced, text)
	}
	k.status.Unenforced = shortened(strings.Join(unenforced, "; "), maxUnenforced)
	k.status.Groups = nil
	if dirs := group.Dirs(); len(strings.Join(dirs, " ")) <= maxGroups {
		k.status.Groups = dirs
	}
	k.oomKills, _ = group.OOMKills()
	return nil
}

func problemText(p cgroup.Problem) string {
	return "the limit of " + cgroup.Word(p.Controller) + " can't be enforced: " + p.Reason
}

// shortened cuts a text that the last status must have space for.
func shortened(s string, most int) string {
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// outOfMemory reports whether the system has killed a process of the worker since its start
// because the worker needed more memory than its limit allows, and says how much that is.
func (k *shim) outOfMemory() (figures string, is bool) {
	n, ok := k.group.OOMKills()
	if !ok || n <= k.oomKills {
		return "", false
	}
	figures = "limit " + size(k.group.Limits().Memory)
	if peak, ok := k.group.Peak(); ok {
		figures += ", peak " + size(peak)
	}
	return figures, true
}

// noteMemory completes the cause of an end: either the main process was killed because memory
// ran out, or another process was and the main process then ended by itself.
func (k *shim) noteMemory(ws unix.WaitStatus) {
	if k.status.Cause != swarm.CauseExited || k.group.IsEmpty() {
		return
	}
	figures, is := k.outOfMemory()
	switch {
	case !is:
	case ws.Signaled() && ws.Signal() == unix.SIGKILL:
		k.status.Cause, k.status.Reason = swarm.CauseOutOfMemory, figures
	default:
		k.status.Reason = "one of its processes was killed: out of memory (" + figures + ")"
	}
}

// size formats a number of bytes the way limits are written: "64 MiB", "1.5 GiB".
func size(bytes int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	unit, tenths := 0, bytes*10
	for tenths >= 10240 && unit < len(units)-1 {
		tenths /= 1024
		unit++
	}
	text := strconv.FormatInt(tenths/10, 10)
	if tenths%10 != 0 && tenths < 1000 {
		text += "." + strconv.FormatInt(tenths%10, 10)
	}
	return text + " " + units[unit]
}

func (k *shim) setLimits(l swarm.Limits) rundir.Answer {
	failed := func(text string) rundir.Answer { return rundir.Answer{Kind: rundir.AnswerError, Text: text} }
	old := k.launch.Limits
	switch {
	case k.phase == over || k.isFinal():
		return rundir.Answer{Kind: rundir.AnswerEnded, Already: true}
	case k.group.IsEmpty() && len(cgroup.NeededBy(l)) > 0:
		return failed("the worker was started without limits that a control group enforces; respawn it with some")
	}
	if l.Nice != old.Nice {
		if err := k.renice(l.Nice); err != nil {
			return failed("the nice value can't be set: " + err.Error())
		}
	}
	if err := k.group.Set(l); err != nil {
		_ = k.renice(old.Nice)
		return failed(err.Error())
	}
	k.launch.Limits = l
	return rundir.Answer{Kind: rundir.AnswerOK}
}

// renice sets the nice value of all threads of the worker. Threads that are started
// meanwhile inherit it.
func (k *shim) renice(nice int) error {
	members, err := k.members()
	if err != nil {
		return err
	}
	for _, p := range members {
		for _, tid := range proc.Threads(p.PID) {
			if err := unix.Setpriority(unix.PRIO_PROCESS, tid, nice); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// setPaused stops all processes of the worker, or lets all continue, and answers once the
// status says so.
func (k *shim) setPaused(r control.Request) {
	switch {
	case k.phase != running:
		r.From.Last(k.noMain())
		return
	case k.underWay() || k.forcing:
		r.From.Last(rundir.Answer{Kind: rundir.AnswerBusy, Text: "the worker is being ended"})
		return
	case !r.Paused:
		k.continueAll()
	default:
		if err := k.stop(); err != nil {
			k.continueAll()
			r.From.Last(rundir.Answer{Kind: rundir.AnswerBusy, Text: "the worker can't be paused: " + err.Error()})
			return
		}
	}
	k.status.Paused = r.Paused
	k.writes.add(write{
		begin: func() func() error {
			e := k.encode(k.status)
			return func() error { return k.file.write(e) }
		},
		end: func(err error) {
			if err != nil {
				k.unsaved = true // it is written again
			}
			r.From.Last(rundir.Answer{Kind: rundir.AnswerOK})
			k.announce()
		},
	})
}

const (
	// stopRounds bounds how often the processes are listed while they fork or have not stopped
	// yet, and stopPause is the pause before the next list of those that have not stopped.
	stopRounds = 100
	stopPause  = time.Millisecond
)

// stop stops all processes of the worker: it freezes their group if no other process is in it,
// and otherwise sends SIGSTOP to each.
func (k *shim) stop() error {
	if k.group.Freezes() && k.alone() {
		return k.group.Freeze(true)
	}
	stopped := make(map[int]uint64)
	fresh := false
	for range stopRounds {
		members, err := k.members()
		if err != nil {
			return err
		}
		stopping := false
		fresh = false
		for _, p := range members {
			if stopped[p.PID] == p.Start {
				// It stops at the end of its system call, which may still write.
				stopping = stopping || p.State == 'R' || p.State == 'D' || p.State == 'S'
				continue
			}
			fresh = true
			stopped[p.PID] = p.Start
			if err := p.Signal(unix.SIGSTOP); err != nil && !errors.Is(err, proc.ErrGone) {
				return err
			}
		}
		if !fresh && !stopping {
			return nil
		}
		if !fresh {
			time.Sleep(stopPause)
		}
	}
	if !fresh {
		return nil // a process waits for a disk, for example, and stops after that
	}
	return errors.New("its processes start others faster than they can be stopped")
}

func (k *shim) alone() bool {
	pids, err := k.group.Members()
	members, treeErr := k.members()
	if err != nil || treeErr != nil {
		return false
	}
	known := map[int]bool{os.Getpid(): true}
	for _, p := range members {
		known[p.PID] = true
	}
	for _, pid := range pids {
		if known[pid] {
			continue
		}
		if p, err := proc.Read(pid); err == nil && !p.Ended || err != nil && !errors.Is(err, proc.ErrGone) {
			return false
		}
	}
	return true
}

func (k *shim) continueAll() {
	if k.group.Freezes() {
		_ = k.group.Freeze(false)
	}
	members, _ := k.members()
	for _, p := range members {
		_ = p.Signal(unix.SIGCONT)
	}
}

// thaw lets a paused worker continue, so that it handles the signals that are to end it.
func (k *shim) thaw() {
	if !k.status.Paused {
		return
	}
	k.status.Paused = false
	k.continueAll()
	k.save()
}

// outOfTime ends the worker because the shim has nearly used up its own processor time: nothing can
// do its work after it, and an end without a shim leaves processes behind and has no exit code.
func (k *shim) outOfTime() {
	limit := k.inherited.Time
	var used unix.Rusage
	if limit == 0 || unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return
	}
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	// Any process of the user can send the signal.
	if spent < time.Duration(limit-min(inherit.SpareTime, limit/2))*time.Second*9/10 {
		return
	}
	k.beginOnce(swarm.CauseShutdown, "the shim has used up its CPU time, of which the caller's hard limit allows "+strconv.FormatUint(limit, 10)+"s", unix.SIGTERM)
}

// mostOutput returns the limit of the log for a shim whose files may not have any size: without
// that, the newest output would be lost instead of the oldest.
func mostOutput(limit int64) int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) != nil || l.Cur >= math.MaxInt64/rundir.Segments {
		return limit
	}
	if limit <= 0 {
		limit = rundir.DefaultOutputLimit
	}
	return min(limit, int64(l.Cur)*rundir.Segments)
}
