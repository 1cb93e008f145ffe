package server

import (
	"bytes"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// trim releases the pages of the program itself that only its start needed. The kernel maps
// the neighbours of every used page, so a start maps nearly the whole program; pages that
// are needed again come back without a read.
func trim() {
	for _, p := range pages() {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, p.from, p.length, unix.MADV_DONTNEED)
	}
}

type pageSpan struct{ from, length uintptr }

// pages are the parts of memory that hold the program. They stay where they are, and to look for
// them again and again would use more memory than trim releases.
var pages = sync.OnceValue(func() []pageSpan {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	var found []pageSpan
	for line := range bytes.Lines(maps) {
		// "400000-4c0000 r-xp 00000000 fe:00 123   /path"; see proc_pid_maps(5).
		if !bytes.HasSuffix(bytes.TrimSpace(line), []byte(self)) || !bytes.Contains(line, []byte(" r-")) {
			continue
		}
		addresses, _, _ := bytes.Cut(line, []byte(" "))
		from, to, _ := bytes.Cut(addresses, []byte("-"))
		start, err1 := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err1 == nil && err2 == nil && start < end {
			found = append(found, pageSpan{uintptr(start), uintptr(end - start)})
		}
	}
	return found
})
