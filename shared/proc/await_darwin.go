package proc

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// AwaitEnd returns nil once this very process has ended, and otherwise the
// context's error.
func AwaitEnd(ctx context.Context, id Identity) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	defer unix.Close(kq)
	watch := unix.Kevent_t{Ident: uint64(id.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}
	if _, err := unix.Kevent(kq, []unix.Kevent_t{watch}, nil, nil); errors.Is(err, unix.ESRCH) {
		return nil
	} else if err != nil {
		return os.NewSyscallError("kevent", err)
	}
	if !id.Alive() {
		return nil
	}
	// A context can't be waited for together with the process, so it is looked at in between.
	var pause *unix.Timespec
	if ctx.Done() != nil {
		pause = &unix.Timespec{Nsec: 200e6}
	}
	for events := make([]unix.Kevent_t, 1); ctx.Err() == nil; {
		n, err := unix.Kevent(kq, nil, events, pause)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("kevent", err)
		}
		if n > 0 {
			return nil
		}
	}
	return ctx.Err()
}
