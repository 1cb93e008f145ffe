package backend

import (
	"errors"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
)

// Entry returns the catalog entry for the plugin of a worker: what the config says of the plugin
// now, so that a command that was put right holds for the workers that run already. The record is
// the fall-back, for a plugin that is no longer configured, whose program has gone, or that a
// project has configured, whose file most commands don't read.
func (ps *Plugins) Entry(name string, recorded *registry.Plugin) (catalog.Entry, error) {
	if recorded == nil {
		return ps.opts.Catalog.Find(name)
	}
	var err error
	if ps.isCurrent(name, recorded) {
		var e catalog.Entry
		if e, err = ps.current(name, recorded); err == nil || !isMissing(err) {
			return e, err
		}
	}
	if len(recorded.Command) > 0 {
		e := catalog.Entry{
			Name: name, Command: recorded.Command, SHA256: recorded.SHA256, MTLS: recorded.MTLS, Config: recorded.Config,
			Source: recorded.Source, Configured: true,
		}
		kept := e.Check()
		if _, moved := errors.AsType[*catalog.MissingError](kept); !moved {
			return e, kept
		}
	}
	if err != nil {
		return catalog.Entry{}, err
	}
	e, err := ps.findRecorded(name, recorded)
	if e.Config == nil || e.Source != recorded.Source {
		e.Config = recorded.Config
	}
	return e, err
}

// isCurrent reports whether the configuration of this call is that of the file by which a worker's
// plugin was configured. Without an entry of another file it is: the entry was removed then, or
// the call does not read the project's file.
func (ps *Plugins) isCurrent(name string, recorded *registry.Plugin) bool {
	conf, configured := ps.opts.Catalog.Configured(name)
	if configured {
		return conf.Source == recorded.Source
	}
	return recorded.Source == sourceUser
}

// sourceUser is the source of plugins that the user's own file configures.
const sourceUser = "user"

// current returns the entry of a plugin as the config is now. If no file has settings of it any
// more, those of the record hold, since without them an engine may not be reached.
func (ps *Plugins) current(name string, recorded *registry.Plugin) (catalog.Entry, error) {
	conf, configured := ps.opts.Catalog.Configured(name)
	var e catalog.Entry
	var err error
	if len(conf.Command) > 0 {
		e, err = ps.opts.Catalog.Find(name)
	} else {
		e, err = ps.findRecorded(name, recorded)
	}
	if !configured {
		e.Config = recorded.Config
	}
	return e, err
}

// findRecorded finds a plugin without a command in its record. If the version that
// the worker was started with was removed, another one has to know it.
func (ps *Plugins) findRecorded(name string, recorded *registry.Plugin) (catalog.Entry, error) {
	if recorded.Version != "" {
		e, err := ps.opts.Catalog.FindVersion(name, recorded.Version)
		if _, removed := errors.AsType[*catalog.VersionError](err); !removed {
			return e, err
		}
	}
	return ps.opts.Catalog.Find(name)
}

// isMissing reports whether an error says that there is no program.
func isMissing(err error) bool {
	_, missing := errors.AsType[*catalog.MissingError](err)
	_, unknown := errors.AsType[*catalog.NotFoundError](err)
	return missing || unknown
}

// RecordedPlugin returns the settings of a plugin that a record keeps.
func RecordedPlugin(e catalog.Entry) *registry.Plugin {
	if !e.Configured && len(e.Config) == 0 && e.SHA256 == "" && !e.MTLS && e.Version == "" {
		return nil
	}
	p := &registry.Plugin{Version: e.Version, SHA256: e.SHA256, MTLS: e.MTLS, Config: e.Config, Source: e.Source}
	if e.Configured {
		p.Command = e.Command
	}
	return p
}
