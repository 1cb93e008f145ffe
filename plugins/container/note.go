package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

// noteFile is the file in a run directory that holds a [note]. No container sees it.
const noteFile = "container.json"

// maxNote is the largest size of a note, in bytes.
const maxNote = 64 << 10

// note holds what no engine keeps of a worker.
type note struct {
	// Container is the container that PID, Started and Boot are about.
	Container string    `json:"container,omitempty"`
	PID       int       `json:"pid,omitempty"`
	Started   time.Time `json:"started,omitzero"`
	Boot      string    `json:"boot,omitempty"`
	// Kills are the kills that were under way: an end between From and Until is theirs.
	Kills []span `json:"kills,omitempty"`
	// Unenforced is the field of [swarm.Status].
	Unenforced string `json:"unenforced,omitempty"`
	// Undone is when the container was removed before it was started.
	Undone time.Time `json:"undone,omitzero"`
}

type span struct {
	ID    int64     `json:"id"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// killedAt reports whether an end at that time is due to a kill.
func (n note) killedAt(t time.Time) bool {
	return slices.ContainsFunc(n.Kills, func(s span) bool { return !t.Before(s.From) && !t.After(s.Until) })
}

// readNote returns the note in a run directory. Without one it is the zero value, and so it is
// of a file that holds none: a crash of the machine may have emptied it, since writing it waits
// for no disk.
func readNote(dir string) (note, error) {
	data, err := safefile.Read(filepath.Join(dir, noteFile), maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return note{}, nil
	}
	if err != nil {
		return note{}, fmt.Errorf("read %s: %w", filepath.Join(dir, noteFile), err)
	}
	var n note
	if json.Unmarshal(data, &n) != nil {
		return note{}, nil //nolint:nilerr // it is torn
	}
	return n, nil
}

// changeNote changes the note in a run directory. Changes come one after the other.
func changeNote(dir string, change func(*note)) error {
	lock, err := safefile.LockDir(dir, safefile.Exclusive)
	if err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	defer func() { _ = lock.Close() }()
	n, err := readNote(dir)
	if err != nil {
		return err
	}
	change(&n)
	data, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write %s: %w", noteFile, err)
	}
	return safefile.ReplaceCache(filepath.Join(dir, noteFile), data)
}

// noteStart notes down the container of a worker that was started. A note of it that is
// there stays: it may be from before a restart of the machine.
func (r ref) noteStart(s state) error {
	return changeNote(r.Dir, func(n *note) {
		if n.Container == r.Container {
			return
		}
		n.Container, n.PID, n.Started, n.Boot = r.Container, s.pid, s.started, ""
		if s.running {
			n.Boot, _ = proc.BootID()
		}
	})
}

// clockSlack is how much earlier the end of a worker may be dated than it was: Podman takes
// the time of a file, which the kernel takes from a coarse clock.
const clockSlack = 20 * time.Millisecond

// keptKills is how many kills a note holds.
const keptKills = 20

// intend notes down that the worker is being killed, for calls that see its end, and
// returns a function that takes this back.
func intend(dir string, limit time.Duration) (withdraw func(), err error) {
	now := time.Now().Add(-clockSlack)
	id := time.Now().UnixNano()
	err = changeNote(dir, func(n *note) {
		n.Kills = append(n.Kills, span{ID: id, From: now, Until: now.Add(limit + 2*clockSlack)})
		n.Kills = n.Kills[max(0, len(n.Kills)-keptKills):]
	})
	return func() {
		_ = changeNote(dir, func(n *note) {
			n.Kills = slices.DeleteFunc(n.Kills, func(s span) bool { return s.ID == id })
		})
	}, err
}
