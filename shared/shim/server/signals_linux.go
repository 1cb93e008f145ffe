//go:build linux && (amd64 || arm64)

package server

import (
	"encoding/binary"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/server/nowait"
)

// onSignal is the handler of the caught signals: it writes the number of the signal into
// signalPipe. onReturn ends a handler where the kernel has no code for that. Go calls neither;
// onSignalPC and onReturnPC are their addresses.
func onSignal() //nolint:unused // see signals_linux_*.s
func onReturn() //nolint:unused // see signals_linux_*.s

var onSignalPC, onReturnPC uintptr

// signalPipe is the writing end of a pipe.
var signalPipe int32 = -1 //nolint:unused // the handler in assembly reads it

// The flags of a handler. It runs on the stack that the Go runtime gives each thread for handlers
// of foreign code.
const (
	saSigInfo  = 0x4
	saRestorer = 0x4000000
	saOnStack  = 0x8000000
	saRestart  = 0x10000000
)

// sigaction is the kernel's struct sigaction of these machines.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// catch calls caught for each of some signals that this process gets, in a goroutine. Package
// os/signal would need three threads for that, and a machine with thousands of workers has no
// more than 32,768 of them by default. Like there, several signals of one kind may be one.
func catch(caught func(unix.Signal), signals ...unix.Signal) error {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	signalPipe = int32(p[1])
	for _, sig := range signals {
		act := sigaction{handler: onSignalPC, flags: saSigInfo | saRestorer | saOnStack | saRestart, restorer: onReturnPC, mask: ^uint64(0)}
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
		if errno != 0 {
			return os.NewSyscallError("sigaction", errno)
		}
	}
	go deliver(os.NewFile(uintptr(p[0]), "signals"), caught)
	return nil
}

// deliver reads the pipe of the handler until it is closed, which it never is.
func deliver(from *os.File, caught func(unix.Signal)) {
	var b [4 * 64]byte
	r := nowait.NewReader(from)
	for {
		n, err := r.Read(b[:])
		if err != nil {
			return
		}
		for at := 0; at+4 <= n; at += 4 {
			caught(unix.Signal(binary.NativeEndian.Uint32(b[at:])))
		}
	}
}
