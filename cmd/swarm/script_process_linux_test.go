package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// alive reports whether the process lives that wrote its pid into a file at a
// certain time: a zombie is dead, and so is a pid that was given away since.
func alive(pid int, written time.Time) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	// The first thread of a process may end before others, which still run then: as many as field 17 says.
	if (fields[0] == "Z" || fields[0] == "X") && (fields[17] == "0" || fields[17] == "1") {
		return false
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return false
	}
	// The kernel counts in hundredths of a second since the boot.
	started := bootTime().Add(time.Duration(ticks) * 10 * time.Millisecond)
	return started.Before(written.Add(2 * time.Second))
}

// bootTime is exact to a second.
func bootTime() time.Time {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(stat)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			if sec, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil {
				return time.Unix(sec, 0)
			}
		}
	}
	return time.Time{}
}

// cpuTime is what a process took of the processors so far, 0 if it is gone. The
// kernel counts in hundredths of a second.
func cpuTime(pid int) time.Duration {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		return 0
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// switches is how often the threads of a process gave up the processor by
// themselves.
func switches(pid int) (sum int) {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "status"))
	if err != nil {
		return 0
	}
	for _, name := range threads {
		status, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(after, "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			sum += n
		}
	}
	return sum
}
