package proc

import "syscall"

// EndWithParent returns attributes of a program that gets a signal when the thread that started
// it ends, as it does when its process is killed.
func EndWithParent(sig syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: sig}
}
