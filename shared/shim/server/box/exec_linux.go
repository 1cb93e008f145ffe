package box

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
	"github.com/swarmhost/swarm/shared/shim/server/program"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A second command is started by the first process in the sandbox, which is in all of its
// namespaces and under all of its filters. The shim could not enter them: a process with several
// threads can't change its user namespace.

// sendLimit is how long that process may take to read a command.
const sendLimit = 5 * time.Second

// Exec has a command run in the sandbox, and returns its number for [Box.Reports].
func (b *Box) Exec(c Command) (number int, err error) {
	env := environ.Set(environ.Unset(c.Base, outside...), c.Env...)
	message, err := rundir.EncodeExec(rundir.Exec{
		Dir: c.Dir, Command: c.Args, Env: environ.Unset(env, swarm.EnvShim, swarm.EnvEngine), Terminal: c.Terminal,
	})
	if err != nil {
		return 0, err
	}
	b.commands++
	_ = b.conn.SetWriteDeadline(time.Now().Add(sendLimit))
	err = b.sendFiles(c.Streams)
	if err == nil {
		_, err = b.conn.Write(append([]byte(strconv.Itoa(b.commands)+" "+strconv.Itoa(len(message))+"\n"), message...))
	}
	if err != nil {
		return 0, errors.New("the sandbox of the worker can't be entered: " + err.Error())
	}
	return b.commands, nil
}

func (b *Box) sendFiles(files *fdpass.Files) error {
	raw, err := b.conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = fdpass.Send(int(fd), '+', files)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return errors.Join(err, failed)
}

// Child returns the process in the sandbox that the first one has started and that has this number
// there.
func (b *Box) Child(number int) (proc.Identity, error) { return child(b.Init.PID, number) }

// listen passes on what the first process reports, until it is gone.
func (b *Box) listen() {
	defer b.conn.Close()
	defer b.report(true)
	isOver := false
	over := func() {
		if !isOver {
			isOver = true
			close(b.Over)
		}
	}
	defer over()
	for {
		line, err := readLine(b.conn)
		if err != nil {
			return
		}
		if text, ok := strings.CutPrefix(line, sayExit); ok {
			if ws, err := strconv.ParseUint(text, 10, 16); err == nil {
				b.End, b.Reported = unix.WaitStatus(ws), true
			}
			over()
			continue
		}
		if r, ok := parseReport(line); ok {
			b.report(false, r)
		}
	}
}

func parseReport(line string) (r Report, ok bool) {
	word, rest, _ := strings.Cut(line, " ")
	number, value, _ := strings.Cut(rest, " ")
	r.Number, _ = strconv.Atoi(number)
	n, err := strconv.Atoi(value)
	switch word + " " {
	case sayFailed:
		r.Failed, err = value, nil
	case sayBegun:
		r.PID = n
	case sayEnded:
		r.Ended, r.Status = true, unix.WaitStatus(n)
	default:
		return r, false
	}
	return r, err == nil && r.Number > 0
}

// received is a command that has arrived in the sandbox.
type received struct {
	number string
	rundir.Exec
	streams *fdpass.Files
}

// supervise reaps all processes of the sandbox, reports the end of the main process and of
// commands, and starts commands, until nothing is left. It runs on the thread whose restrictions hold
// for what it starts.
func supervise(conn *os.File, main int, dir string) int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	commands := make(chan received)
	go receive(conn, commands)
	numbers := map[int]string{}
	for {
		for {
			var ws unix.WaitStatus
			pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				return exitDone // nothing is left
			}
			if pid == 0 {
				break
			}
			if pid == main {
				_, _ = conn.WriteString(sayExit + strconv.Itoa(int(ws)) + "\n")
			}
			if number, ok := numbers[pid]; ok {
				delete(numbers, pid)
				_, _ = conn.WriteString(sayEnded + number + " " + strconv.Itoa(int(ws)) + "\n")
			}
		}
		select {
		case <-ended:
		case c := <-commands:
			pid, err := c.start(dir)
			c.streams.Close()
			if err != nil {
				_, _ = conn.WriteString(sayFailed + c.number + " " + strings.ReplaceAll(err.Error(), "\n", " ") + "\n")
				continue
			}
			numbers[pid] = c.number
			_, _ = conn.WriteString(sayBegun + c.number + " " + strconv.Itoa(pid) + "\n")
		}
	}
}

// receive reads commands until the shim is gone.
func receive(conn *os.File, commands chan<- received) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	for {
		var c received
		var b [1]byte
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			c.streams, failed = fdpass.Receive(int(fd), b[:])
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err != nil || failed != nil {
			return
		}
		line, err := readLine(conn)
		if err != nil {
			return
		}
		number, length, _ := strings.Cut(line, " ")
		size, err := strconv.Atoi(length)
		if err != nil || size <= 0 || size > rundir.MaxLaunch {
			return
		}
		message := make([]byte, size)
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		if c.Exec, err = rundir.DecodeExec(message); err != nil {
			return
		}
		c.number = number
		commands <- c
	}
}

// start starts a command; dir is the worker's directory.
func (c received) start(dir string) (pid int, err error) {
	if !filepath.IsAbs(c.Dir) {
		c.Dir = filepath.Join(dir, c.Dir)
	}
	err = program.CheckDir(c.Dir)
	var path string
	if err == nil {
		path, err = program.Find(c.Command[0], c.Dir, c.Env)
	}
	if err != nil {
		return 0, errors.New(err.Error() + " (in the sandbox)")
	}
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal, Ctty: 0}}
	for _, fd := range c.streams {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pid, err = syscall.ForkExec(path, c.Command, attr)
	if err != nil {
		return 0, program.StartError(c.Command[0], err)
	}
	return pid, nil
}
