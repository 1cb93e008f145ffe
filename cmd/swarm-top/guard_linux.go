package main

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the dashboard end when the process is killed that waits for it.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
