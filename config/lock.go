package config

import (
	"errors"
	"maps"
	"path/filepath"

	"github.com/swarmhost/swarm/config/pluginlock"
)

// ErrUntrustedLock says that the user does not trust the lock as it is now.
var ErrUntrustedLock = errors.New("it names programs to run, and is not trusted as it is now: " + adviceTrust)

// ApplyLock reads the lock of a trusted project, and makes its versions those of plugins whose version no
// file picks. A worker or a pull that changes the lock would choose programs, so it has to be trusted like the
// project's file: trusted is that of [Options]. Errors: [ErrUntrustedLock].
func (l *Loaded) ApplyLock(trusted func(path string, content []byte) bool) error {
	if l.trusted == "" {
		return nil
	}
	text, err := pluginlock.ReadText(l.trusted)
	if text == nil || err != nil {
		return err
	}
	lock, err := pluginlock.Parse(text)
	if err != nil {
		return err
	}
	if !trusted(pluginlock.Path(l.trusted), text) {
		return ErrUntrustedLock
	}
	l.lock = lock
	for _, locked := range l.lock.Plugins {
		p := l.Config.Plugins[locked.Name]
		if !validPlugin(locked.Name) || locked.Version == "" || p.Version != "" || p.Command != nil {
			continue
		}
		if l.unlocked == nil {
			l.unlocked = map[string]Plugin{}
			maps.Copy(l.unlocked, l.Config.Plugins)
		}
		p.Version, p.Source = locked.Version, l.trusted
		if l.Config.Plugins == nil {
			l.Config.Plugins = map[string]Plugin{}
		}
		l.Config.Plugins[locked.Name] = p
	}
	return nil
}

// Lock returns the lock of the trusted project; nil if there is none.
func (l *Loaded) Lock() *pluginlock.Lock { return l.lock }

// Unlocked returns the settings of plugins as they are without the lock.
func (l *Loaded) Unlocked() map[string]Plugin {
	if l.unlocked == nil {
		return l.Config.Plugins
	}
	return l.unlocked
}

// TrustedProject returns the path of the project's file if that is trusted, else "".
func (l *Loaded) TrustedProject() string { return l.trusted }

// ProjectPlugins returns the names of the plugins that the trusted file of the project sets or uses,
// sorted.
func (l *Loaded) ProjectPlugins() []string {
	if l.trusted == "" {
		return nil
	}
	names := map[string]bool{}
	for name, p := range l.Unlocked() {
		if p.Source == l.trusted {
			names[name] = true
		}
	}
	if l.Decides("defaults.backend") {
		names[l.Config.Defaults.Backend] = true
	}
	if l.Decides("defaults.workspace") {
		names[l.Config.Defaults.Workspace] = true
	}
	for _, w := range l.Config.Workers {
		if w.Backend != "" {
			names[w.Backend] = true
		}
		if w.Workspace.Use && w.Workspace.Plugin != "" {
			names[w.Workspace.Plugin] = true
		}
	}
	return sortedKeys(names)
}

// TrustedVersions returns the versions of plugins that trusted files of projects and their locks name, by the
// names of the plugins. A file that is gone or was changed since names none.
func TrustedVersions(t Trust) (map[string][]string, error) {
	entries, err := t.entries()
	if err != nil {
		return nil, err
	}
	versions := map[string][]string{}
	for _, path := range sortedKeys(entries) {
		if filepath.Base(path) != ProjectFile {
			continue
		}
		// A problem of such a file is not one of this call: its valid settings count.
		loaded, _ := Load(Options{Project: path, Trusted: t.Has})
		for name, p := range loaded.Config.Plugins {
			if p.Version != "" {
				versions[name] = append(versions[name], p.Version)
			}
		}
		lock, err := pluginlock.Read(path)
		if err != nil || lock == nil {
			continue
		}
		for _, p := range lock.Plugins {
			if p.Version != "" {
				versions[p.Name] = append(versions[p.Name], p.Version)
			}
		}
	}
	return versions, nil
}
