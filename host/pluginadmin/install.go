package pluginadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/install"
	"github.com/swarmhost/swarm/host/catalog/source"
	"github.com/swarmhost/swarm/host/launch"
)

type InstallRequest struct {
	// Source is what [source.Parse] reads: a file, a URL, a repository, or a plugin of an index.
	Source string
	// SHA256 is the required hash of the file, in hex; if it is empty, that of a list
	// next to it, if there is one.
	SHA256 string
	// Force says to replace an installed plugin of that version.
	Force bool
	// Confirm asks a person whether a downloaded file is installed that neither a hash nor a known key
	// vouches for; nil: it is refused.
	Confirm func(*UnprovenError) error
}

type Installed struct {
	*install.Result
	// Hidden is the path of a plugin of the same name that is found before it, or empty.
	Hidden string
	// Newer is the release that is used in its place; empty: it is used itself.
	Newer string
	// Prerelease says that it is a pre-release, which is used only if it is named; Unused says that
	// nothing is used in its place.
	Prerelease, Unused bool
}

// UnprovenError refuses a downloaded file that neither a hash nor a known key vouches for.
type UnprovenError struct {
	// Source is the address of the file, SHA256 its hash in hex.
	Source, SHA256 string
	// Origin is what the user named, without a version; empty for an address.
	Origin string
}

func (e *UnprovenError) Error() string {
	return fmt.Sprintf("nothing vouches for %s: there is neither a required hash nor a known key for it; its sha256 is %s", e.Source, e.SHA256)
}

// Install installs a plugin. After all other checks it starts the plugin once to read its
// description.
func (a *Admin) Install(ctx context.Context, r InstallRequest) (Installed, error) {
	s, err := source.Parse(r.Source)
	if err != nil {
		return Installed{}, err
	}
	if s.File != "" {
		return a.install(ctx, install.Request{Path: s.File, SHA256: r.SHA256, Force: r.Force})
	}
	b, err := a.Sources.Find(ctx, s)
	if err != nil {
		return Installed{}, err
	}
	return a.installBuild(ctx, b, r)
}

// installBuild downloads, verifies and installs a file.
func (a *Admin) installBuild(ctx context.Context, b *source.Build, r InstallRequest) (_ Installed, err error) {
	dir, remove, err := install.DownloadDir(ctx, a.Dir)
	if err != nil {
		return Installed{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	path, proof, err := a.Sources.Download(ctx, b, r.SHA256, dir)
	if err != nil {
		return Installed{}, err
	}
	if !proof.Expected && proof.SignedBy.IsZero() {
		unproven := &UnprovenError{Source: b.Source, SHA256: proof.SHA256, Origin: b.Origin}
		if r.Confirm == nil {
			return Installed{}, unproven
		}
		if err := r.Confirm(unproven); err != nil {
			return Installed{}, err
		}
	}
	b.SignedBy = proof.SignedBy.String()
	return a.install(ctx, install.Request{Path: path, SHA256: proof.SHA256, Version: b.Version, Force: r.Force, Provenance: b.Provenance})
}

// install installs a file of this machine.
func (a *Admin) install(ctx context.Context, r install.Request) (Installed, error) {
	r.Dir, r.Ask = a.Dir, a.aboutPlugin
	result, err := install.Install(ctx, r)
	if err != nil {
		return Installed{}, err
	}
	out := Installed{Result: result, Prerelease: catalog.IsPrerelease(result.Version)}
	e, err := a.Catalog.Find(result.Name)
	var prerelease *catalog.PrereleaseError
	switch {
	case errors.As(err, &prerelease):
		out.Unused = true
	case err != nil:
		// The reason is reported when the plugin is to be used.
		a.Logger.Debug("the installed plugin is not found", "plugin", result.Name, "error", err)
	case e.Installed == nil:
		out.Hidden = e.Path()
	case e.Installed.Version != result.Version:
		out.Newer = e.Installed.Version
	}
	return out, nil
}

func (a *Admin) aboutPlugin(ctx context.Context, e catalog.Entry) (about install.About, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	err = a.Plugins.Ask(ctx, e, false, func(p *backend.Peer) error {
		about = install.About{Name: p.Name, Version: p.Version, Kind: string(p.Kind), Contract: p.Contract}
		return nil
	})
	if other, ok := errors.AsType[*catalog.NameError](err); ok {
		return install.About{Name: other.Theirs}, nil // which is refused with the name of the file
	}
	return about, err
}

type RemoveRequest struct {
	Name string
	// Version is an installed version; empty means the only one.
	Version string
	// All says to remove all versions.
	All bool
	// Force removes it even if workers exist that no other plugin can end.
	Force bool
}

// Remove removes installed versions of a plugin and returns them. The last version is kept
// as long as no other plugin owns its running workers.
func (a *Admin) Remove(ctx context.Context, r RemoveRequest) ([]string, error) {
	versions, err := a.versionsToRemove(r)
	if err != nil {
		return nil, err
	}
	if last := len(versions) == len(a.Catalog.Versions(r.Name)); last && !r.Force {
		if err := a.unused(ctx, r.Name); err != nil {
			return nil, err
		}
	}
	if err := install.Remove(ctx, a.Dir, r.Name, versions); err != nil {
		return versions, err
	}
	if err := launch.ForgetRemoved(a.Dir); err != nil {
		a.Logger.Debug("the hashes of a removed plugin stay", "plugin", r.Name, "error", err)
	}
	return versions, nil
}

func (a *Admin) versionsToRemove(r RemoveRequest) ([]string, error) {
	there := a.Catalog.Versions(r.Name)
	version := catalog.CleanVersion(r.Version)
	switch {
	case version != "" && !slices.Contains(there, version):
		return nil, &catalog.VersionError{Name: r.Name, Version: version, Installed: there}
	case version != "":
		return []string{version}, nil
	case len(there) == 0:
		return nil, a.notInstalled(r.Name)
	case len(there) > 1 && !r.All:
		return nil, &VersionsError{Name: r.Name, Versions: there}
	}
	return there, nil
}

func (a *Admin) unused(ctx context.Context, name string) error {
	if e, err := a.Catalog.Find(name); err == nil && e.Installed == nil {
		return nil // another plugin owns its workers
	}
	reg, err := a.Store.ToRead(ctx)
	if err != nil || reg == nil {
		return err
	}
	n, err := reg.CountRunning(ctx, name)
	if err != nil || n == 0 {
		return err
	}
	return &InUseError{Name: name, Workers: n}
}

func (a *Admin) notInstalled(name string) error {
	e, err := a.Catalog.Find(name)
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return missing
	}
	return fmt.Errorf("plugin '%s' is %s, which 'swarm plugin install' did not install", name, e.Path())
}

// VersionsError says that a plugin has several versions, so the caller has to name one.
type VersionsError struct {
	Name     string
	Versions []string
}

func (e *VersionsError) Error() string {
	return fmt.Sprintf("plugin '%s' is installed in %d versions: %s", e.Name, len(e.Versions), strings.Join(e.Versions, ", "))
}

// InUseError says that the plugin owns running workers.
type InUseError struct {
	Name    string
	Workers int
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("plugin '%s' owns %d running worker(s)", e.Name, e.Workers)
}
