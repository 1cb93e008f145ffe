package pluginadmin

import (
	"context"
	"fmt"
	"path"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/source"
)

// Locked is a version of a plugin that a project's lock names.
type Locked struct {
	Name, Version string
	// SHA256 is the hash of the file at Source, in hex.
	SHA256 string
	catalog.Provenance
}

// InstallLocked installs exactly the file that a lock names. Where the user's config has a key for its
// origin, the file has to be signed as well.
func (a *Admin) InstallLocked(ctx context.Context, l Locked) (Installed, error) {
	if len(l.SHA256) != 64 {
		return Installed{}, fmt.Errorf("plugin '%s' %s: the lock has no sha256 of its file", l.Name, l.Version)
	}
	b, err := a.lockedBuild(ctx, l)
	if err != nil {
		return Installed{}, err
	}
	if b.Name != l.Name || b.Version != "" && b.Version != l.Version {
		return Installed{}, fmt.Errorf("%s is the plugin '%s' %s, the lock names '%s' %s", b.Source, b.Name, b.Version, l.Name, l.Version)
	}
	b.Version = l.Version // the file of an address may not say it
	return a.installBuild(ctx, b, InstallRequest{SHA256: l.SHA256})
}

// lockedBuild finds the file of a lock: at its address, unless only its origin knows how to get it or by
// whom it has to be signed.
func (a *Admin) lockedBuild(ctx context.Context, l Locked) (*source.Build, error) {
	_, err := download.CheckAddress(l.Source)
	if isURL := err == nil; isURL && (l.Origin == "" || a.Sources.KeyOf(l.Origin).IsZero()) {
		b, err := a.Sources.Find(ctx, source.Source{URL: l.Source})
		if err == nil {
			b.Origin = l.Origin
		}
		return b, err
	}
	if l.Origin == "" {
		return nil, fmt.Errorf("plugin '%s' %s was installed from the file %s: get that file, and run 'swarm plugin install %s --sha256 %s'",
			l.Name, l.Version, l.Source, path.Base(l.Source), l.SHA256)
	}
	s, err := source.Parse(l.Origin + "@" + l.Version)
	if err != nil {
		return nil, err
	}
	return a.Sources.Find(ctx, s)
}
