package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// An engine keeps a command running when its client has gone. So the program that runs a command starts a watchdog, in a
// session of its own, that reads from a pipe: the engine's id of the command before the engine starts it, then its
// first process, then that the command has ended. If the pipe ends before that, the program was ended, and
// the watchdog ends the command.

// WatchdogVerb is the first argument of a watchdog, which then calls [WatchdogMain].
const WatchdogVerb = rundir.WatchdogCommand

// watched is what a watchdog has to know from its start.
type watched struct {
	socket, container string
	init              int // the container's first process
	grace             time.Duration
}

// watchdog is the program's end of the pipe.
type watchdog struct {
	watched
	to *os.File
}

func startWatchdog(w watched) (*watchdog, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	cmd := exec.Command(own, WatchdogVerb, w.socket, w.container, strconv.Itoa(w.init), w.grace.String()) //nolint:noctx // it outlives this process
	cmd.Dir = "/"                                                                                         // not in a workspace that may have to go
	cmd.Env = environ.Set(os.Environ(), swarm.EnvShim+"="+rundir.WatchdogMark)
	cmd.Stdin = from
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog of the command: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	return &watchdog{w, to}, nil
}

func (w *watchdog) say(line string) error {
	if _, err := io.WriteString(w.to, line+"\n"); err != nil {
		return fmt.Errorf("the watchdog of the command has ended: %w", err)
	}
	return nil
}

const commandEnded = "ended"

// release says that there is no command to end.
func (w *watchdog) release() {
	_ = w.say(commandEnded)
	_ = w.to.Close()
}

// WatchdogMain waits for the end of the program that has started this process, and then ends the command that it ran: by
// SIGTERM, and by SIGKILL after the grace. It returns the exit code.
func WatchdogMain(args []string, from io.Reader) int {
	// It ends by itself soon after the program.
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	w, err := parseWatched(args)
	if err != nil {
		return exitFailed
	}
	c := &command{watched: w}
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
	endCommand(context.Background(), c.watched, c.main)
	return 0
}

func parseWatched(args []string) (watched, error) {
	if len(args) != 4 {
		return watched{}, errors.New("expected a socket, a container, its first process and a grace")
	}
	init, err := strconv.Atoi(args[2])
	grace, err2 := time.ParseDuration(args[3])
	return watched{socket: args[0], container: args[1], init: init, grace: grace}, errors.Join(err, err2)
}

// command is a command of a program that was ended.
type command struct {
	watched
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
// returns false if there is none.
func (c *command) find(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, engineLimit)
	defer cancel()
	b := &Backend{engines: make(map[string]*engine), log: slog.New(slog.DiscardHandler)}
	e, err := b.at(c.socket)
	for err == nil {
		got, askErr := e.ExecInspect(ctx, c.exec, client.ExecInspectOptions{})
		switch {
		case isGone(askErr), askErr == nil && !got.Running && got.PID != 0, !isMember(c.init, c.container):
			return false
		case askErr == nil && got.Running:
			if main, ok := firstProcess(got.PID, c.container); ok {
				c.main = main
				return true
			}
		}
		err = sleep.For(ctx, findPoll)
	}
	return false
}

// endCommand ends the processes of a command whose first one is main.
func endCommand(ctx context.Context, w watched, main proc.Identity) {
	c := &command{watched: w, main: main, known: map[proc.Identity]bool{main: true}}
	for _, p := range c.living() {
		_ = p.Signal(syscall.SIGTERM)
		_ = p.Signal(syscall.SIGCONT) // a stopped process sees its signal only when it continues
	}
	if c.ended(ctx, c.grace, func([]proc.Process) {}) {
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
		left := c.living()
		if len(left) == 0 {
			return true
		}
		each(left)
		if proc.AwaitEnd(ctx, left[0].Identity) != nil {
			return false
		}
	}
}

// living returns the processes of the command: its first one, all of its session, and all that these have started. A process
// that was seen below one of them stays one of them.
func (c *command) living() []proc.Process {
	pids, err := members(c.init, c.container)
	if err != nil {
		return nil // they have ended with the container
	}
	var all []proc.Process
	inSession := false
	ours := make(map[int]bool)
	for _, pid := range pids {
		p, err := proc.Read(pid)
		if err != nil || !isMember(pid, c.container) {
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
