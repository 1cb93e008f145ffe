package top

import (
	"os/exec"
	"syscall"
)

// endWithParent makes a program end when this one is killed: its view of a worker must not
// stay behind.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGHUP} }
