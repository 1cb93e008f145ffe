package display

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Reader reads what workers show. Its methods may be called at the same time. Its fields are
// what it needs.
type Reader struct {
	Dir      statedir.Dir
	Store    *store.Store
	Plugins  *backend.Plugins
	Roster   *roster.Roster
	Logger   hclog.Logger
	Profiles *profile.Loader
}

// ProfileOf returns the profile of a worker; nil: none.
func (d *Reader) ProfileOf(rec *registry.Record) *profile.Profile {
	if rec.Profile == profile.None {
		return nil
	}
	set, err := d.Profiles.Load()
	if err != nil {
		d.Logger.Debug("profiles are left out", "error", err)
	}
	if rec.Profile != "" {
		return set.Named(rec.Profile)
	}
	return set.For(rec.Command)
}

// CheckProfile refuses the name of a profile that does not exist.
func (d *Reader) CheckProfile(name string) error {
	if name == "" || name == profile.None {
		return nil
	}
	set, err := d.Profiles.Load()
	if set.Named(name) != nil {
		return nil
	}
	var names []string
	for _, p := range set.All() {
		names = append(names, p.Name())
	}
	return errors.Join(&NoProfileError{Name: name, Known: names}, err)
}

// Profiled returns the records of workers that have a profile.
func (d *Reader) Profiled(recs []registry.Record) []registry.Record {
	return slices.DeleteFunc(slices.Clone(recs), func(r registry.Record) bool { return d.ProfileOf(&r) == nil })
}

// NoProfileError names a profile of agents that does not exist.
type NoProfileError struct {
	Name string
	// Known are the names of the profiles that exist.
	Known []string
}

func (e *NoProfileError) Error() string {
	return fmt.Sprintf("unknown profile '%s' (there are %s, and none)", e.Name, strings.Join(e.Known, ", "))
}

// Is makes it a [swarm.ErrInvalidSpec].
func (e *NoProfileError) Is(target error) bool { return target == swarm.ErrInvalidSpec }
