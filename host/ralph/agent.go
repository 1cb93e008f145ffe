package ralph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/pty"
)

type agent struct {
	pid      int
	terminal *pty.Terminal
	// size is the size of the terminal at the start.
	size *unix.Winsize
	// output carries the agent's output, and is closed when no process has the terminal open.
	output chan []byte
	// stop ends the goroutines below, busy waits for them.
	stop context.CancelFunc
	busy sync.WaitGroup
	// headless says that the agent does not read its terminal.
	headless bool
	// input is held while input is given to it.
	input sync.Mutex
}

// startAgent starts the program in the working directory and the environment of
// this process. Its standard input is stdin; nil: its terminal.
func startAgent(ctx context.Context, command []string, c *console, stdin *os.File) (_ *agent, err error) {
	program, err := exec.LookPath(command[0])
	if errors.Is(err, exec.ErrDot) {
		program, err = filepath.Abs(program)
	}
	if err != nil {
		return nil, fmt.Errorf("command not found: %s", command[0])
	}
	t, err := pty.Open()
	if err != nil {
		return nil, err
	}
	size := c.resize(t)
	inner := t.Inner.Fd()
	in := inner
	if stdin != nil {
		in = stdin.Fd()
	}
	env := os.Environ()
	if _, ok := os.LookupEnv("TERM"); !ok {
		env = append(env, "TERM=xterm-256color")
	}
	pid, err := syscall.ForkExec(program, command, &syscall.ProcAttr{
		Env:   env,
		Files: []uintptr{in, inner, inner},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1},
	})
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("cannot start %s: %w", command[0], err)
	}
	ctx, stop := context.WithCancel(ctx)
	a := &agent{pid: pid, terminal: t, size: size, output: make(chan []byte), stop: stop, headless: stdin != nil}
	a.busy.Go(func() { a.read(ctx) })
	a.busy.Go(func() { a.feed(ctx, c) })
	return a, nil
}

func (a *agent) read(ctx context.Context) {
	defer close(a.output)
	for {
		buf := make([]byte, 32<<10)
		n, err := a.terminal.Master.Read(buf)
		if n > 0 {
			a.terminal.Saw(buf[:n])
			select {
			case a.output <- buf[:n]:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return // no process has the terminal open
		}
	}
}

// feed passes typed or piped input on.
func (a *agent) feed(ctx context.Context, c *console) {
	typed := c.typed
	for {
		select {
		case keys, ok := <-typed:
			switch {
			case !ok:
				typed = nil
			case a.headless && c.before == nil:
				// Nothing reads it.
			case len(keys) == 0:
				_ = a.terminal.EOF()
			default:
				a.input.Lock()
				a.take(ctx, keys, c.before != nil)
				a.input.Unlock()
			}
		case <-ctx.Done():
			return
		}
	}
}

// take gives input unchanged: keys that were typed on a terminal, or text of a pipe, where
// a newline at the end stands for Enter. Input that can't be given is dropped.
func (a *agent) take(ctx context.Context, input []byte, keys bool) {
	if keys {
		_, _ = a.terminal.Master.Write(input)
		return
	}
	text, enter := bytes.CutSuffix(input, []byte("\n"))
	_ = a.terminal.Give(ctx, text, pty.GiveOptions{Enter: enter})
}

// paste gives the prompt to the agent and presses Enter, however late the agent
// reads it.
func (a *agent) paste(ctx context.Context, prompt []byte) error {
	a.input.Lock()
	defer a.input.Unlock()
	return a.terminal.Give(ctx, prompt, pty.GiveOptions{Enter: true})
}

// close waits until no goroutine uses the terminal.
func (a *agent) close() {
	a.stop()
	a.terminal.Close()
	a.busy.Wait()
}

func exitOf(status unix.WaitStatus) string {
	if status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return fmt.Sprint(status.ExitStatus())
}
