package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// RunDirs returns the names in the directory of run directories.
func (d Dir) RunDirs() ([]string, error) {
	entries, err := safefile.ReadDir(filepath.Join(string(d), WorkersDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, nil
}

// Kept reports whether a shim still needs a run directory.
func (d Dir) Kept(id string) bool {
	s, err := ReadStatus(d.RunDir(id))
	return err == nil && s.State != rundir.StateEnded && shim.IsKept(d.RunDir(id), s)
}

// WorkersDir is the directory of the run directories.
const WorkersDir = "workers"

// RunDir is the run directory of a worker.
func (d Dir) RunDir(id string) string {
	return filepath.Join(string(d), WorkersDir, id)
}

// MakeRunDir makes the run directory of a new worker.
func (d Dir) MakeRunDir(id string) error {
	dir := d.RunDir(id)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the directory of run directories: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if err := d.linkJournal(id); err != nil {
		return errors.Join(fmt.Errorf("make the run directory: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// ReadStatus reads what a keeper wrote down.
func ReadStatus(dir string) (rundir.Status, error) {
	var s rundir.Status
	b, err := safefile.Read(filepath.Join(dir, rundir.StatusFile), rundir.MaxStatus)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// SameFile reports whether two paths lead to the same file.
func SameFile(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}

// LastOutput is when a worker last wrote something; zero if nobody knows.
func (d Dir) LastOutput(id string) time.Time {
	info, err := os.Stat(filepath.Join(d.RunDir(id), rundir.LogFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// DropUnstarted removes the run directory of a worker that was not started. A
// keeper that was started just before the crash can't go on without it; one
// that was quicker has left its mark by now, and keeps it.
func (d Dir) DropUnstarted(id string) error {
	dir, aside := d.RunDir(id), d.RunDir(id)+".interrupted"
	if err := os.Rename(dir, aside); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	_, err := os.Lstat(filepath.Join(aside, rundir.StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(aside)
	} else if err == nil {
		err = errors.New("its shim is just starting it")
	}
	if err != nil {
		return errors.Join(err, os.Rename(aside, dir))
	}
	return nil
}

// DropOutput removes what a worker wrote.
func (d Dir) DropOutput(id string) error {
	dir := d.RunDir(id)
	entries, err := safefile.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), rundir.LogFile) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
