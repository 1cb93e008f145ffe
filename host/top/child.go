package top

import (
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/swarmhost/swarm/shared/swarm"
)

// child is a program that has the terminal while it runs.
type child struct{ cmd *exec.Cmd }

func (s *session) child(to swarm.Attachment) *child {
	cmd := exec.Command(to.Command[0], to.Command[1:]...) //nolint:noctx // it ends when the person leaves it, or with the terminal
	cmd.Env = without(s.opts.Env, to.Unset)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.opts.In, s.opts.Out, os.Stderr
	endWithParent(cmd)
	return &child{cmd}
}

// Run runs the program. Its end is bound to that of the thread which started it.
func (c *child) Run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return c.cmd.Run()
}

// SetStdin does nothing: the program has the files of the terminal.
func (c *child) SetStdin(io.Reader) {}

// SetStdout does nothing.
func (c *child) SetStdout(io.Writer) {}

// SetStderr does nothing.
func (c *child) SetStderr(io.Writer) {}
