//go:build !linux

package ssh

import (
	"os/exec"
	"syscall"
)

// endWithPlugin does nothing more: this system can't tie a program to its parent.
func endWithPlugin(cmd *exec.Cmd) { cmd.SysProcAttr = new(syscall.SysProcAttr) }
