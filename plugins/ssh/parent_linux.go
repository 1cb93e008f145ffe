package ssh

import (
	"os/exec"
	"syscall"
)

// endWithPlugin makes an ssh end when the plugin is killed. A shared connection, which is a
// process of its own by then, goes on.
func endWithPlugin(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
