package install

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/catalog"
)

// Remove removes versions of a plugin from a state directory, whatever state they
// are in. Each goes by one rename. Errors: [catalog.VersionError],
// [catalog.LinkError].
func Remove(ctx context.Context, state, name string, versions []string) (err error) {
	there := catalog.New(catalog.Options{Dir: state}).Versions(name)
	for _, v := range versions {
		if !slices.Contains(there, v) {
			return &catalog.VersionError{Name: name, Version: v, Installed: there}
		}
	}
	f, err := open(ctx, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.checkNoLink(name); err != nil {
		return err
	}
	staging, remove, err := f.staging()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, v := range versions {
		if err := os.Rename(f.dir(name, v), filepath.Join(staging, v)); err != nil {
			return err
		}
	}
	// It stays if there is another version, or anything else, in it.
	_ = os.Remove(filepath.Join(f.path, name))
	return nil
}
