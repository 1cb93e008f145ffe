package pluginadmin

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/install"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// checkLimit is how long a plugin may take for its check.
const checkLimit = 10 * time.Second

// Status is the state of one plugin.
type Status struct {
	Name string
	// Kind is "backend" or "workspace"; empty if it could not be started.
	Kind    string
	Version string
	// Contract is the version of the contract that it was built with.
	Contract int
	Path     string
	// Installed describes its installation, if 'swarm plugin install' installed it.
	Installed *catalog.Installed
	// Versions are those that are installed, the newest first, whether they are
	// used or not.
	Versions     []string
	Capabilities []string
	// Local says that it runs workers on this machine.
	Local bool
	// Uses names the software that it uses, such as "git 2.39.5"; empty if it does not
	// report that.
	Uses string
	// Description is what it announces of its settings and options; DescriptionErr says which part of
	// it can't be read.
	Description    backend.Description
	DescriptionErr error
	// Err is why it does not work; nil if it does.
	Err error
}

// List starts all plugins that it finds and returns their states, sorted by name.
func (a *Admin) List(ctx context.Context) []Status {
	found := a.Catalog.List()
	list := make([]Status, len(found))
	var wg sync.WaitGroup
	for i, f := range found {
		wg.Go(func() { list[i] = a.pluginStatus(ctx, f) })
	}
	wg.Wait()
	return list
}

func (a *Admin) pluginStatus(ctx context.Context, f catalog.Found) Status {
	name := f.Entry.Name
	s := Status{Name: name, Path: f.Entry.Path(), Installed: f.Entry.Installed, Versions: a.Catalog.Versions(name), Err: f.Err}
	if f.Err != nil {
		return s
	}
	ctx, cancel := a.Plugins.Within(ctx, name, checkLimit)
	defer cancel()
	s.Err = a.Plugins.Ask(ctx, f.Entry, false, func(p *backend.Peer) error {
		s.Kind, s.Version, s.Contract, s.Local = string(p.Kind), p.Version, p.Contract, p.Local
		for _, c := range p.Capabilities {
			s.Capabilities = append(s.Capabilities, string(c))
		}
		a.Plugins.Remember(f.Entry, p)
		s.Description, s.DescriptionErr = backend.DescriptionOf(p.Info)
		var err error
		s.Uses, err = p.Report(ctx)
		return err
	})
	if errors.Is(s.Err, swarm.ErrInvalidConfig) && s.Kind == "" {
		// The plugin's announcement helps to mend its settings.
		s.Description, s.DescriptionErr = a.Plugins.Describe(ctx, f.Entry)
	}
	s.Err = backend.Late(s.Err, name, checkLimit)
	return s
}

// Describe returns what a plugin announces of its settings and options. The plugin is started only
// if nothing is remembered of its program.
func (a *Admin) Describe(ctx context.Context, name string) (backend.Description, error) {
	e, err := a.Catalog.Find(name)
	if err != nil {
		return backend.Description{}, err
	}
	e.Name = name
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	d, err := a.Plugins.Describe(ctx, e)
	return d, backend.Late(err, name, checkLimit)
}

// Remembered is Describe that starts nothing.
func (a *Admin) Remembered(name string) backend.Description {
	e, err := a.Catalog.Find(name)
	if err != nil {
		return backend.Description{}
	}
	e.Name = name
	d, _ := backend.Remembered(statedir.Dir(a.Dir), e) // nothing, if nothing is known
	return d
}

type Detail struct {
	Status
	// Command is the command line that starts it.
	Command []string
	// Configured says that Command comes from a config file, WantVersion and WantSHA256 are
	// the configured version and hash.
	Configured              bool
	WantVersion, WantSHA256 string
}

// Show starts a plugin and returns everything that is known about it. A fault of the plugin
// is part of the detail; for a plugin that does not exist, the error is a
// [catalog.NotFoundError].
func (a *Admin) Show(ctx context.Context, name string) (Detail, error) {
	e, err := a.Catalog.Find(name)
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return Detail{}, missing
	}
	e.Name = name
	return Detail{
		Status:  a.pluginStatus(ctx, catalog.Found{Entry: e, Err: err}),
		Command: e.Command, Configured: e.Configured, WantVersion: e.Version, WantSHA256: e.SHA256,
	}, nil
}

// Verdict says whether a version of a plugin is unchanged since its installation.
type Verdict struct {
	Name, Version string
	// Problems has a line for each difference.
	Problems []string
}

// Verify reads all files of all installed plugins, or of all versions of the
// named one, and compares them with what was installed. Nothing is started.
func (a *Admin) Verify(name string) ([]Verdict, error) {
	names := a.Catalog.InstalledNames()
	if name != "" {
		if !slices.Contains(names, name) {
			return nil, a.notInstalled(name)
		}
		names = []string{name}
	}
	var verdicts []Verdict
	for _, name := range names {
		for _, version := range a.Catalog.Versions(name) {
			v := Verdict{Name: name, Version: version}
			i, err := a.Catalog.Installed(name, version)
			if err != nil {
				v.Problems = []string{err.Error()}
			} else {
				v.Problems = install.Verify(i)
			}
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}
