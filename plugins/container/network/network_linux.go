// Package network connects with ports in the networks of containers, also with those that only listen on
// the loopback address there.
package network

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/relay"
)

// Dial connects with a port of the loopback address in the network of a container whose init has the pid. It
// does not return if another program has to do that. The error is [members.ErrNotHere] if the process is not
// the container's.
func Dial(ctx context.Context, init int, container string, port int) (relay.Conn, error) {
	network, err := os.Open("/proc/" + strconv.Itoa(init) + "/ns/net")
	if err != nil {
		return nil, fmt.Errorf("open the network: %w", err)
	}
	defer network.Close()
	// If it is the container's process now, it was so when its network was opened.
	if !members.Is(init, container) {
		return nil, members.ErrNotHere
	}
	return enter(ctx, network, port)
}

// enter connects with a port of the loopback network of a network namespace. It does not return if another program has
// to do that.
func enter(ctx context.Context, network *os.File, port int) (relay.Conn, error) {
	conn, err := dialIn(ctx, network, port)
	if errors.Is(err, unix.EPERM) {
		err = becomeDialer(network, port)
	}
	return conn, err
}

// dialIn connects from a thread in a network namespace. Only root may enter one.
func dialIn(ctx context.Context, network *os.File, port int) (conn relay.Conn, err error) {
	isOwn, err := isSame(network, "/proc/self/ns/net")
	switch {
	case err != nil:
		return nil, err
	case isOwn: // the container has the network of the machine
		return relay.Dial(ctx, port)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is never unlocked, and ends with the goroutine. The socket is made in the network of its thread.
		runtime.LockOSThread()
		if err = unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("enter the network: %w", err)
			return
		}
		conn, err = relay.Dial(ctx, port)
	}()
	<-done
	return conn, err
}

func isSame(f *os.File, path string) (bool, error) {
	a, err := f.Stat()
	if err != nil {
		return false, err
	}
	b, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	return os.SameFile(a, b), nil
}

// becomeDialer becomes a program that connects with a port in a network of a user namespace that a rootless
// engine of this user has made. nsenter enters both: a process with several threads, as those of Go are, can't
// change its user namespace. It returns why that is not possible.
func becomeDialer(network *os.File, port int) error {
	fd, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return fmt.Errorf("enter the network: %w", err)
	}
	user := os.NewFile(uintptr(fd), "user namespace")
	defer user.Close()
	isOwn, err := isSame(user, "/proc/self/ns/user")
	switch {
	case err != nil:
		return err
	case isOwn:
		return errors.New("only root may do that")
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return errors.New("nsenter is not installed; it comes with util-linux")
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{nsenter, "--preserve-credentials"}
	for kind, f := range map[string]*os.File{"user": user, "net": network} {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			return err
		}
		args = append(args, fmt.Sprintf("--%s=/proc/self/fd/%d", kind, f.Fd()))
	}
	args = append(append(args, "--", own), relay.Args(port)...)
	return fmt.Errorf("run nsenter: %w", unix.Exec(nsenter, args, os.Environ()))
}
