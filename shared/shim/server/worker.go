package server

import (
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/server/program"
)

// maxDir is the longest working directory that is recorded, so that the last status fits
// the space that is reserved for it.
const maxDir = 1024

// startWorker starts the main process, in a session of its own, with nothing of
// the shim's but its limits and its working directory's file system.
func (k *shim) startWorker() error {
	env := k.env()
	if err := program.CheckDir(k.launch.Dir); err != nil {
		return err
	}
	var path string
	if len(k.launch.Wrap) == 0 {
		var err error
		if path, err = program.Find(k.launch.Command[0], k.launch.Dir, env); err != nil {
			return err
		}
	}
	if err := k.limit(); err != nil {
		return err
	}
	s, err := k.openStreams()
	if err != nil {
		return err
	}
	attr := &syscall.ProcAttr{
		Dir: k.launch.Dir,
		Env: env,
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: k.term != nil, Ctty: 0},
	}
	for _, f := range s.theirs {
		attr.Files = append(attr.Files, f.Fd())
	}
	k.status.Pipes, k.status.Terminal = s.pipes(), s.device()
	takeBack := k.inherited.Lend()
	if len(k.launch.Wrap) > 0 {
		err = k.boxed(attr)
	} else {
		err = k.bare(path, attr)
	}
	takeBack()
	s.given()
	if err != nil {
		s.drop()
		return err
	}
	// status.json is text: of another directory it would hold the path of something else.
	if len(k.launch.Dir) <= maxDir && utf8.ValidString(k.launch.Dir) {
		k.status.Dir = k.launch.Dir
	}
	k.status.StartedNS = time.Now().UnixNano()
	k.intake = s.intake
	k.outputs = append(k.outputs, s.outputs...)
	for _, o := range s.outputs {
		go o.copy(k.drained)
	}
	return nil
}

// bare starts the main process as a child of the shim.
func (k *shim) bare(path string, attr *syscall.ProcAttr) error {
	pid, err := k.fork(path, k.launch.Command, attr)
	if err != nil {
		return err
	}
	k.threads = proc.ForkThreads(pid)
	k.status.Session = pid
	k.status.Main, err = proc.Identify(pid)
	if err != nil {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	return err
}

// fork starts a program of the worker, within its limits.
func (k *shim) fork(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if !k.launch.Limits.IsZero() || k.inherited.Apart() != "" {
		return k.forkLimited(path, argv, attr)
	}
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return 0, program.StartError(argv[0], err)
	}
	return pid, nil
}

// undo removes the files of a start from the run directory.
func (k *shim) undo() {
	if k.control != nil {
		k.control.Close()
	}
	if k.term != nil {
		k.term.restore()
	}
	if k.log != nil {
		k.log.Remove()
	}
	if k.transcript != nil {
		k.transcript.Remove()
	}
	if k.file != nil {
		k.file.remove()
	}
	_ = k.group.Remove()
}

// phase is a phase of the worker. A kill may be in progress in all phases but the last.
type phase uint8

const (
	// running: the main process runs, or is about to be started for the first time.
	running phase = iota
	// leaving: the main process has ended, and other processes of the worker may be
	// alive.
	leaving
	// pausing: nothing of the worker is alive until its next start.
	pausing
	// over: nothing of the worker is alive, and nothing will be. Its last output may
	// still arrive.
	over
)

// following are the phases that may follow each phase.
var following = [...][]phase{
	running: {leaving},
	leaving: {pausing, over},
	pausing: {running, pausing, over}, // it pauses again after a start that failed
	over:    nil,
}

// enter moves the worker to another phase. It changes nothing and returns false if that
// phase can't follow the current one.
func (k *shim) enter(next phase) bool {
	if !slices.Contains(following[k.phase], next) {
		return false
	}
	k.phase = next
	return true
}
