// Package locked compares swarm.lock with the plugins of the project, and writes it.
package locked

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/host/catalog"
)

// Missing is a locked plugin that is not installed.
type Missing struct {
	*pluginlock.Plugin
	Build *pluginlock.Build
}

// State is how the plugins of a project differ from its lock.
type State struct {
	Missing []Missing
	// Problems are all other differences, one line each.
	Problems []string
	// installed are the locked versions that are installed.
	installed []*catalog.Installed
}

// Check compares the lock of a project with what is installed and what is in the project. Without a lock
// nothing differs.
func Check(a *app.App, l *config.Loaded) (State, error) {
	var s State
	lock := l.Lock()
	if lock == nil {
		return s, nil
	}
	known, err := a.Setup().Catalog(l.Config.Plugins)
	if err != nil {
		return s, err
	}
	for i := range lock.Plugins {
		s.compare(known, l, &lock.Plugins[i])
	}
	for _, name := range l.ProjectPlugins() {
		if lock.Plugin(name) != nil {
			continue
		}
		// A plugin that can't be found is reported when it is used.
		if _, ok, _ := current(known, l, name); ok {
			s.Problems = append(s.Problems, fmt.Sprintf("plugin '%s' is not in %s", name, pluginlock.FileName))
		}
	}
	return s, nil
}

func (s *State) compare(known *catalog.Catalog, l *config.Loaded, p *pluginlock.Plugin) {
	problem := func(format string, args ...any) {
		s.Problems = append(s.Problems, fmt.Sprintf("plugin '%s': ", p.Name)+fmt.Sprintf(format, args...))
	}
	b := p.Build(runtime.GOOS, runtime.GOARCH)
	if b == nil {
		problem("%s has nothing for %s/%s: run 'swarm plugin lock' on such a machine", pluginlock.FileName, runtime.GOOS, runtime.GOARCH)
		return
	}
	set := l.Config.Plugins[p.Name]
	if p.Version == "" {
		for _, f := range b.Files {
			switch hash, err := pluginlock.Hash(filepath.Join(filepath.Dir(l.TrustedProject()), filepath.FromSlash(f.Path))); {
			case !filepath.IsLocal(f.Path):
				problem("the path %q in %s leads out of the project", f.Path, pluginlock.FileName)
			case errors.Is(err, fs.ErrNotExist):
				problem("%s does not exist", f.Path)
			case err != nil:
				problem("%s", setup.Message(err))
			case hash != f.SHA256:
				problem("%s has the sha256 %s, %s expects %s", f.Path, hash, pluginlock.FileName, f.SHA256)
			}
		}
		return
	}
	if set.Command != nil {
		problem("a config file names the program %s in the place of version %s", set.Command[0], p.Version)
		return
	}
	if v := catalog.CleanVersion(set.Version); v != p.Version {
		problem("a config file picks version %s, %s has %s", v, pluginlock.FileName, p.Version)
		return
	}
	i, err := known.Installed(p.Name, p.Version)
	if _, missing := errors.AsType[*catalog.VersionError](err); missing {
		s.Missing = append(s.Missing, Missing{Plugin: p, Build: b})
		return
	}
	if err != nil {
		problem("%s", setup.Message(err))
		return
	}
	if !slices.Equal(filesOf(i), b.Files) {
		problem("the installed version %s has other files than %s says: it was built from another source, or %s was changed",
			p.Version, pluginlock.FileName, pluginlock.FileName)
	}
	s.installed = append(s.installed, i)
}

// readFiles returns an error if a file of an installed plugin of the lock was changed: of a set of workers none is
// started if one could not be.
func (s State) readFiles() error {
	for _, i := range s.installed {
		for _, f := range i.Files {
			if hash, err := pluginlock.Hash(i.Path(f)); err != nil || hash != f.SHA256 {
				return fmt.Errorf("plugin '%s': %s was changed after version %s was installed: install it again with --force",
					i.Name, i.Path(f), i.Version)
			}
		}
	}
	return nil
}

// filesOf returns the files of an installed plugin, the program first and the others by path.
func filesOf(i *catalog.Installed) []pluginlock.File {
	files := output.List(i.Files, func(f catalog.File) pluginlock.File { return pluginlock.File{Path: f.Path, SHA256: f.SHA256} })
	slices.SortFunc(files[1:], func(a, b pluginlock.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// current returns the entry of a plugin of the project for a lock, as the plugin is now. ok is false for a
// plugin that comes with swarm, or that is neither installed nor a program of the project.
func current(known *catalog.Catalog, l *config.Loaded, name string) (p pluginlock.Plugin, ok bool, err error) {
	e, err := known.Find(name)
	if err != nil {
		return p, false, err
	}
	p.Name = name
	switch {
	case e.Installed != nil:
		i := e.Installed
		p.Version, p.Origin, p.SignedBy = i.Version, i.Origin, i.SignedBy
		p.Builds = []pluginlock.Build{{OS: i.OS, Arch: i.Arch, Source: i.Source, SHA256: i.SourceSHA256, Files: filesOf(i)}}
		return p, true, nil
	case e.InProject(e.Path()):
		b := pluginlock.Build{OS: catalog.Anywhere, Arch: catalog.Anywhere}
		for _, part := range e.Command {
			if !e.InProject(part) {
				continue
			}
			hash, err := pluginlock.Hash(part)
			if err != nil {
				return p, false, err
			}
			rel, err := filepath.Rel(filepath.Dir(l.TrustedProject()), part)
			if err != nil {
				return p, false, err
			}
			b.Files = append(b.Files, pluginlock.File{Path: filepath.ToSlash(rel), SHA256: hash})
		}
		p.Builds = []pluginlock.Build{b}
		return p, true, nil
	}
	return p, false, nil
}

// Make returns the lock of the project's plugins as they are now. Entries of the previous lock for
// the same versions on other machines stay.
func Make(a *app.App, l *config.Loaded) (*pluginlock.Lock, error) {
	known, err := a.Setup().Catalog(l.Unlocked())
	if err != nil {
		return nil, err
	}
	lock := &pluginlock.Lock{Format: 1}
	for _, name := range l.ProjectPlugins() {
		p, ok, err := current(known, l, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if old := l.Lock().Plugin(name); old != nil && old.Version == p.Version && p.Version != "" {
			for _, b := range old.Builds {
				if b.OS != p.Builds[0].OS || b.Arch != p.Builds[0].Arch {
					p.Builds = append(p.Builds, b)
				}
			}
		}
		lock.Plugins = append(lock.Plugins, p)
	}
	return lock, nil
}
