package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// first runs a command a number of times, inherits what it leaves, and prints the
// names of the plugins that are left as zombies.
func first(times string, command []string) {
	n, err := strconv.Atoi(times)
	if err != nil {
		fail(err.Error())
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fail(err.Error())
	}
	for range n {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			fail(err.Error())
		}
	}
	for _, name := range orphans() {
		fmt.Println(name)
	}
}

// orphans are the names of the plugins that were left to this process, which waits
// for none of them.
func orphans() (names []string) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		pids, _ := os.ReadFile(list)
		for pid := range strings.FieldsSeq(string(pids)) {
			name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
			if strings.HasPrefix(string(name), "swarm-plugin") {
				names = append(names, strings.TrimSpace(string(name)))
			}
		}
	}
	return names
}
