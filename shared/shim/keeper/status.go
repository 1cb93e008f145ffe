package keeper

import (
	"os"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	updateFile = rundir.StatusFile + ".tmp"
	finalFile  = rundir.StatusFile + ".end"
	// finalSize is more than a status is long.
	finalSize = 4096
)

// statusFile replaces status.json. The room for the last one is taken at the
// start: on a full disk nothing is left of a worker but its status.
type statusFile struct{ final *os.File }

func newStatusFile() (*statusFile, error) {
	f, err := os.OpenFile(finalFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := reserve(f, finalSize); err != nil {
		f.Close()
		_ = os.Remove(finalFile)
		return nil, err
	}
	return &statusFile{final: f}, nil
}

// write replaces the status while the worker runs. It need not outlast a crash of
// the machine: the worker would not either.
func (s *statusFile) write(st rundir.Status) error {
	if err := os.WriteFile(updateFile, rundir.EncodeStatus(st), 0o600); err != nil {
		_ = os.Remove(updateFile)
		return err
	}
	return os.Rename(updateFile, rundir.StatusFile)
}

// end replaces the status for the last time. What the name points to is durable,
// the name itself may be lost with the machine: that reads as a worker that the
// machine took along, and costs no second wait for the disk.
func (s *statusFile) end(st rundir.Status) error {
	b := rundir.EncodeStatus(st)
	if _, err := s.final.WriteAt(b, 0); err != nil {
		return err
	}
	if err := s.final.Truncate(int64(len(b))); err != nil {
		return err
	}
	failpoint("written")
	_ = s.final.Sync()
	s.final.Close()
	failpoint("synced")
	if err := os.Rename(finalFile, rundir.StatusFile); err != nil {
		return err
	}
	failpoint("renamed")
	return nil
}

func (s *statusFile) remove() {
	s.final.Close()
	_ = os.Remove(finalFile)
	_ = os.Remove(updateFile)
	_ = os.Remove(rundir.StatusFile)
}

// saveEvery is how often a worker that writes without end may cost a new status.
const saveEvery = time.Second

// saveDrops tells in the status what was dropped since it was written last.
func (k *keeper) saveDrops() {
	if !k.unsaved || time.Since(k.saved) < saveEvery {
		return
	}
	k.unsaved, k.saved = false, time.Now()
	v := k.log.drops()
	k.status.DroppedBytes, k.status.DroppedLines = v.bytes, v.lines
	// What can't be said now is said at the end.
	_ = k.file.write(k.status)
}
