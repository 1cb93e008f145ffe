package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// RunsAs reports whether a process runs as the user uid, and can't become
// another one by an id that it has set aside. It is false for a process that
// is gone.
func RunsAs(pid, uid int) bool {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return false
	}
	want := uint32(uid)
	return k.Eproc.Ucred.Uid == want && k.Eproc.Pcred.P_ruid == want && k.Eproc.Pcred.P_svuid == want
}

// Self returns the calling process.
func Self() (Process, error) { return Read(os.Getpid()) }
