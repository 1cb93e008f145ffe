package ralph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The folders in swarm's state directory, and the files in that of a loop.
const (
	dirName   = "ralph"
	locksDir  = "locks"
	stateFile = "state.json"
	logFile   = "iterations.log"
	// outputFile is empty; it was changed when the agent wrote last.
	outputFile = "output"
)

// maxState is the largest state of a loop, in bytes: a command and the paths and
// patterns that it was spawned with.
const maxState = 16 << 20

// These are the prefixes of the names of a loop's lock files, see [Store.Starting],
// [Store.Change] and [Run].
const (
	startLock = "ralph-start-"
	stateLock = "ralph-state-"
	loopLock  = "ralph-loop-"
)

// removals is how often to try to remove the folder of a loop that still writes to it.
const removals = 10

// Store holds the loops of one state directory of swarm.
type Store struct{ dir string }

// NewStore returns the store in swarm's state directory. It makes nothing.
func NewStore(stateDir string) Store { return Store{dir: stateDir} }

// Dir returns where the files of a loop are.
func (s Store) Dir(name string) string { return filepath.Join(s.dir, dirName, name) }

// Names returns the names of all loops, sorted.
func (s Store) Names() ([]string, error) {
	entries, err := safefile.ReadDir(filepath.Join(s.dir, dirName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && swarm.ValidName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Load reads the state of a loop. The error is [ErrNoState] if there is none, and
// [ErrState] if it is damaged.
func (s Store) Load(name string) (State, error) {
	var st State
	b, err := s.read(name)
	if err != nil {
		return st, err
	}
	damaged := func(format string, args ...any) error {
		text := fmt.Sprintf("corrupt ralph state for '%s': ", name) + fmt.Sprintf(format, args...)
		return &failure{kind: ErrState, text: text}
	}
	err = rawjson.Unmarshal(b, &st)
	switch {
	case err != nil:
		return st, damaged("%v", err)
	case st.Version > Version:
		return st, damaged("it has version %d, this swarm knows up to %d", st.Version, Version)
	case st.Name != name:
		return st, damaged("it is of worker '%s'", st.Name)
	case len(st.Command) == 0 || st.PromptFile == "" || st.Iteration < 1:
		return st, damaged("required fields are missing")
	}
	return st, nil
}

func (s Store) read(name string) ([]byte, error) {
	if !swarm.ValidName(name) {
		return nil, NoState(name)
	}
	b, err := safefile.Read(filepath.Join(s.Dir(name), stateFile), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoState(name)
	}
	return b, err
}

// Claim gives the caller the exclusive right to start, replace or resume the loop of
// this name, until it releases that. The loop itself can still change its state.
func (s Store) Claim(ctx context.Context, name string) (release func(), err error) {
	return s.take(ctx, startLock+name, name)
}

// undoLimit bounds the undoing of a loop that could not be started, which waits for a lock.
const undoLimit = 30 * time.Second

// Create writes the state of a new loop and then calls start, which starts its worker. If
// that fails, the previous files are restored. The caller holds [Store.Starting].
func (s Store) Create(ctx context.Context, st State, start func() error) error {
	st.Version, st.LogBegins = Version, s.logSize(st.Name)
	b, err := encode(st)
	if err != nil {
		return err
	}
	undo, err := s.replace(ctx, st.Name, b)
	if err != nil {
		return err
	}
	if err := start(); err != nil {
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		return errors.Join(err, undo(undoing))
	}
	return nil
}

func (s Store) replace(ctx context.Context, name string, b []byte) (undo func(context.Context) error, err error) {
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, err := s.read(name)
	if err != nil && !errors.Is(err, ErrNoState) {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the ralph state: %w", err)
	}
	undo = func(ctx context.Context) error {
		if before == nil {
			_, err := s.Remove(ctx, name)
			return err
		}
		unlock, err := s.lock(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
		return s.write(name, before)
	}
	return undo, s.write(name, b)
}

// Change reads the state of a loop, changes it and writes it under a lock. If change fails,
// nothing is written.
func (s Store) Change(ctx context.Context, name string, change func(*State) error) (State, error) {
	if !swarm.ValidName(name) {
		return State{}, NoState(name)
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return State{}, err
	}
	defer unlock()
	st, err := s.Load(name)
	if err != nil {
		return st, err
	}
	if err := change(&st); err != nil {
		return st, err
	}
	return st, s.save(st)
}

// Remove removes all files of a loop, and reports whether there were any. A running loop
// ends after its iteration.
func (s Store) Remove(ctx context.Context, name string) (bool, error) {
	if !swarm.ValidName(name) {
		return false, nil
	}
	if _, err := os.Lstat(s.Dir(name)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unlock, err := s.lock(ctx, name)
	if err != nil {
		return false, err
	}
	defer unlock()
	// The state is removed first, since a loop without it ends. A running loop may add to
	// its log until it next reads its state.
	if err := os.Remove(filepath.Join(s.Dir(name), stateFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	for range removals {
		if err = os.RemoveAll(s.Dir(name)); err == nil {
			break
		}
	}
	return true, errors.Join(err, s.dropLocks(name))
}

func (s Store) save(st State) error {
	b, err := encode(st)
	if err != nil {
		return err
	}
	return s.write(st.Name, b)
}

func encode(st State) ([]byte, error) {
	b, err := rawjson.MarshalIndent(st, "", "  ")
	return append(b, '\n'), err
}

// write replaces the file whole or not at all.
func (s Store) write(name string, b []byte) error {
	if err := safefile.Replace(filepath.Join(s.Dir(name), stateFile), b, 0o600); err != nil {
		return fmt.Errorf("write the ralph state of '%s': %w", name, err)
	}
	return nil
}

func (s Store) lock(ctx context.Context, name string) (unlock func(), err error) {
	return s.take(ctx, stateLock+name, name)
}

// take takes one of the locks of a loop, waiting for it until ctx ends.
func (s Store) take(ctx context.Context, file, name string) (unlock func(), err error) {
	unlock, err = lockfile.Lock(ctx, s.lockPath(file))
	if err != nil {
		return nil, fmt.Errorf("lock the ralph state of '%s': %w", name, err)
	}
	return unlock, nil
}

func (s Store) own(name string) (release func(), err error) {
	release, err = lockfile.Try(s.lockPath(loopLock + name))
	if err == nil && release == nil {
		err = fmt.Errorf("ralph loop for '%s' is already running: %w", name, ErrOwned)
	}
	return release, err
}

// dropLocks removes the files of locks whose holders were killed. Held ones are removed at
// their release.
func (s Store) dropLocks(name string) error {
	var errs []error
	for _, file := range []string{startLock + name, loopLock + name} {
		if _, err := os.Lstat(s.lockPath(file)); err != nil {
			continue
		}
		unlock, err := lockfile.Try(s.lockPath(file))
		if unlock != nil {
			unlock()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s Store) lockPath(file string) string { return filepath.Join(s.dir, locksDir, file) }
