package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// recordFile is the file in a run directory that says what was spawned there.
	recordFile = "remote.json"
	// maxRecord is its largest size, in bytes.
	maxRecord = 8 << 20
)

// record says what worker a run directory is for. It holds no environment.
type record struct {
	Kind    string     `json:"kind"`
	Spec    swarm.Spec `json:"spec"`
	Created time.Time  `json:"created"`
	Origin  Origin     `json:"origin,omitzero"`
	Owner   string     `json:"owner,omitempty"`
	// Handle is set once the worker was started.
	Handle *Handle `json:"handle,omitempty"`
}

// store is the directory in which this machine keeps the workers of one user.
type store struct{ dir string }

// RunDirs returns the directory with the run directories of the workers that a backend keeps in dir.
func RunDirs(dir string) string { return store{dir: dir}.workers() }

func (s store) workers() string          { return filepath.Join(s.dir, "workers") }
func (s store) runDir(id string) string  { return filepath.Join(s.workers(), id) }
func (s store) lockDir(id string) string { return filepath.Join(s.dir, "starting", id) }
func (s store) givenUp() string          { return filepath.Join(s.dir, "given-up") }

// validID reports whether an id is one of the contract: it becomes a part of paths.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// lock keeps the start of a worker and the search for it apart, in whatever processes. It
// is given back by unlock, and by the end of the process.
func (s store) lock(ctx context.Context, id string) (unlock func(), err error) {
	if !validID(id) {
		return nil, fmt.Errorf("%w: '%s' is not the id of a worker", swarm.ErrInvalidSpec, id)
	}
	type result struct {
		dir *os.File
		err error
	}
	got := make(chan result, 1)
	go func() {
		f, err := lockNamed(s.lockDir(id))
		got <- result{f, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			return nil, r.err
		}
		return func() {
			_ = os.Remove(s.lockDir(id)) // a process that waits for it makes it again
			_ = r.dir.Close()
		}, nil
	case <-ctx.Done():
		go func() {
			if r := <-got; r.dir != nil {
				_ = r.dir.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// lockNamed locks a directory, which it makes, and which the previous owner of the lock
// may have removed meanwhile.
func lockNamed(path string) (*os.File, error) {
	for {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		f, err := safefile.LockDir(path, safefile.Exclusive)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		locked, err := f.Stat()
		named, nerr := os.Lstat(path)
		if err == nil && nerr == nil && os.SameFile(locked, named) {
			return f, nil
		}
		_ = f.Close()
	}
}

// begun reports whether a shim has written the status of a worker: its directory is not
// removed then, whatever else is wrong. An error counts as yes.
func (s store) begun(id string) bool {
	_, err := os.Lstat(filepath.Join(s.runDir(id), rundir.StatusFile))
	return !errors.Is(err, fs.ErrNotExist)
}

func (s store) read(id string) (record, error) {
	var r record
	data, err := safefile.Read(filepath.Join(s.runDir(id), recordFile), maxRecord)
	if err == nil {
		err = rawjson.Unmarshal(data, &r)
	}
	if err == nil && (r.Spec.ID != id || len(r.Spec.Command) == 0) {
		err = errors.New("it is of another worker")
	}
	return r, err
}

func (s store) write(r record) error {
	data, err := rawjson.Marshal(r)
	if err != nil {
		return err
	}
	return safefile.Replace(filepath.Join(s.runDir(r.Spec.ID), recordFile), data, 0o600)
}

func (s store) make(r record) error {
	if err := os.MkdirAll(s.workers(), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(s.runDir(r.Spec.ID), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: worker %s", swarm.ErrExists, r.Spec.ID)
	}
	if err != nil {
		return err
	}
	return s.write(r)
}

// giveUp notes, durably, that the starts of a worker up to an attempt will not be carried
// out. The caller has the lock.
func (s store) giveUp(id string, attempt int) error {
	known, err := s.lastGivenUp(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.givenUp(), 0o700); err != nil {
		return err
	}
	s.prune()
	return safefile.Replace(filepath.Join(s.givenUp(), id), strconv.AppendInt(nil, int64(max(known, attempt)), 10), 0o600)
}

// lastGivenUp returns the last attempt to start a worker that was given up, 0 if none was.
// The caller has the lock.
func (s store) lastGivenUp(id string) (int, error) {
	data, err := safefile.Read(filepath.Join(s.givenUp(), id), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(data))
}

// givenUpFor is how long a note of a start that was given up is kept: no connection
// stalls for longer.
const givenUpFor = 30 * 24 * time.Hour

func (s store) prune() {
	entries, err := os.ReadDir(s.givenUp())
	if err != nil {
		return // the next one does it
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > givenUpFor {
			_ = os.Remove(filepath.Join(s.givenUp(), e.Name()))
		}
	}
}
