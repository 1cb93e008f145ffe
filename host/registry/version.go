package registry

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// versionBase plus the version of its schema is the user_version of a database. Unreleased
// versions of swarm counted up from 1 instead and never came as far, so that no schema of theirs
// can be mistaken for one of today.
const versionBase = 1000

// schemaOf returns the version of the schema of the database at path, 0 if it is empty. It is an
// [ErrUnreleased] or an [ErrNewer] for a schema that this package does not know.
func schemaOf(ctx context.Context, q querier, path string) (int, error) {
	version, err := value[int](q.QueryRowContext(ctx, "PRAGMA user_version"))
	switch {
	case err != nil || version == 0:
		return 0, err
	case version <= versionBase:
		return 0, unreleased(path, version)
	case version > versionBase+Schema:
		return 0, fmt.Errorf("%w: %s has schema %d, this swarm knows up to %d; start this command again if swarm was upgraded, else install that swarm again, or set SWARM_DIR to another directory",
			ErrNewer, path, version-versionBase, Schema)
	}
	return version - versionBase, nil
}

func unreleased(path string, version int) error {
	return fmt.Errorf("%w: %s has its schema %d; nothing was changed; to start anew, end its workers with that swarm and move %s away",
		ErrUnreleased, path, version, filepath.Dir(path))
}

// opened are the files of the databases that this process has opened, each as often as it has.
var opened openFiles

type openFiles struct {
	sync.Mutex
	files []fs.FileInfo
}

const (
	// headerMagic begins each database of SQLite. Its user_version is at versionOffset, in
	// big-endian order.
	headerMagic   = "SQLite format 3\x00"
	versionOffset = 60
)

// add adds the database of path, unless it is one of an unreleased swarm: then it returns an
// [ErrUnreleased]. It reads the file before SQLite does, which would make a log next to it, but
// not a file that is open: closing it drops the locks that SQLite has on it in this process.
func (o *openFiles) add(path string, info fs.FileInfo) error {
	o.Lock()
	defer o.Unlock()
	if !slices.ContainsFunc(o.files, func(f fs.FileInfo) bool { return os.SameFile(f, info) }) {
		if version, err := readVersion(path); err == nil && 0 < version && version <= versionBase {
			return unreleased(path, version)
		}
	}
	o.files = append(o.files, info)
	return nil
}

func (o *openFiles) remove(info fs.FileInfo) {
	o.Lock()
	defer o.Unlock()
	if i := slices.Index(o.files, info); i >= 0 {
		o.files = slices.Delete(o.files, i, i+1)
	}
}

// readVersion returns the user_version in the header of a database; 0 for a file that is not one.
func readVersion(path string) (version int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	header := make([]byte, versionOffset+4)
	if _, err := io.ReadFull(f, header); err != nil || !bytes.HasPrefix(header, []byte(headerMagic)) {
		return 0, err
	}
	return int(binary.BigEndian.Uint32(header[versionOffset:])), nil
}

// CheckSchema is an [ErrNewer] if a newer swarm has migrated the database since it was
// opened. A program that reads for long calls it after each change: not every change of a
// schema makes a query fail.
func (r *Registry) CheckSchema(ctx context.Context) error {
	_, err := schemaOf(ctx, r.db, r.path)
	return explain(r.path, err)
}

// explain is the function explain for an error of r.db itself, outside of transactions. An
// error whose cause is that a newer swarm has migrated the database is an [ErrNewer].
func (r *Registry) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		return err
	}
	if newer := r.CheckSchema(ctx); errors.Is(newer, ErrNewer) {
		return newer
	}
	return explain(r.path, err)
}
