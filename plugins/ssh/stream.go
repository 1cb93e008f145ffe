package ssh

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// StreamVerb is the first argument of the program that [Backend.Exec] and [Backend.Copy] return, the plugin's own,
// which then calls [StreamMain].
const StreamVerb = "stream-through-ssh"

// through returns a program of the plugin that runs an ssh with a command of swarm-remote over there. The program gets the verb,
// a mark, and the command of the ssh; value is what the command takes, with that mark.
func (l *link) through(verb, command string, value func(mark string) any) (swarm.Program, error) {
	own, err := os.Executable()
	if err != nil {
		return swarm.Program{}, err
	}
	// PATH may be a variable that the ssh must not have, since it would send it.
	program, err := exec.LookPath(l.client.config.Program)
	if err != nil {
		return swarm.Program{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	mark := rand.Text()
	args, err := l.shows(false, command, value(mark))
	if err != nil {
		return swarm.Program{}, err
	}
	return swarm.Program{Command: append([]string{own, verb, mark, program}, args...), Unset: l.client.said().unsent}, nil
}

// StreamMain runs an ssh, passes on what it writes after a mark, and returns its exit code: 128 and the number of a signal that
// ended it. Its arguments are a mark and the command of the ssh. A login shell may write lines before that of the mark.
// The ssh ends with this process, and gets the signals that this process gets.
func StreamMain(args []string) int {
	code, err := stream(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

// failedCode is the exit code of an ssh that could not do its work.
const failedCode = 255

func stream(args []string) (int, error) {
	if len(args) < 2 {
		return failedCode, errors.New("expected a mark and the command of an ssh")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	cmd := exec.CommandContext(context.Background(), args[1], args[2:]...)
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGTERM)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return failedCode, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	r := bufio.NewReader(out)
	if err := skipTo(r, args[0]); err == nil {
		// Without a reader here the ssh has none either.
		if _, err := io.Copy(os.Stdout, r); err != nil {
			_ = out.Close()
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	if err != nil {
		return failedCode, err
	}
	return 0, nil
}

// skipTo reads all up to the line of a mark.
func skipTo(r *bufio.Reader, mark string) error {
	for {
		line, err := r.ReadString('\n')
		if strings.TrimSuffix(line, "\n") == mark {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
