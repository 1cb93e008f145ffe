//go:build !unix

package swarm

// numbers are the names of the numbers that POSIX fixes.
var numbers = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 9: "SIGKILL", 14: "SIGALRM", 15: "SIGTERM"}
