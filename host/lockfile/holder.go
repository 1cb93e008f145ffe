package lockfile

import (
	"encoding/json"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

// Holder is the process that holds a lock, as it has written itself into the file of the lock.
type Holder struct {
	Process proc.Identity `json:"process"`
	Since   time.Time     `json:"since"`
}

// Sign writes the calling process into the file of a lock that it holds.
func Sign(path string) error {
	self, err := proc.Self()
	if err != nil {
		return err
	}
	b, err := json.Marshal(Holder{self.Identity, time.Now()})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// HolderOf returns the process that has signed the lock; ok is false if there is none, or if it
// has only just taken the lock.
func HolderOf(path string) (h Holder, ok bool) {
	b, err := safefile.Read(path, 4096)
	return h, err == nil && json.Unmarshal(b, &h) == nil
}
