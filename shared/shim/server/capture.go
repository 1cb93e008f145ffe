package server

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/program"
)

const (
	// captureLimit is how long a whole capture may take.
	captureLimit = time.Second
	// showLimit is how long the outer terminal may take to show the last output.
	showLimit = 300 * time.Millisecond
	// askShown asks a terminal for its status, hasShown is the answer: it comes
	// after everything before the question was shown.
	askShown = "\x1b[5n"
	hasShown = "\x1b[0n"
)

// capture writes the last screen of the terminal to a file, with the program of the launch
// file. Nothing depends on it: without the file there is no last screen.
func (k *shim) capture() {
	if len(k.launch.Capture) == 0 || k.term == nil || k.term.gone {
		return
	}
	if k.closing != nil && k.awaitClosed() {
		return
	}
	deadline := time.Now().Add(captureLimit)
	k.term.awaitShown()
	if !k.runCapture(deadline) {
		_ = os.Remove(rundir.ScreenFile)
	}
}

func (t *terminal) awaitShown() {
	t.asked.Store(true)
	t.view.Finish(showLimit)
	t.view.Show([]byte(askShown))
	select {
	case <-t.shown:
	case <-time.After(showLimit):
	}
}

// runCapture runs the program in the shim's own environment, whose mark says that it is not
// part of the worker.
func (k *shim) runCapture(deadline time.Time) bool {
	screen, err := safefile.Create(rundir.ScreenFile)
	if err != nil {
		return false
	}
	defer screen.Close()
	pid, out, err := startCapture(k.launch.Capture)
	if err != nil {
		return false
	}
	defer out.Close()
	_ = out.SetReadDeadline(deadline)
	_, err = io.Copy(screen, io.LimitReader(out, rundir.MaxScreen))
	if err != nil {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	// It has closed its output or got SIGKILL, or it writes more than is wanted.
	out.Close()
	return k.awaitChild(pid, deadline) && err == nil
}

func startCapture(command []string) (pid int, out *os.File, err error) {
	env := os.Environ()
	path, err := program.Find(command[0], "/", env)
	if err != nil {
		return 0, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, nil, err
	}
	defer null.Close()
	out, w, err := pipe()
	if err != nil {
		return 0, nil, err
	}
	defer w.Close()
	pid, err = syscall.ForkExec(path, command, &syscall.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: []uintptr{null.Fd(), w.Fd(), null.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		out.Close()
	}
	return pid, out, err
}

// awaitChild reaps a child of the shim's own and reports whether it succeeded.
func (k *shim) awaitChild(pid int, deadline time.Time) bool {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for killed := false; ; {
		var ws unix.WaitStatus
		if got, err := unix.Wait4(pid, &ws, unix.WNOHANG, nil); err != nil || got == pid {
			return err == nil && ws.ExitStatus() == 0
		}
		select {
		case <-k.children:
		case <-timer.C:
			if killed {
				return false
			}
			killed = true
			_ = unix.Kill(-pid, unix.SIGKILL)
			timer.Reset(captureLimit)
		}
	}
}
