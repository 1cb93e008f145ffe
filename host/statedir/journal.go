package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// JournalDir is the directory in the state directory in which shims tell what there is
// to record, see package rundir.
const JournalDir = "journal"

// JournalPath returns the path of an entry; of the directory with an empty name.
func (d Dir) JournalPath(name string) string { return filepath.Join(string(d), JournalDir, name) }

// linkJournal lets the shim of a new worker find the journal.
func (d Dir) linkJournal(id string) error {
	if err := os.MkdirAll(d.JournalPath(""), 0o700); err != nil {
		return err
	}
	return os.Symlink(d.JournalPath(""), filepath.Join(d.RunDir(id), rundir.JournalLink))
}

// DropEntry removes the last entry of a worker, whose end is recorded.
func (d Dir) DropEntry(id string) error {
	err := os.Remove(d.JournalPath(rundir.JournalEntry(id, 0)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
