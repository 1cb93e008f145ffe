package tmux

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// output is what a program writes into a pipe until it ends. A server that tmux starts may hold
// the pipe open for longer.
type output struct {
	bytes.Buffer
	pipe *os.File
	read chan error
}

// run runs cmd. When it has ended, out and said hold all that it has written, and not what other
// processes write later.
func run(cmd *exec.Cmd, out, said *output) error {
	var own [2]*os.File
	for i, o := range []*output{out, said} {
		var err error
		if o.pipe, own[i], err = os.Pipe(); err != nil {
			return err
		}
		defer func() { _, _ = o.pipe.Close(), own[i].Close() }() // own is closed already if cmd was started
	}
	cmd.Stdout, cmd.Stderr = own[0], own[1]
	if err := cmd.Start(); err != nil {
		return err
	}
	for i, o := range []*output{out, said} {
		_ = own[i].Close() // the program has its own copy
		o.read = make(chan error, 1)
		go o.collect()
	}
	err := cmd.Wait()
	return errors.Join(err, out.finish(), said.finish())
}

// collect reads until all writers have closed the pipe, or finish is called.
func (o *output) collect() {
	_, err := o.ReadFrom(o.pipe)
	o.read <- err
}

// finish reads what is in the pipe, and does not wait for more.
func (o *output) finish() error {
	if err := o.pipe.SetReadDeadline(time.Now()); err != nil {
		return err
	}
	if err := <-o.read; !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	// A read fails once the deadline has passed, whatever is in the pipe.
	if err := o.pipe.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	conn, err := o.pipe.SyscallConn()
	if err != nil {
		return err
	}
	var part [4096]byte
	for {
		var n int
		var failed error
		err := conn.Read(func(fd uintptr) bool {
			n, failed = syscall.Read(int(fd), part[:])
			return true
		})
		switch {
		case err != nil:
			return err
		case n > 0:
			_, _ = o.Write(part[:n]) // never fails
		case !errors.Is(failed, syscall.EINTR):
			return nil
		}
	}
}
