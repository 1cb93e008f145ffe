package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrExists: a record of that name is there already.
	ErrExists = errors.New("a record of that name exists")
	// ErrNotFound: there is no such record.
	ErrNotFound = errors.New("no such record")
	// ErrDamaged: the database can't be read.
	ErrDamaged = errors.New("the database is damaged")
	// ErrMissing: the database is gone, its workers are not.
	ErrMissing = errors.New("the database is missing")
	// ErrNewer: the database was written by a newer swarm.
	ErrNewer = errors.New("this state directory was written by a newer swarm")
	// ErrUnreleased: the database was written by a swarm of before the first release.
	ErrUnreleased = errors.New("this state directory was written by an unreleased swarm")
	// ErrReadOnly: the file or its file system can't be written.
	ErrReadOnly = errors.New("the database can't be written")
	// ErrFull: the disk is full.
	ErrFull = errors.New("no space left for the database")
	// ErrBusy: another process kept the database locked for too long.
	ErrBusy = errors.New("the database is busy")
)

// DamagedError is an [ErrDamaged] of one file.
type DamagedError struct {
	Path string
	// Cause is what is wrong with it.
	Cause error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%v: %s: %v; %s", ErrDamaged, e.Path, e.Cause, doctorHint)
}

func (e *DamagedError) Unwrap() []error { return []error{ErrDamaged, e.Cause} }

const doctorHint = "run 'swarm doctor' to see what is wrong, 'swarm doctor --rebuild' to mend it"

// explain puts what SQLite says into the words of this package. It keeps err in
// the chain, and returns any other error unchanged.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	se, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch se.Code() {
	case sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP,
		sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE:
		return cannotWrite(path, err)
	}
	// The low byte is the primary code.
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &DamagedError{Path: path, Cause: err}
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL:
		return cannotWrite(path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("read or write %s: %w; %s", path, err, doctorHint)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %s: %w", ErrBusy, path, err)
	default:
		return err
	}
}

// cannotWrite returns the error for a database that can't be written. It distinguishes a full disk
// and a file that can't even be read from other reasons, which SQLite does not: what has no
// space is mostly the index of its log.
func cannotWrite(path string, err error) error {
	if denied := unix.Access(path, unix.R_OK); errors.Is(denied, fs.ErrPermission) {
		return fmt.Errorf("cannot read %s: %w", path, denied)
	}
	if Full(filepath.Dir(path)) {
		return fmt.Errorf("%w: %s: %w", ErrFull, path, err)
	}
	if limit := (unix.Rlimit{}); unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur != unix.RLIM_INFINITY {
		return fmt.Errorf("%w: %s: %w; the caller limits its files to %d bytes (ulimit -f)", ErrReadOnly, path, err, limit.Cur)
	}
	return fmt.Errorf("%w: %s: %w", ErrReadOnly, path, err)
}

// minBlocks is how many free blocks SQLite needs for a small change.
const minBlocks = 32

// MinSpace is how many bytes have to be freed on a full disk, so that a change is possible, with
// blocks of the usual size.
const MinSpace = minBlocks * 4096

// Full reports whether the disk under a state directory has no space for a
// change.
func Full(dir string) bool {
	var disk unix.Statfs_t
	return unix.Statfs(dir, &disk) == nil && disk.Bavail < minBlocks
}
