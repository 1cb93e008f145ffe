package index

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/shared/safefile"
)

// Folder holds, in the state directory, the indexes that were added.
const Folder = "plugin-indexes"

const recordFile = "record.json"

// Store remembers indexes in a state directory.
type Store struct {
	// Dir is the state directory, absolute.
	Dir    string
	Client *download.Client
	// Env is the environment of git.
	Env []string
}

// record is the content of recordFile.
type record struct {
	Format  int       `json:"format"`
	Address string    `json:"address"`
	Updated time.Time `json:"updated"`
	// Keys are the trusted keys by the names of plugins; an unsigned plugin has an empty one.
	Keys map[string]signature.Key `json:"keys"`
}

// Added is an index that was added, as it was at its last update.
type Added struct {
	Name, Address string
	Updated       time.Time
	Plugins       []Plugin
	// Changed are the plugins whose keys are not the trusted ones.
	Changed []Change

	keys map[string]signature.Key
}

// Change is a key that is another one than the trusted one.
type Change struct {
	Plugin string
	// Was is the trusted key. Now is the key of the index, zero if it has none any more.
	Was, Now signature.Key
}

// NotFoundError says that no such index was added.
type NotFoundError struct {
	Name string
	// Known are the names of those that were.
	Known []string
}

func (e *NotFoundError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no index '%s': none was added", e.Name)
	}
	return fmt.Sprintf("no index '%s'; added: %s", e.Name, strings.Join(e.Known, ", "))
}

func (s Store) folder() string          { return filepath.Join(s.Dir, Folder) }
func (s Store) path(name string) string { return filepath.Join(s.folder(), name) }

// Names returns the names of all indexes, sorted. One that is being added, or whose addition was interrupted, is
// not among them: its record is written last.
func (s Store) Names() []string {
	entries, _ := safefile.ReadDir(s.folder()) // it does not exist before the first index
	var names []string
	for _, e := range entries {
		if !catalog.ValidName(e.Name()) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(s.path(e.Name()), recordFile)); err == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// Get returns an index as it was at its last update. Errors: [NotFoundError].
func (s Store) Get(name string) (*Added, error) {
	if !slices.Contains(s.Names(), name) {
		return nil, &NotFoundError{Name: name, Known: s.Names()}
	}
	damaged := func(err error) error {
		return fmt.Errorf("the index '%s' is damaged: %w; remove it and add it again", name, err)
	}
	text, err := safefile.Read(filepath.Join(s.path(name), recordFile), maxIndex)
	if err != nil {
		return nil, damaged(err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.Format != 1 {
		return nil, damaged(cmp.Or(err, fmt.Errorf("%s has format %d, expected 1", recordFile, r.Format)))
	}
	if text, err = safefile.Read(filepath.Join(s.path(name), File), maxIndex); err != nil {
		return nil, damaged(err)
	}
	i, err := Parse(text)
	if err != nil {
		return nil, damaged(err)
	}
	return added(name, r, i), nil
}

func added(name string, r record, i *Index) *Added {
	a := &Added{Name: name, Address: r.Address, Updated: r.Updated, Plugins: i.Plugins, keys: r.Keys}
	for n := range a.Plugins {
		p := &a.Plugins[n]
		if p.Key.IsZero() {
			p.Key = i.Key
		}
		// A key for a plugin that had none only adds protection.
		if was := r.Keys[p.Name]; !was.IsZero() && was != p.Key {
			a.Changed = append(a.Changed, Change{Plugin: p.Name, Was: was, Now: p.Key})
		}
	}
	return a
}

// Add adds an index. It trusts the keys that the index has now.
func (s Store) Add(ctx context.Context, name, address string) (*Added, error) {
	if !catalog.ValidName(name) {
		return nil, fmt.Errorf("%q can't name an index: expected lower-case letters, digits and hyphens", name)
	}
	address, err := resolve(address)
	if err != nil {
		return nil, fmt.Errorf("cannot add index '%s': %w", name, err)
	}
	return s.change(ctx, func() (*Added, error) {
		if slices.Contains(s.Names(), name) {
			return nil, fmt.Errorf("an index '%s' was added before: 'swarm plugin index remove %s' removes it", name, name)
		}
		a, err := s.update(ctx, name, record{Format: 1, Address: address})
		if err != nil {
			err = errors.Join(err, os.RemoveAll(s.path(name)))
		}
		return a, err
	})
}

// Update reads an index again from its address. The keys of plugins that are new in it are trusted.
// Errors: [NotFoundError].
func (s Store) Update(ctx context.Context, name string) (*Added, error) {
	return s.change(ctx, func() (*Added, error) {
		old, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		return s.update(ctx, name, record{Format: 1, Address: old.Address, Keys: old.keys})
	})
}

// Trust trusts all keys that an index has now, and returns those that were others before.
// Errors: [NotFoundError].
func (s Store) Trust(ctx context.Context, name string) ([]Change, error) {
	a, err := s.change(ctx, func() (*Added, error) {
		a, err := s.Get(name)
		if err != nil {
			return nil, err
		}
		for _, p := range a.Plugins {
			a.keys[p.Name] = p.Key
		}
		return a, s.write(name, record{Format: 1, Address: a.Address, Updated: a.Updated, Keys: a.keys})
	})
	if err != nil {
		return nil, err
	}
	return a.Changed, nil
}

// Remove forgets an index. Plugins that were installed from it stay. Errors: [NotFoundError].
func (s Store) Remove(ctx context.Context, name string) error {
	_, err := s.change(ctx, func() (*Added, error) {
		if !slices.Contains(s.Names(), name) {
			return nil, &NotFoundError{Name: name, Known: s.Names()}
		}
		return nil, os.RemoveAll(s.path(name))
	})
	return err
}

// change calls f while no other process changes an index.
func (s Store) change(ctx context.Context, f func() (*Added, error)) (_ *Added, err error) {
	if err := catalog.CheckFolder(s.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.folder(), 0o700); err != nil {
		return nil, err
	}
	lock, err := safefile.LockDir(s.folder(), safefile.Exclusive)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return f()
}

// update reads the index at the address of r, and writes both.
func (s Store) update(ctx context.Context, name string, r record) (*Added, error) {
	if err := os.MkdirAll(s.path(name), 0o700); err != nil {
		return nil, err
	}
	text, err := s.read(ctx, name, r.Address)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s", r.Address, File)
	}
	if err != nil {
		return nil, err
	}
	i, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Address, err)
	}
	r.Updated = time.Now().UTC().Truncate(time.Second)
	if r.Keys == nil {
		r.Keys = map[string]signature.Key{}
	}
	a := added(name, r, i)
	for _, p := range a.Plugins {
		if r.Keys[p.Name].IsZero() {
			r.Keys[p.Name] = p.Key
		}
	}
	if err := safefile.Replace(filepath.Join(s.path(name), File), text, 0o600); err != nil {
		return nil, err
	}
	return a, s.write(name, r)
}

func (s Store) write(name string, r record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Replace(filepath.Join(s.path(name), recordFile), append(text, '\n'), 0o600)
}
