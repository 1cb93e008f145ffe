package pluginadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/install"
	"github.com/swarmhost/swarm/host/catalog/source"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/registry"
)

// UpgradeRequest says what to upgrade.
type UpgradeRequest struct {
	// Name is a plugin; empty: all that are installed.
	Name string
	// DryRun says to change nothing.
	DryRun bool
	// Confirm has the meaning that it has in [InstallRequest].
	Confirm func(*UnprovenError) error
}

// Upgraded is what became of one plugin.
type Upgraded struct {
	Name string
	// From is the newest installed version, To the newest release of its origin; empty if there is
	// no origin.
	From, To string
	// Source is the address of the file of To.
	Source string
	// Installed is the installed plugin; nil if nothing was installed.
	Installed *Installed
	// Err is why it could not be upgraded; nil if it could, or is current.
	Err error
}

// Current reports whether no release is newer than what is installed.
func (u Upgraded) Current() bool {
	return u.To == "" || catalog.CompareVersions(u.To, u.From) <= 0
}

// Upgrade installs the newest releases of installed plugins from where these were installed from. Plugins
// without an origin are not changed. Versions that were there before stay, see [Admin.Prune].
func (a *Admin) Upgrade(ctx context.Context, r UpgradeRequest) ([]Upgraded, error) {
	names := a.Catalog.InstalledNames()
	if r.Name != "" {
		if !slices.Contains(names, r.Name) {
			return nil, a.notInstalled(r.Name)
		}
		names = []string{r.Name}
	}
	updated := map[string]error{}
	var list []Upgraded
	for _, name := range names {
		u := Upgraded{Name: name}
		u.Err = a.upgrade(ctx, r, &u, updated)
		list = append(list, u)
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
	}
	return list, nil
}

// upgrade upgrades one plugin. updated are the indexes that were updated, with the errors of that.
func (a *Admin) upgrade(ctx context.Context, r UpgradeRequest, u *Upgraded, updated map[string]error) error {
	there, err := a.newest(u.Name)
	if err != nil {
		return err
	}
	u.From = there.Version
	if there.Origin == "" {
		return nil
	}
	s, err := source.Parse(there.Origin)
	if err != nil {
		return err
	}
	if s.Index != "" {
		if _, done := updated[s.Index]; !done {
			_, updated[s.Index] = a.Sources.Indexes.Update(ctx, s.Index)
		}
		if err := updated[s.Index]; err != nil {
			return err
		}
	}
	b, err := a.Sources.Find(ctx, s)
	if err != nil {
		return err
	}
	if b.Name != u.Name {
		return fmt.Errorf("%s has the plugin '%s' now, not '%s'", there.Origin, b.Name, u.Name)
	}
	u.To, u.Source = b.Version, b.Source
	if u.Current() || r.DryRun {
		return nil
	}
	done, err := a.installBuild(ctx, b, InstallRequest{Confirm: r.Confirm})
	if err == nil {
		u.Installed = &done
	}
	return err
}

// newest returns the newest release of a plugin that is installed, or the newest version if there is no
// release.
func (a *Admin) newest(name string) (*catalog.Installed, error) {
	versions := a.Catalog.Versions(name)
	at := max(0, slices.IndexFunc(versions, func(v string) bool { return !catalog.IsPrerelease(v) }))
	return a.Catalog.Installed(name, versions[at])
}

// Pruned is a version that was removed, or would be.
type Pruned struct {
	Name, Version string
	// Size is the size of its files, in bytes.
	Size int64
}

// Prune removes the versions that nothing needs: neither the newest release, nor one that the config, a
// record of a worker, or keep names. keep are versions by the names of plugins.
func (a *Admin) Prune(ctx context.Context, keep map[string][]string, dryRun bool) ([]Pruned, error) {
	needed, err := a.neededVersions(ctx)
	if err != nil {
		return nil, err
	}
	var pruned []Pruned
	for _, name := range a.Catalog.InstalledNames() {
		kept := slices.Concat(needed[name], keep[name])
		for i, v := range kept {
			kept[i] = catalog.CleanVersion(v)
		}
		if newest, err := a.newest(name); err == nil {
			kept = append(kept, newest.Version)
		} else {
			continue // a damaged one is for 'plugin verify' to report
		}
		var versions []string
		for _, v := range a.Catalog.Versions(name) {
			if slices.Contains(kept, v) {
				continue
			}
			versions = append(versions, v)
			p := Pruned{Name: name, Version: v}
			if i, err := a.Catalog.Installed(name, v); err == nil {
				for _, f := range i.Files {
					p.Size += f.Size
				}
			}
			pruned = append(pruned, p)
		}
		if dryRun || versions == nil {
			continue
		}
		if err := install.Remove(ctx, a.Dir, name, versions); err != nil {
			return pruned, err
		}
	}
	if dryRun {
		return pruned, nil
	}
	return pruned, launch.ForgetRemoved(a.Dir)
}

// neededVersions returns the versions that the config and the records of workers name, by plugin.
func (a *Admin) neededVersions(ctx context.Context) (map[string][]string, error) {
	needed := map[string][]string{}
	for _, name := range a.Catalog.InstalledNames() {
		if c, _ := a.Catalog.Configured(name); c.Version != "" {
			needed[name] = append(needed[name], c.Version)
		}
	}
	reg, err := a.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return needed, err
	}
	recs, warnings, err := reg.Read(ctx, registry.Query{})
	if err == nil && len(warnings) > 0 {
		err = errors.New("some records of workers can't be read, so it is unknown which versions they need: " + strings.Join(warnings, "; "))
	}
	for _, rec := range recs {
		if rec.Plugin != nil && rec.Plugin.Version != "" {
			needed[rec.Backend] = append(needed[rec.Backend], rec.Plugin.Version)
		}
		if w := rec.Ask; w != nil && w.Config != nil && w.Config.Version != "" {
			needed[w.Plugin] = append(needed[w.Plugin], w.Config.Version)
		}
	}
	return needed, err
}
