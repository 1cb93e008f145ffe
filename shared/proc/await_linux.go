package proc

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// AwaitEnd returns nil once this very process has ended, and otherwise the
// context's error.
func AwaitEnd(ctx context.Context, id Identity) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	// The descriptor is held before the check, so it is this process's or the
	// check fails.
	if !id.Alive() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(0, 1)) })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	// A pidfd can't be read; the runtime's poller waits until it is readable,
	// which it is once the process has ended.
	err = conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	switch {
	case err == nil, !id.Alive():
		// It may have ended at the very end of the context.
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return err
	}
}
