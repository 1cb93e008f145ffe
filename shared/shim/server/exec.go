package server

import (
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/box"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/shim/server/program"
	"github.com/swarmhost/swarm/shared/swarm"
)

// execution is a command that a client runs in the worker. Its processes are the worker's: they are
// below the shim, so that a kill, the limits and the end of the worker hold for them too.
type execution struct {
	client *control.Client
	// number is for the messages of a sandbox.
	number int
	// id is zero until a sandbox has started it.
	id proc.Identity
	// killAt is when SIGKILL follows, after the client has left.
	killAt time.Time
}

// exec starts the command of a client, which is answered when it has ended.
func (k *shim) exec(r control.Request) {
	defer r.Files.Close()
	refuse := func(kind, text string) { r.From.Last(rundir.Answer{Kind: kind, Text: text}) }
	switch {
	case k.phase != running:
		r.From.Last(k.noMain())
		return
	case k.underWay() || k.forcing:
		refuse(rundir.AnswerBusy, "the worker is being ended")
		return
	case k.status.Paused:
		// A process that enters a frozen group does not get far enough to be a program.
		refuse(rundir.AnswerBusy, "the worker is paused; resume it first")
		return
	}
	e := &execution{client: r.From}
	var err error
	if k.box != nil {
		e.number, err = k.box.Exec(box.Command{
			Dir: r.Exec.Dir, Args: r.Exec.Command, Base: k.env(), Env: r.Exec.Env, Terminal: r.Exec.Terminal, Streams: r.Files,
		})
	} else {
		e.id, err = k.execBare(r)
	}
	if err != nil {
		refuse(rundir.AnswerError, err.Error())
		return
	}
	k.executions = append(k.executions, e)
}

// execBare starts a command of a worker without a sandbox, as a child of the shim.
func (k *shim) execBare(r control.Request) (proc.Identity, error) {
	dir := r.Exec.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(k.launch.Dir, dir)
	}
	if err := program.CheckDir(dir); err != nil {
		return proc.Identity{}, err
	}
	env := environ.Unset(environ.Set(k.env(), r.Exec.Env...), swarm.EnvShim, swarm.EnvEngine)
	path, err := program.Find(r.Exec.Command[0], dir, env)
	if err != nil {
		return proc.Identity{}, err
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: r.Exec.Terminal, Ctty: 0}}
	for _, fd := range r.Files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	takeBack := k.inherited.Lend()
	pid, err := k.fork(path, r.Exec.Command, attr)
	takeBack()
	if err != nil {
		return proc.Identity{}, err
	}
	k.seen.childless = false
	k.addThreads(pid)
	id, err := proc.Identify(pid)
	if err != nil {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	return id, err
}

// addThreads notes the thread that has started a child. Another one may have started the earlier ones.
func (k *shim) addThreads(child int) {
	more := proc.ForkThreads(child)
	if len(more) == 0 || len(k.threads) == 0 {
		k.threads = nil // all threads are looked at then
		return
	}
	for _, tid := range more {
		if !slices.Contains(k.threads, tid) {
			k.threads = append(k.threads, tid)
		}
	}
}

// execEnded answers the client whose command, a child of the shim, has ended.
func (k *shim) execEnded(pid int, ws unix.WaitStatus) {
	k.answerExec(func(e *execution) bool { return e.id.PID == pid }, exitOf(ws))
}

// answerExec answers the clients of some commands, which have ended or could not be started.
func (k *shim) answerExec(of func(*execution) bool, a rundir.Answer) {
	k.executions = slices.DeleteFunc(k.executions, func(e *execution) bool {
		if !of(e) {
			return false
		}
		if e.killAt.IsZero() {
			e.client.Last(a)
		}
		return true
	})
}

func exitOf(ws unix.WaitStatus) rundir.Answer {
	if ws.Signaled() {
		return rundir.Answer{Kind: rundir.AnswerExit, Code: 128 + int(ws.Signal())}
	}
	return rundir.Answer{Kind: rundir.AnswerExit, Code: ws.ExitStatus()}
}

// boxSaid holds a token when the sandbox has reported about commands; nil if none runs in one.
func (k *shim) boxSaid() <-chan struct{} {
	if k.box == nil || len(k.executions) == 0 {
		return nil
	}
	return k.box.Said
}

// boxReports handles what the first process of a sandbox has reported about commands.
func (k *shim) boxReports() {
	reports, gone := k.box.Reports()
	for _, r := range reports {
		is := func(e *execution) bool { return e.number == r.Number }
		switch {
		case r.Ended:
			k.answerExec(is, exitOf(r.Status))
		case r.Failed != "":
			k.answerExec(is, rundir.Answer{Kind: rundir.AnswerError, Text: r.Failed})
		default:
			k.boxBegun(r)
		}
	}
	if gone {
		k.dropExecs()
	}
}

// boxBegun notes the process of a command that was started in the sandbox.
func (k *shim) boxBegun(r box.Report) {
	for _, e := range k.executions {
		if e.number != r.Number {
			continue
		}
		e.id, _ = k.box.Child(r.PID) // it may have ended
		if !e.killAt.IsZero() {
			k.signalExec(e, unix.SIGTERM)
		}
	}
}

// leave releases a client that has left, and ends the command that it ran.
func (k *shim) leave(c *control.Client) {
	c.Release()
	for _, e := range k.executions {
		if e.client != c || !e.killAt.IsZero() {
			continue
		}
		e.killAt = time.Now().Add(grace(k.launch.GraceMS))
		k.signalExec(e, unix.SIGTERM)
	}
}

// signalExec sends a signal to a command and to everything below it.
func (k *shim) signalExec(e *execution, sig unix.Signal) {
	if e.id.PID == 0 {
		return
	}
	below, _ := proc.Tree(e.id.PID, k.isStranger)
	for _, p := range slices.Concat([]proc.Process{{Identity: e.id}}, below) {
		_ = p.Signal(sig)
		if sig != unix.SIGKILL {
			_ = p.Signal(unix.SIGCONT) // a stopped process sees its signal only when it continues
		}
	}
}

// expireExecs forces the end of commands whose clients have left.
func (k *shim) expireExecs(now time.Time) {
	for _, e := range k.executions {
		if !e.killAt.IsZero() && !now.Before(e.killAt) {
			k.signalExec(e, unix.SIGKILL)
			e.killAt = now.Add(time.Hour)
		}
	}
}

// endExecs answers the clients of all commands once nothing of the worker is left. The last
// report of a sandbox may not have been read yet.
func (k *shim) endExecs() {
	for late := time.After(reportLimit); k.boxSaid() != nil; {
		select {
		case <-k.boxSaid():
			k.boxReports()
		case <-late:
			k.dropExecs()
		}
	}
	k.dropExecs()
}

// dropExecs answers the clients of commands of whose end there is no report.
func (k *shim) dropExecs() {
	k.answerExec(func(*execution) bool { return true }, exitOf(unix.WaitStatus(unix.SIGKILL)))
}

// env returns the environment of the worker's main process.
func (k *shim) env() []string {
	// A worker that had the mark of shims or of engines would not be ended with the worker that it
	// was started from.
	env := environ.Unset(k.launch.Env, swarm.EnvShim, swarm.EnvEngine)
	if k.launch.Terminal {
		env = terminalEnv(env)
	}
	return env
}
