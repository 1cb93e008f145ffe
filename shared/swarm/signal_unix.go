//go:build unix

package swarm

import "syscall"

// numbers are the names of the numbers that every Unix has; Linux adds its own.
var numbers = map[int]string{
	int(syscall.SIGABRT):   "SIGABRT",
	int(syscall.SIGALRM):   "SIGALRM",
	int(syscall.SIGBUS):    "SIGBUS",
	int(syscall.SIGCHLD):   "SIGCHLD",
	int(syscall.SIGCONT):   "SIGCONT",
	int(syscall.SIGFPE):    "SIGFPE",
	int(syscall.SIGHUP):    "SIGHUP",
	int(syscall.SIGILL):    "SIGILL",
	int(syscall.SIGINT):    "SIGINT",
	int(syscall.SIGIO):     "SIGIO",
	int(syscall.SIGKILL):   "SIGKILL",
	int(syscall.SIGPIPE):   "SIGPIPE",
	int(syscall.SIGPROF):   "SIGPROF",
	int(syscall.SIGQUIT):   "SIGQUIT",
	int(syscall.SIGSEGV):   "SIGSEGV",
	int(syscall.SIGSTOP):   "SIGSTOP",
	int(syscall.SIGSYS):    "SIGSYS",
	int(syscall.SIGTERM):   "SIGTERM",
	int(syscall.SIGTRAP):   "SIGTRAP",
	int(syscall.SIGTSTP):   "SIGTSTP",
	int(syscall.SIGTTIN):   "SIGTTIN",
	int(syscall.SIGTTOU):   "SIGTTOU",
	int(syscall.SIGURG):    "SIGURG",
	int(syscall.SIGUSR1):   "SIGUSR1",
	int(syscall.SIGUSR2):   "SIGUSR2",
	int(syscall.SIGVTALRM): "SIGVTALRM",
	int(syscall.SIGWINCH):  "SIGWINCH",
	int(syscall.SIGXCPU):   "SIGXCPU",
	int(syscall.SIGXFSZ):   "SIGXFSZ",
}
