package swarm

import "syscall"

func init() {
	numbers[int(syscall.SIGSTKFLT)] = "SIGSTKFLT"
	numbers[int(syscall.SIGPWR)] = "SIGPWR"
}
