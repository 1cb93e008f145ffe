// Package command is the program that runs in the place of the host while a second command runs in a
// worker: it gives the worker's shim its standard streams, and exits as the command does. The shim ends
// the command when this program is gone.
//
// It is part of the program swarm-shim; its arguments are those of [rundir.ExecArgs].
package command

import (
	"bufio"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
)

// Exit codes if the command did not run, as shells and container engines have them.
const (
	exitFailed   = 125
	exitNoStart  = 126
	exitNotFound = 127
)

// Main has the shim run the command and returns its exit code.
func Main(args []string) int {
	dir, id, e, message, err := rundir.ParseExecArgs(args)
	if err != nil {
		return failed(err.Error())
	}
	conn, err := connect(dir)
	if err != nil {
		return failed("the worker has ended")
	}
	answers := bufio.NewScanner(os.NewFile(uintptr(conn), "shim"))
	request := rundir.Request{Verb: rundir.VerbExec, ID: id, Size: len(message)}
	if err := writeAll(conn, []byte(request.String()+"\n")); err != nil {
		return failed("the worker has ended")
	}
	if a := next(answers); a.Kind != rundir.AnswerReady {
		return result(a)
	}
	streams := &fdpass.Files{0, 1, 2}
	relay := func(bool) {}
	if e.Terminal {
		t, err := openTerminal()
		if err != nil {
			return failed(err.Error())
		}
		streams = t.streams()
		relay = t.relay
	}
	err = fdpass.Send(conn, message[0], streams)
	if err == nil {
		err = writeAll(conn, message[1:])
	}
	if err != nil {
		return failed("the worker's shim does not take the command: " + err.Error())
	}
	if os.Getenv(rundir.EnvHangUp) != "" {
		go awaitHangUp()
	}
	relay(true)
	a := next(answers)
	relay(false)
	return result(a)
}

// connect connects to the control socket of a run directory, whose path may be too long for that.
func connect(dir string) (int, error) {
	if err := os.Chdir(dir); err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	unix.CloseOnExec(fd)
	for {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: rundir.Socket})
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

// next returns the next answer of the shim; the zero value if there is none.
func next(answers *bufio.Scanner) rundir.Answer {
	if !answers.Scan() {
		return rundir.Answer{}
	}
	a, err := rundir.ParseAnswer(answers.Text())
	if err != nil {
		return rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()}
	}
	return a
}

// awaitHangUp ends this program when the other end of its output is closed.
func awaitHangUp() {
	ends := []unix.PollFd{{Fd: 1}}
	for {
		n, err := unix.Poll(ends, -1)
		if n > 0 {
			os.Exit(128 + int(unix.SIGHUP)) //nolint:forbidigo // main waits for the command
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// result returns the exit code for the last answer, and prints why there is none of the command.
func result(a rundir.Answer) int {
	switch a.Kind {
	case rundir.AnswerExit:
		return a.Code
	case rundir.AnswerBusy:
		return failed(a.Text)
	case rundir.AnswerStale:
		return failed("the run directory is another worker's")
	case rundir.AnswerEnded:
		return failed("the worker has ended")
	case "":
		return failed("the worker's shim has ended")
	}
	failed(a.Text)
	if _, old := rundir.Misunderstood(a.Text); old {
		return exitFailed
	}
	if strings.HasPrefix(a.Text, rundir.NotFound) {
		return exitNotFound
	}
	return exitNoStart
}

func failed(text string) int {
	os.Stderr.WriteString("swarm: error: cannot exec: " + text + "\n")
	return exitFailed
}
