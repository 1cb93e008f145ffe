package rundir

import (
	"strconv"
	"strings"
)

// JournalLink is the symbolic link in a run directory to the host's journal, a
// directory in which the shim leaves an entry when the host has something to record. A
// host without a journal makes no link, and gets no entries.
const JournalLink = "journal"

// JournalEntry returns the name of the shim's nth entry for the worker with that id,
// counted from 1; 0 is the last one, for the worker's end.
func JournalEntry(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "." + strconv.Itoa(n)
}

// JournalID returns the id of the worker that an entry is about.
func JournalID(entry string) string {
	id, _, _ := strings.Cut(entry, ".")
	return id
}
