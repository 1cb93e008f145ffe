package server

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// trim releases the pages of the program itself that only its start needed. The kernel maps
// the neighbours of every used page, so a start maps nearly the whole program; pages that
// are needed again come back without a read.
func trim() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		// "400000-4c0000 r-xp 00000000 fe:00 123   /path"; see proc_pid_maps(5).
		if !bytes.HasSuffix(bytes.TrimSpace(line), []byte(self)) || !bytes.Contains(line, []byte(" r-")) {
			continue
		}
		span, _, _ := bytes.Cut(line, []byte(" "))
		from, to, _ := bytes.Cut(span, []byte("-"))
		start, err1 := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err1 != nil || err2 != nil || start >= end {
			continue
		}
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_DONTNEED)
	}
}
