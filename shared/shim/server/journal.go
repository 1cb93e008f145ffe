package server

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// journal notifies the host of something to record by an entry in a directory that the host
// drains; only the name of an entry counts. There is at most one for each worker, and each
// has a new name: the host may be about to remove an entry whose status it read too early,
// and must not remove its successor.
type journal struct {
	id string
	// entry is the name of the last entry, n its number; empty, 0: none.
	entry string
	n     int
}

// changed reports a change, which status.json holds already.
func (j *journal) changed() error {
	j.n++
	return j.enter(rundir.JournalEntry(j.id, j.n))
}

// ended reports the end, which status.json holds durably.
func (j *journal) ended() error { return j.enter(rundir.JournalEntry(j.id, 0)) }

// enter makes an entry of that name, by renaming the previous one if it still exists: that
// needs no space on a full disk.
func (j *journal) enter(name string) error {
	path := rundir.JournalLink + "/" + name
	if j.entry != "" {
		err := os.Rename(rundir.JournalLink+"/"+j.entry, path)
		j.entry = name
		if !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	j.entry = name
	// A link takes no new file. ext4 looks for one past all that were deleted lately,
	// which takes many workers that end together half of their time.
	if os.Link(rundir.StatusFile, path) == nil {
		return nil
	}
	// The worker may have replaced the link; or the host has no journal, or has the entry
	// already.
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}
