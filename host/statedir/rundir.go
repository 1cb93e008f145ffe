package statedir

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
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
	return err == nil && s.State != rundir.StateEnded && client.IsKept(d.RunDir(id), s)
}

// Hidden reports whether a worker has a shim whose process can't be seen by the caller, which is
// in a PID namespace of its own then: nothing shows whether it is a part of the worker.
func (d Dir) Hidden(id string) bool {
	s, err := ReadStatus(d.RunDir(id))
	return err == nil && s.State != rundir.StateEnded && !s.Shim.Alive() && client.IsKept(d.RunDir(id), s)
}

// WorkersDir is the directory of the run directories.
const WorkersDir = "workers"

// ProfileBundle returns the path of the installed bundle of profiles, whether or not there is one.
func (d Dir) ProfileBundle() string { return filepath.Join(string(d), "profiles.tar") }

func (d Dir) RunDir(id string) string {
	return filepath.Join(string(d), WorkersDir, id)
}

func (d Dir) MakeRunDir(id string) error {
	dir := d.RunDir(id)
	if err := d.makeWorkersDir(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("make the directory of run directories: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	err := os.MkdirAll(d.JournalPath(""), 0o700)
	if err == nil {
		// Relative, so that it holds when the state directory is moved while the worker runs.
		err = os.Symlink(filepath.Join("..", "..", JournalDir), filepath.Join(dir, rundir.JournalLink))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make the run directory: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// makeWorkersDir makes the directory of run directories, which is on the disk then with those
// above it that are new. It waits for the disk at the first spawn alone.
func (d Dir) makeWorkersDir(workers string) error {
	if info, err := os.Stat(workers); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(workers, 0o700); err != nil {
		return err
	}
	return errors.Join(safefile.SyncDir(string(d)), safefile.SyncDir(filepath.Dir(string(d))))
}

// ReadStatus reads the status that a shim recorded, see [client.ReadRecord].
func ReadStatus(dir string) (rundir.Status, error) { return client.ReadRecord(dir) }

// Log is how much output of a worker is kept in a run directory.
type Log struct {
	// Bytes is the size of the kept output on the disk.
	Bytes int64
	// DroppedBytes and DroppedLines are how much older output was dropped.
	DroppedBytes, DroppedLines int64
}

// ReadLog returns how much output is kept in a run directory; nil if it has no log.
func ReadLog(dir string) *Log {
	entries, err := safefile.ReadDir(dir)
	if err != nil {
		return nil
	}
	var log *Log
	for _, e := range entries {
		if e.Name() != rundir.LogFile && !strings.HasPrefix(e.Name(), rundir.LogFile+".") {
			continue
		}
		// Rotation may take a file away meanwhile.
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			if log == nil {
				log = &Log{}
			}
			log.Bytes += info.Size()
		}
	}
	if s, err := ReadStatus(dir); err == nil && log != nil {
		log.DroppedBytes, log.DroppedLines = s.DroppedBytes, s.DroppedLines
	}
	return log
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

// LastOutput returns the time of a worker's last output; zero if it is unknown.
func (d Dir) LastOutput(id string) time.Time {
	info, err := os.Stat(filepath.Join(d.RunDir(id), rundir.LogFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// interrupted is the end of the name of a run directory that DropUnstarted is removing.
const interrupted = ".interrupted"

// IDOf returns the id of the worker that a run directory of that name is of, which need not be
// known, and whether the name is one of a run directory.
func IDOf(name string) (id string, ok bool) {
	id = strings.TrimSuffix(name, interrupted)
	return id, IsID(id)
}

// Abandoned reports whether a run directory that no record names can be of no worker: nothing in
// it says which one, or it was being removed, no shim starts a worker in it, and no process of
// one is left. The caller holds the lock of its id, so no call is just making it.
func (d Dir) Abandoned(name string) bool {
	id, ok := IDOf(name)
	if !ok || id == name && d.HasWorkerFile(name) {
		return false
	}
	dir := d.RunDir(name)
	starting, err := safefile.LockDir(dir, safefile.Exclusive|safefile.NoWait)
	if err != nil {
		return false
	}
	defer starting.Close()
	if st, err := ReadStatus(dir); err == nil && st.State != rundir.StateEnded && st.Main.Alive() {
		return false
	}
	s, err := client.Status(dir, id)
	return err == nil && (s.State == swarm.StateExited || s.State == swarm.StateLost && len(s.Survivors) == 0)
}

// DropUnstarted removes the run directory of a worker that was not started, or was ended
// before anybody knew it. A shim that was started just before the crash can't continue without
// it; a faster shim has left its mark by now, and keeps the directory.
func (d Dir) DropUnstarted(id string) error {
	dir, aside := d.RunDir(id), d.RunDir(id)+interrupted
	// If it is missing, it may have been set aside by a process that was then killed.
	if err := os.Rename(dir, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s, err := ReadStatus(aside)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && s.State == rundir.StateEnded:
		err = os.RemoveAll(aside)
	case err == nil:
		err = errors.New("its shim is just starting it")
	}
	if err != nil {
		return errors.Join(err, os.Rename(aside, dir))
	}
	return nil
}

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

// digits are those of base 32 in the order of their bytes, so that ids sort like their
// numbers, without the letters that look like digits.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// The digits of an id: milliseconds, enough until the year 3084, then chance.
const (
	idTime   = 9
	idRandom = 7
)

// NewID returns an id that was never used before, and sorts after those that
// were made an instant before.
func NewID(now time.Time) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base32(uint64(now.UnixMilli()), idTime) + base32(binary.BigEndian.Uint64(b[:]), idRandom)
}

func base32(v uint64, n int) string {
	out := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = digits[v&31]
		v >>= 5
	}
	return string(out)
}

// IsID reports whether a text from elsewhere can be the id of a worker, and so the
// name of its run directory.
func IsID(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
}

// JournalDir is the directory in the state directory for the journal entries of shims, see
// package rundir.
const JournalDir = "journal"

// JournalPath returns the path of an entry; of the directory with an empty name.
func (d Dir) JournalPath(name string) string { return filepath.Join(string(d), JournalDir, name) }

// DropEntry removes the last entry of a worker, whose end is recorded.
func (d Dir) DropEntry(id string) error {
	err := os.Remove(d.JournalPath(rundir.JournalEntry(id, 0)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const LocksDir = "locks"

func (d Dir) LockPath(id string) string { return filepath.Join(string(d), LocksDir, id) }

// ServerLock returns the path of the lock of the program that serves a worker from outside.
func (d Dir) ServerLock(id string) string { return d.LockPath(id) + ".server" }

// Lock takes the lock of a worker, waiting for it until ctx ends.
func (d Dir) Lock(ctx context.Context, id string) (unlock func(), err error) {
	unlock, err = lockfile.Lock(ctx, d.LockPath(id))
	return unlock, lockError(id, err)
}

// TryLock is like Lock, but returns nil if the lock is held.
func (d Dir) TryLock(id string) (unlock func(), err error) {
	unlock, err = lockfile.Try(d.LockPath(id))
	return unlock, lockError(id, err)
}

// AwaitLock waits until nothing holds the lock of a worker, and reports whether something did.
func (d Dir) AwaitLock(ctx context.Context, id string) (held bool, err error) {
	if !d.Locked(id) {
		return false, nil
	}
	unlock, err := d.Lock(ctx, id)
	if err == nil {
		unlock()
	}
	return true, err
}

func lockError(id string, err error) error {
	if err != nil {
		return fmt.Errorf("lock worker %s: %w", id, err)
	}
	return nil
}

// Locked reports whether a process holds the lock of a worker. It writes nothing.
func (d Dir) Locked(id string) bool { return lockfile.IsHeld(d.LockPath(id)) }

// lockAge is how old a lock file that no process holds must be for its removal.
const lockAge = time.Minute

// SweepLocks removes the lock files whose holders were killed, see [lockfile.Sweep].
func (d Dir) SweepLocks() error {
	_, err := lockfile.Sweep(d.LockPath(""), lockAge)
	return err
}

// RespawnLock returns the name of the lock that is held while a worker is
// ended and started again. No worker has an id like it.
func RespawnLock(id string) string { return "respawn-" + id }

// ResurrectLock is the name of the lock that is held while workers are started again that
// ended with the machine. No worker has an id like it.
const ResurrectLock = "resurrect"

// ErrRefused is in every error about a state directory that swarm does not use.
var ErrRefused = errors.New("state directory refused")

// RefusedError holds the reason why swarm refuses a state directory. It is an [ErrRefused].
type RefusedError struct {
	Dir, Reason string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the state directory %s is not used: %s", e.Dir, e.Reason)
}

func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// Check reports whether a state directory can be believed: what is in it
// names programs to run and processes to signal. It returns an [*RefusedError] if
// the path is relative or breaks the owner rule, and nil if nothing is there yet but
// the directories above obey the rule.
func Check(dir string) error {
	if !filepath.IsAbs(dir) {
		return &RefusedError{Dir: dir, Reason: "it is a relative path"}
	}
	err := trust.Dir(dir)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	broken, ok := trust.As(err)
	if !ok {
		return fmt.Errorf("the state directory %s can't be examined: %w", dir, err)
	}
	info, err := os.Lstat(broken.At)
	if err == nil && !trust.Owned(info) {
		return &RefusedError{Dir: dir, Reason: fmt.Sprintf("%s %s; set HOME or SWARM_DIR to a directory of your own", broken.At, broken.Reason)}
	}
	return &RefusedError{Dir: dir, Reason: fmt.Sprintf("%s %s; run 'chmod go-w %s', or set SWARM_DIR to a directory that only you can write", broken.At, broken.Reason, broken.At)}
}
