//go:build !linux

package main_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// processesOf returns the living processes that have the directory in their
// environment or arguments, which ps prints together.
func processesOf(root string) (ps []process) {
	out, err := exec.CommandContext(context.Background(), "ps", "-axwwE", "-o", "pid=,stat=,command=").Output()
	if err != nil {
		return nil
	}
	mention := regexp.MustCompile(regexp.QuoteMeta(root) + `([/ ]|$)`)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(fields[1], "Z") {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil || pid == os.Getpid() {
			continue
		}
		if mention.MatchString(line) {
			ps = append(ps, process{
				pid:     pid,
				command: strings.Join(fields[2:], " "),
				shim:    strings.Contains(line, " SWARM_SHIM="),
				worker:  strings.Contains(line, " SWARM_WORKER_ID="),
			})
		}
	}
	return ps
}

// alive reports whether the process lives; a zombie is dead.
func alive(pid int, _ time.Time) bool {
	out, err := exec.CommandContext(context.Background(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// cpuTime is what a process took of the processors so far, 0 if it is gone.
func cpuTime(pid int) time.Duration {
	out, err := exec.CommandContext(context.Background(), "ps", "-o", "cputime=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	minutes, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), ":")
	took, err := time.ParseDuration(minutes + "m" + seconds + "s")
	if err != nil {
		return 0
	}
	return took
}

// switches can't be told here.
func switches(int) int { return 0 }
