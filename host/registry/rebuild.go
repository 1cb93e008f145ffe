package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// SetAside renames the database in dir, so that it can be looked at later, and
// returns its new path; empty if there was none.
func SetAside(dir string, now time.Time) (string, error) {
	path := filepath.Join(dir, File)
	aside := fmt.Sprintf("%s.damaged-%s", path, now.UTC().Format("20060102T150405Z"))
	for n := 2; ; n++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s.damaged-%s-%d", path, now.UTC().Format("20060102T150405Z"), n)
	}
	moved := ""
	// The log goes first: a database without it is only older, while a log next to
	// another database would be taken for its own.
	for _, suffix := range append(slices.Clone(besides), "") {
		err := os.Rename(path+suffix, aside+suffix)
		switch {
		case err == nil:
			moved = aside
		case !errors.Is(err, fs.ErrNotExist):
			return moved, fmt.Errorf("move the damaged database aside: %w", err)
		}
	}
	return moved, nil
}

// BuildPrefix begins the names of directories in which databases are made.
const BuildPrefix = "new-database-"

// Build makes a database of recs and of what can be read of a damaged one, nil if there was
// none, in dir, where there is none: [fs.ErrExist] if there is one. It appears whole or not at
// all. Events keep the place in the history that they have; those without one come after them.
func Build(ctx context.Context, dir string, recs []Record, s *Salvaged) (err error) {
	removeStale(dir)
	tmp, err := os.MkdirTemp(dir, BuildPrefix)
	if err != nil {
		return fmt.Errorf("make a new database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	// SQLite gives all its files the mode of the first one, which it would make
	// with that of the umask.
	if err := os.WriteFile(filepath.Join(tmp, File), nil, 0o600); err != nil {
		return fmt.Errorf("make a new database: %w", err)
	}
	r, err := openFile(filepath.Join(tmp, File))
	if err != nil {
		return err
	}
	err = r.fill(ctx, tmp, recs, s)
	// The last one to close a database writes its log back and removes it.
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if err := os.Link(filepath.Join(tmp, File), filepath.Join(dir, File)); err != nil {
		return fmt.Errorf("put the new database in place: %w", err)
	}
	return nil
}

// removeStale removes databases that were being made when the machine went down. A newer
// one may belong to a running process. Doctor reports those that stay.
func removeStale(dir string) {
	booted, err := proc.BootTime()
	if err != nil {
		return
	}
	stale, _ := filepath.Glob(filepath.Join(dir, BuildPrefix+"*")) // no error for this pattern
	for _, tmp := range stale {
		if info, err := os.Lstat(tmp); err == nil && info.IsDir() && info.ModTime().Before(booted) {
			_ = os.RemoveAll(tmp)
		}
	}
}

// fill writes recs and what can be read of a damaged database into a new one in dir. The rows of
// the damaged one are migrated like those of a database that is good.
func (r *Registry) fill(ctx context.Context, dir string, recs []Record, s *Salvaged) error {
	if s != nil && s.from != nil {
		if err := r.migrate(ctx, dir, s.schema); err != nil {
			return err
		}
		if err := r.Change(ctx, func(ctx context.Context, tx *Tx) error { return tx.restore(ctx, s) }); err != nil {
			return err
		}
	}
	if err := r.migrate(ctx, dir, Schema); err != nil {
		return err
	}
	return r.Change(ctx, func(ctx context.Context, tx *Tx) error {
		for i := range recs {
			if err := tx.Insert(ctx, &recs[i]); err != nil {
				return err
			}
		}
		if err := tx.mend(ctx); err != nil || s == nil {
			return err
		}
		return tx.replay(ctx, s)
	})
}
