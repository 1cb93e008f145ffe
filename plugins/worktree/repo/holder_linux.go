package repo

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safetext"
)

// holder returns the process that holds the lock of a file, if the kernel reports it.
func holder(f *os.File) string {
	const unknown = "another process"
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return unknown
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return unknown
	}
	want := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF; of waiting ones "1: ->".
		words := strings.Fields(line)
		if len(words) < 6 || words[1] != "FLOCK" || words[5] != want || words[4] == "0" {
			continue
		}
		comm, err := os.ReadFile("/proc/" + words[4] + "/comm")
		if err != nil {
			return "process " + words[4]
		}
		return fmt.Sprintf("%s (pid %s)", safetext.Line(strings.TrimSpace(string(comm))), words[4])
	}
	return unknown
}
