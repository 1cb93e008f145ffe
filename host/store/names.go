package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
)

// ErrNotFound says that there is no such worker; it is always a [NotFoundError].
var ErrNotFound = errors.New("worker not found")

// NotFoundError names a worker that is not in the registry.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("worker '%s' not found", e.Name) }

func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// Select returns the records of the workers with these names or ids, in their order and
// each once, or with no names all of those with a tag; all records with neither. A name
// that is not known is a [NotFoundError]. The warnings are about records that can't be
// read. reg may be nil: then there are no workers.
func Select(ctx context.Context, reg *registry.Registry, names []string, tag string) (recs []registry.Record, warnings []string, err error) {
	if reg != nil {
		if recs, warnings, err = reg.Read(ctx, registry.Query{Names: names}); err != nil {
			return nil, nil, err
		}
	}
	if len(names) == 0 {
		if tag != "" {
			recs = slices.DeleteFunc(recs, func(r registry.Record) bool { return !slices.Contains(r.Tags, tag) })
		}
		return recs, warnings, nil
	}
	var picked []registry.Record
	for _, name := range names {
		i := Find(recs, name)
		if i < 0 && len(warnings) > 0 {
			// It may be the one that can't be read.
			return nil, nil, fmt.Errorf("%w: %s", registry.ErrDamaged, strings.Join(warnings, "; "))
		}
		if i < 0 {
			return nil, nil, &NotFoundError{Name: name}
		}
		if registry.IndexOf(picked, recs[i].ID) < 0 {
			picked = append(picked, recs[i])
		}
	}
	return picked, warnings, nil
}

// Find returns the index of the worker of that name, else of that id, or -1. A
// name that looks like another worker's id is a name.
func Find(recs []registry.Record, name string) int {
	if i := slices.IndexFunc(recs, func(r registry.Record) bool { return r.Name == name }); i >= 0 {
		return i
	}
	return registry.IndexOf(recs, name)
}

// Restored is like [Reread], for a worker that was starting: if that was a respawn and
// failed, the record that it was to replace is there again.
func Restored(ctx context.Context, reg *registry.Registry, rec registry.Record) (registry.Record, error) {
	now, err := Reread(ctx, reg, rec)
	if errors.Is(err, ErrNotFound) && rec.Replaces != nil {
		return Reread(ctx, reg, *rec.Replaces)
	}
	return now, err
}

// Reread returns a record as it is now: [NotFoundError] if it is gone, as that
// of a spawn that failed is.
func Reread(ctx context.Context, reg *registry.Registry, rec registry.Record) (registry.Record, error) {
	now, err := reg.Get(ctx, rec.ID)
	if errors.Is(err, registry.ErrNotFound) {
		return rec, &NotFoundError{Name: rec.Name}
	}
	return now, err
}

// Names returns the names of all workers in the state directory dir, for
// completion. It starts nothing and writes nothing.
func Names(ctx context.Context, dir string) ([]string, error) {
	return readIn(ctx, dir, (*registry.Registry).Names)
}

// HistoryNames is like [Names], for the workers that the history knows.
func HistoryNames(ctx context.Context, dir string) ([]string, error) {
	return readIn(ctx, dir, (*registry.Registry).EventNames)
}

// Tags returns the tags of all workers in the state directory dir, for completion. It
// starts nothing and writes nothing.
func Tags(ctx context.Context, dir string) ([]string, error) {
	return valuesOf(ctx, dir, func(rec registry.Record) []string { return rec.Tags })
}

// OptionValues returns the values that the workers in the state directory dir have for
// an option of their backends, for completion. It starts nothing and writes nothing.
func OptionValues(ctx context.Context, dir, option string) ([]string, error) {
	return valuesOf(ctx, dir, func(rec registry.Record) []string {
		if value := rec.Options[option]; value != "" {
			return []string{value}
		}
		return nil
	})
}

// valuesOf returns all values that records have, each once, sorted.
func valuesOf(ctx context.Context, dir string, of func(registry.Record) []string) ([]string, error) {
	return readIn(ctx, dir, func(reg *registry.Registry, ctx context.Context) ([]string, error) {
		// The values that can be read are offered.
		records, _, err := reg.Read(ctx, registry.Query{})
		var values []string
		for _, rec := range records {
			values = append(values, of(rec)...)
		}
		slices.Sort(values)
		return slices.Compact(values), err
	})
}

// readIn reads names from the registry in a state directory; nothing if there is none.
func readIn(ctx context.Context, dir string, read func(*registry.Registry, context.Context) ([]string, error)) (found []string, err error) {
	if err := statedir.Check(dir); err != nil {
		return nil, err
	}
	reg, err := registry.OpenReadOnly(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	return read(reg, ctx)
}
