package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/shared/proc"
)

// guarded is the argument of the process that shows the dashboard. The one that was started
// first only waits for it: a program that is killed can't give the terminal back, but its
// parent can.
const guarded = "-guarded"

// heldFile is the file descriptor of the guarded process, a pipe, that it and the programs it
// gives the terminal to keep open: the other process reads its end. One that closes it, as ssh
// does with all files that it inherits, is not waited for.
const heldFile = 3

// leaveTime is how long a program that has the terminal may take to leave it after the
// dashboard was killed.
const leaveTime = 2 * time.Second

// giveBack undoes what a dashboard does to a terminal besides its mode: keys and mouse as
// usual, the cursor, the screen of before.
const giveBack = "\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2026l\x1b[?25h\x1b[?1049l\x1b[m"

// guard runs the dashboard as a child, and gives the terminal back if the child is killed.
// If this process is killed, the child ends by itself.
func guard(args []string, in, out, errs *os.File, env []string) int {
	self, err := setup.Executable()
	if err == nil {
		err = watched(exec.Command(self, append([]string{"top", guarded}, args...)...), in, out, errs, env) //nolint:noctx // signals end it
	}
	exit, ended := err.(*exec.ExitError) //nolint:errorlint // Wait returns it as it is
	switch {
	case err == nil:
		return 0
	case ended && exit.ExitCode() >= 0:
		return exit.ExitCode()
	case ended:
		fmt.Fprintf(errs, "swarm: error: the dashboard was ended by a signal (%s); workers continue\n", exit.Sys().(syscall.WaitStatus).Signal())
	default:
		fmt.Fprintf(errs, "swarm: error: cannot start the dashboard: %s\n", setup.Message(err))
	}
	return 1
}

// watched runs the child, which gets the signals that this process gets. If the child is killed,
// a program that it gave the terminal to, such as a client of tmux, leaves the terminal first: it
// clears the screen as it ends.
func watched(cmd *exec.Cmd, in, out, errs *os.File, env []string) error {
	state, err := term.GetState(int(in.Fd()))
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, errs, env
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGTERM)
	left, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer left.Close()
	cmd.ExtraFiles = []*os.File{held}
	runtime.LockOSThread() // the child is notified of the end of this thread
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	_ = held.Close()
	if err != nil {
		return err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err = cmd.Wait()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() < 0 { //nolint:errorlint // Wait returns it as it is
		_ = left.SetReadDeadline(time.Now().Add(leaveTime))
		_, _ = io.Copy(io.Discard, left)
		_, _ = out.WriteString(giveBack)
		_ = term.Restore(int(in.Fd()), state)
	}
	return err
}
