package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ForwardVerb is the first argument of the program that [Backend.Forward] returns, the plugin's own, which then
// calls [ForwardMain].
const ForwardVerb = "forward-through-ssh"

// Forward returns the plugin itself, which has an ssh connect with a port, over there by swarm-remote: the server of
// ssh may forbid forwarding, and does not know whether the worker still runs.
func (b *Backend) Forward(ctx context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	_, l, far, err := b.of(h)
	if err != nil {
		return swarm.Program{}, err
	}
	_, err = again(ctx, l, func(s *session) (swarm.Program, error) { return s.backend.Forward(ctx, far, o) })
	if err != nil {
		return swarm.Program{}, err
	}
	return l.through(ForwardVerb, "forward", func(mark string) any { return remote.ForwardRequest{Handle: far, Port: o.Port, Mark: mark} })
}

// ForwardMain connects the standard streams with what an ssh connects with, and returns the exit code. Its arguments
// are those of the program that [Backend.Forward] returns: a mark, and the command of an ssh. A login shell may write lines before
// that of the mark.
func ForwardMain(args []string) int {
	var t *tunnel
	code := relay.Main(func(context.Context) (relay.Conn, error) {
		if len(args) < 2 {
			return nil, errors.New("expected a mark and the command of an ssh")
		}
		var err error
		t, err = newTunnel(args[0], args[1:])
		return t, err
	})
	switch {
	case t == nil:
	case code != 0:
		_ = t.cmd.Process.Signal(syscall.SIGTERM)
		<-t.ended //nolint:errcheck // the relay has said why
	default:
		if err := <-t.ended; err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// tunnel is an ssh that is connected with a port.
type tunnel struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *bufio.Reader
	pipe  *os.File   // what out reads
	ended chan error // gets why the ssh failed, or nil, once it has ended
}

// newTunnel starts an ssh and returns once the mark has come.
func newTunnel(mark string, command []string) (*tunnel, error) {
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it ends with its streams, and with this process
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGTERM)
	errs := &lastText{}
	cmd.Stderr = errs
	// A shared connection that this ssh has opened may hold the standard error.
	cmd.WaitDelay = 100 * time.Millisecond
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	pipe, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirOut.Close()
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &tunnel{cmd: cmd, in: in, pipe: pipe, out: bufio.NewReader(pipe), ended: make(chan error, 1)}
	go func() {
		err := cmd.Wait()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil
		}
		if line := errs.line(); err != nil && line != "" {
			err = errors.New(line)
		}
		t.ended <- err
	}()
	_, _ = theirIn.Close(), theirOut.Close()
	if err := skipTo(t.out, mark); err != nil {
		if ended := <-t.ended; ended != nil {
			err = ended
		}
		return nil, err
	}
	return t, nil
}

func (t *tunnel) Read(p []byte) (int, error)  { return t.out.Read(p) }
func (t *tunnel) Write(p []byte) (int, error) { return t.in.Write(p) }
func (t *tunnel) CloseWrite() error           { return t.in.Close() }

func (t *tunnel) Close() error {
	_ = t.in.Close()
	return t.pipe.Close()
}
