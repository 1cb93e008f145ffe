package server

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/record"
)

// The names of files that are written often.
var (
	updateName = record.NewName(rundir.UpdateFile)
	finalName  = record.NewName(rundir.FinalFile)
	statusName = record.NewName(rundir.StatusFile)
)

// finalSize is more than the size of any status, whatever the summary.
const finalSize = 16 << 10

// statusFile replaces status.json. The space for the last one is reserved at the start: on a
// full disk, only its status remains of a worker.
type statusFile struct{ final *os.File }

func newStatusFile() (*statusFile, error) {
	f, err := safefile.Create(rundir.FinalFile)
	if err != nil {
		return nil, err
	}
	if err := reserve(f, finalSize); err != nil {
		f.Close()
		_ = os.Remove(rundir.FinalFile)
		return nil, err
	}
	return &statusFile{final: f}, nil
}

// encoded is a status as it is written; the status may change during the write.
type encoded struct {
	text []byte
	// durable says that the status must outlast a crash of the machine, like a completion.
	// A running worker does not outlast it either.
	durable bool
	// answered says that a client learns of the status once it is written.
	answered bool
}

// encode encodes a status for the next write. There is one write at a time, so the text of the last
// one is not needed any more.
func (k *shim) encode(st rundir.Status) encoded {
	k.text = rundir.AppendStatus(k.text[:0], st)
	return encoded{text: k.text, durable: st.Completion != nil}
}

// write replaces the status while the worker runs. A status that is answered is durable under
// the name [rundir.UpdateFile] before anything reads it, and a reader after a crash of the
// machine looks for it there: so the rename can't undo it, and an error comes before it is seen.
func (s *statusFile) write(e encoded) error {
	failpoint("writing")
	err := writeFile(updateName, e.text, e.durable)
	if err == nil && e.answered {
		err = safefile.SyncDir(".")
		failpoint("kept")
	}
	if err == nil {
		err = replaceStatus(updateName)
	}
	if err != nil {
		_ = os.Remove(rundir.UpdateFile)
	}
	if err == nil && e.answered {
		// This error is harmless: the other name is on the disk.
		_ = safefile.SyncDir(".")
	}
	return err
}

func writeFile(name record.Name, b []byte, durable bool) error {
	f, err := record.Create(name)
	if err != nil {
		return err
	}
	err = f.WriteAt(b, 0)
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// end replaces the status for the last time. The content is durable, but a crash of the
// machine may lose the new name. The content is then found under the old one, so no second
// wait for the disk is needed.
func (s *statusFile) end(st rundir.Status) error {
	b := rundir.EncodeStatus(st)
	if _, err := s.final.WriteAt(b, 0); err != nil {
		return err
	}
	// Usually it has that size: the reserved space lies behind the end where the system
	// supports that.
	if info, err := s.final.Stat(); err != nil || info.Size() != int64(len(b)) {
		if err := s.final.Truncate(int64(len(b))); err != nil {
			return err
		}
	}
	failpoint("written")
	_ = s.final.Sync()
	ours := s.isInPlace()
	s.final.Close()
	failpoint("synced")
	if !ours {
		// The worker removed the file. Then no space is guaranteed.
		makeWay(rundir.FinalFile)
		if err := writeFile(finalName, b, true); err != nil {
			return err
		}
	}
	if err := replaceStatus(finalName); err != nil {
		return err
	}
	failpoint("renamed")
	return nil
}

// isInPlace reports whether the name of the last status still leads to the file that
// was opened at the start.
func (s *statusFile) isInPlace() bool {
	opened, err := s.final.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(rundir.FinalFile)
	return err == nil && os.SameFile(opened, named)
}

func replaceStatus(name record.Name) error {
	err := record.Rename(name, statusName)
	if errors.Is(err, syscall.EISDIR) {
		makeWay(rundir.StatusFile)
		err = record.Rename(name, statusName)
	}
	return os.NewSyscallError("rename", err)
}

// makeWay moves a directory aside that lies in the place of a new file. A file is replaced,
// but a directory can't be, and deleting the worker's files in it could take any time.
func makeWay(name string) {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		_ = os.Rename(name, name+"."+strconv.FormatInt(time.Now().UnixNano(), 10))
	}
}

func (s *statusFile) remove() {
	s.final.Close()
	_ = os.Remove(rundir.FinalFile)
	_ = os.Remove(rundir.UpdateFile)
	_ = os.Remove(rundir.StatusFile)
}

// saveEvery is how often the status of a worker that writes without end is written. Each
// write leaves some garbage, and what the runtime needs to collect it is several times as large.
const saveEvery = 5 * time.Second

// saveDrops writes the status if output was dropped since the last write.
func (k *shim) saveDrops() {
	if k.unsaved && !k.writes.underWay() && time.Since(k.saved) >= saveEvery {
		k.save()
	}
}

// save schedules a write of the status with the values that it has at that moment. A write
// that fails is repeated later, or at the end.
func (k *shim) save() {
	if k.queued {
		return
	}
	k.queued = true
	unjournaled := false
	k.writes.add(write{
		begin: func() func() error {
			k.queued = false
			k.countDrops()
			k.unsaved, k.saved = false, time.Now()
			unjournaled, k.unjournaled = k.unjournaled, false
			e := k.encode(k.status)
			return func() error {
				err := k.file.write(e)
				if err == nil && unjournaled {
					_ = k.journal.changed() // otherwise the host notices the change at its next check
				}
				return err
			}
		},
		end: func(err error) {
			if err != nil {
				k.unsaved, k.unjournaled = true, k.unjournaled || unjournaled
			}
			if k.unannounced && !k.queued {
				k.announce()
			}
			k.restarts.tidy()
		},
	})
}

func (k *shim) countDrops() {
	v := k.log.Drops()
	k.status.DroppedBytes, k.status.DroppedLines = v.Bytes, v.Lines
}

// publish schedules a write of the status, and then notifies the watchers.
func (k *shim) publish() {
	k.unannounced = true
	k.save()
}

func (k *shim) announce() {
	k.unannounced = false
	for _, c := range k.waiting {
		if c.Watches {
			c.Say(rundir.Answer{Kind: rundir.AnswerChanged})
		}
	}
}
