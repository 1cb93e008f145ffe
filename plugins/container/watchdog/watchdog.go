// Package watchdog ends a command in a container when the program that runs the command is ended.
//
// An engine keeps a command running when its client has gone. So that program starts a watchdog, in a session of its own,
// that reads from a pipe: the engine's id of the command before the engine starts it, then its first process, then
// that the command has ended. If the pipe ends before that, the program was ended, and the watchdog ends the command.
//
// Only plugins/container imports it.
package watchdog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Verb is the first argument of a watchdog, which then calls [Main].
const Verb = rundir.WatchdogCommand

// engineLimit is how long an engine may take to start a command, endLimit how long the processes may take to end after
// SIGKILL.
const (
	engineLimit = time.Minute
	endLimit    = 30 * time.Second
	poll        = 20 * time.Millisecond
)

// Container is where a command runs.
type Container struct {
	Socket    string // of the engine
	Container string // its id
	Init      int    // its first process
	Grace     time.Duration
}

// Watchdog is the program's end of the pipe.
type Watchdog struct {
	of Container
	to *os.File
}

// Start starts a watchdog: this program, with [Verb].
func Start(c Container) (*Watchdog, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	cmd := exec.Command(own, Verb, c.Socket, c.Container, strconv.Itoa(c.Init), c.Grace.String()) //nolint:noctx // it outlives this process
	cmd.Dir = "/"                                                                                 // not in a workspace that may have to go
	cmd.Env = environ.Set(os.Environ(), swarm.EnvShim+"="+rundir.WatchdogMark)
	cmd.Stdin = from
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog of the command: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	return &Watchdog{c, to}, nil
}

func (w *Watchdog) say(line string) error {
	if _, err := io.WriteString(w.to, line+"\n"); err != nil {
		return fmt.Errorf("the watchdog of the command has ended: %w", err)
	}
	return nil
}

const commandEnded = "ended"

// Exec reports the engine's id of a command that is about to be started.
func (w *Watchdog) Exec(id string) error { return w.say(id) }

// First reports the first process of the command. If it can't, it ends the command.
func (w *Watchdog) First(id proc.Identity) error {
	err := w.say(fmt.Sprintf("%d %d %s", id.PID, id.Start, id.Boot))
	if err != nil {
		end(context.Background(), w.of, id)
	}
	return err
}

// Release reports that there is no command to end.
func (w *Watchdog) Release() {
	_ = w.say(commandEnded)
	_ = w.to.Close()
}

// Main waits for the end of the program that has started this process, and then ends the command that it ran: by
// SIGTERM, and by SIGKILL after the grace. It returns the exit code.
func Main(args []string, from io.Reader) int {
	// It ends by itself soon after the program.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	in, err := parse(args)
	if err != nil {
		return 1
	}
	c := &command{Container: in}
	for lines := bufio.NewScanner(from); lines.Scan(); {
		if lines.Text() == commandEnded {
			return 0
		}
		c.hear(lines.Text())
	}
	if c.exec == "" {
		return 0
	}
	if c.main.PID == 0 && !c.find(context.Background()) {
		return 0
	}
	end(context.Background(), c.Container, c.main)
	return 0
}

func parse(args []string) (Container, error) {
	if len(args) != 4 {
		return Container{}, errors.New("expected a socket, a container, its first process and a grace")
	}
	init, err := strconv.Atoi(args[2])
	grace, err2 := time.ParseDuration(args[3])
	return Container{Socket: args[0], Container: args[1], Init: init, Grace: grace}, errors.Join(err, err2)
}

// command is a command of a program that was ended.
type command struct {
	Container
	exec string        // the engine's id
	main proc.Identity // its first process
	// known are the processes that were found so far.
	known map[proc.Identity]bool
}

func (c *command) hear(line string) {
	if c.exec == "" {
		c.exec = line
		return
	}
	_, _ = fmt.Sscan(line, &c.main.PID, &c.main.Start, &c.main.Boot)
}

// find looks for the first process of a command that the engine was asked to start, just before the program ended. It
// returns false if the command has no process.
func (c *command) find(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, engineLimit)
	defer cancel()
	e, err := client.New(client.WithHost("unix://" + c.Socket))
	for err == nil {
		got, askErr := e.ExecInspect(ctx, c.exec, client.ExecInspectOptions{})
		switch {
		case errdefs.IsNotFound(askErr), askErr == nil && !got.Running && got.PID != 0, !members.Is(c.Init, c.Container.Container):
			return false
		case askErr == nil && got.Running:
			if main, ok := FirstProcess(got.PID, c.Container.Container); ok {
				c.main = main
				return true
			}
		}
		err = sleep.For(ctx, poll)
	}
	return false
}

// end ends the processes of a command whose first one is main.
func end(ctx context.Context, in Container, main proc.Identity) {
	c := &command{Container: in, main: main, known: map[proc.Identity]bool{main: true}}
	for _, p := range c.alive() {
		_ = p.Signal(syscall.SIGTERM)
		_ = p.Signal(syscall.SIGCONT) // a stopped process sees its signal only when it continues
	}
	if c.ended(ctx, c.Grace, func([]proc.Process) {}) {
		return
	}
	c.ended(ctx, endLimit, func(left []proc.Process) {
		for _, p := range left {
			_ = p.Signal(syscall.SIGKILL)
		}
	})
}

// ended reports whether all processes have ended within a limit. It calls each with those that are left, again when
// one of them has ended.
func (c *command) ended(ctx context.Context, limit time.Duration, each func([]proc.Process)) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		left := c.alive()
		if len(left) == 0 {
			return true
		}
		each(left)
		if proc.AwaitEnd(ctx, left[0].Identity) != nil {
			return false
		}
	}
}

// alive returns the processes of the command: its first one, all of its session, and all that these have started. A process
// that was seen below one of them stays one of them.
func (c *command) alive() []proc.Process {
	pids, err := members.Of(c.Init, c.Container.Container)
	if err != nil {
		return nil // they have ended with the container
	}
	var all []proc.Process
	inSession := false
	ours := make(map[int]bool)
	for _, pid := range pids {
		p, err := proc.Read(pid)
		if err != nil || !members.Is(pid, c.Container.Container) {
			continue
		}
		all = append(all, p)
		if c.known[p.Identity] {
			ours[pid] = true
			// The number of a session is not used again while one of its processes exists.
			inSession = inSession || p.Session == c.main.PID
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !ours[p.PID] && (ours[p.Parent] || inSession && p.Session == c.main.PID) {
				ours[p.PID], grown = true, true
			}
		}
	}
	var left []proc.Process
	for _, p := range all {
		if ours[p.PID] {
			c.known[p.Identity] = true
			if !p.Ended {
				left = append(left, p)
			}
		}
	}
	return left
}

// FirstProcess returns the process with a pid that the engine names as the first one of a command, if it is in the
// container and leads a session, as runtimes have it.
func FirstProcess(pid int, container string) (proc.Identity, bool) {
	if pid <= 0 {
		return proc.Identity{}, false
	}
	p, err := proc.Read(pid)
	if err != nil || p.Ended || p.Session != pid || !members.Is(pid, container) {
		return proc.Identity{}, false
	}
	return p.Identity, true
}
