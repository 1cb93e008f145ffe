package host

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/install"
)

// checkLimit is how long a plugin may take to say whether it can work.
const checkLimit = 10 * time.Second

// PluginStatus is what is known of one plugin.
type PluginStatus struct {
	Name string
	// Kind is "backend" or "workspace"; empty if it could not be started.
	Kind    string
	Version string
	// Contract is the version of the contract that it was built with.
	Contract int
	// Path is the executable.
	Path string
	// Installed is what is known of it if 'swarm plugin install' installed it.
	Installed *catalog.Installed
	// Versions are those that are installed, the newest first, whether they are
	// used or not.
	Versions     []string
	Capabilities []string
	// Local says that it runs workers on this machine.
	Local bool
	// Uses is what it works with, such as "git 2.39.5"; empty if it does not tell.
	Uses string
	// Err is why it does not work; nil if it does.
	Err error
}

// PluginList starts all plugins that can be found and tells how they are, sorted
// by name.
func (h *Host) PluginList(ctx context.Context) []PluginStatus {
	found := h.catalog.List()
	list := make([]PluginStatus, len(found))
	var wg sync.WaitGroup
	for i, f := range found {
		wg.Go(func() { list[i] = h.pluginStatus(ctx, f) })
	}
	wg.Wait()
	return list
}

// pluginStatus starts a plugin and tells how it is.
func (h *Host) pluginStatus(ctx context.Context, f catalog.Found) PluginStatus {
	name := f.Entry.Name
	s := PluginStatus{Name: name, Path: f.Entry.Path(), Installed: f.Entry.Installed, Versions: h.catalog.Versions(name), Err: f.Err}
	if f.Err != nil {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	s.Err = h.plugins.Ask(ctx, f.Entry, false, func(p *backend.Peer) error {
		s.Kind, s.Version, s.Contract, s.Local = string(p.Kind), p.Version, p.Contract, p.Local
		for _, c := range p.Capabilities {
			s.Capabilities = append(s.Capabilities, string(c))
		}
		var err error
		s.Uses, err = p.Report(ctx)
		return err
	})
	return s
}

// PluginDetail is all that is known of one plugin.
type PluginDetail struct {
	PluginStatus
	// Command is how it is started.
	Command []string
	// Configured says that Command comes from a config file, WantVersion and
	// WantSHA256 are the version and the hash that it asks for.
	Configured              bool
	WantVersion, WantSHA256 string
}

// Plugin starts a plugin and tells all that is known of it. What is wrong with it
// is in the detail; a plugin that there is not is a [catalog.NotFoundError].
func (h *Host) Plugin(ctx context.Context, name string) (PluginDetail, error) {
	e, err := h.catalog.Find(name)
	if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
		return PluginDetail{}, missing
	}
	e.Name = name
	return PluginDetail{
		PluginStatus: h.pluginStatus(ctx, catalog.Found{Entry: e, Err: err}),
		Command:      e.Command, Configured: e.Configured, WantVersion: e.Version, WantSHA256: e.SHA256,
	}, nil
}

// PluginVerdict tells whether a version of a plugin is as it was installed.
type PluginVerdict struct {
	Name, Version string
	// Problems are a line for each thing that is not; none if all is.
	Problems []string
}

// VerifyPlugins reads all files of all installed plugins, or of all versions of the
// named one, and compares them with what was installed. Nothing is started.
func (h *Host) VerifyPlugins(name string) ([]PluginVerdict, error) {
	names := h.catalog.InstalledNames()
	if name != "" {
		if !slices.Contains(names, name) {
			return nil, h.notInstalled(name)
		}
		names = []string{name}
	}
	var verdicts []PluginVerdict
	for _, name := range names {
		for _, version := range h.catalog.Versions(name) {
			v := PluginVerdict{Name: name, Version: version}
			i, err := h.catalog.Installed(name, version)
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
