//go:build !linux

package main_test

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

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

// switches can't be counted here.
func switches(int) int { return 0 }
