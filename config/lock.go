package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/safefile"
)

// LockFile is the name of the file next to a project's [ProjectFile] that says which plugins
// exactly the project uses.
const LockFile = "swarm.lock"

// lockHeader is the beginning of every LockFile.
const lockHeader = "# Which plugins this project uses, exactly. 'swarm plugin lock' writes this file.\n"

// Lock is the content of a [LockFile].
type Lock struct {
	// Format counts changes that older readers can't bear; it is 1.
	Format  int            `toml:"format"`
	Plugins []LockedPlugin `toml:"plugin"`
}

// LockedPlugin is one plugin of a project.
type LockedPlugin struct {
	Name string `toml:"name"`
	// Version is that of an installed plugin; empty: the plugin is a program of the project.
	Version string `toml:"version,omitempty"`
	// Origin is where the plugin was installed from, without the version; empty: from a file or a
	// URL.
	Origin string `toml:"origin,omitempty"`
	// SignedBy is the public key of minisign of its archives; empty: they are not signed.
	SignedBy string        `toml:"signed_by,omitempty"`
	Builds   []LockedBuild `toml:"build"`
}

// LockedBuild is what runs on one kind of machine.
type LockedBuild struct {
	// OS and Arch are Go's names for them, or "all".
	OS   string `toml:"os"`
	Arch string `toml:"arch"`
	// Source is the path or the URL of the installed file, and SHA256 its hash in hex; empty for a
	// program of the project.
	Source string `toml:"source,omitempty"`
	SHA256 string `toml:"sha256,omitempty"`
	// Files are all files, the program first. The path of a program of the project is relative to
	// the file.
	Files []LockedFile `toml:"file"`
}

// LockedFile is a file that runs.
type LockedFile struct {
	Path   string `toml:"path"`
	SHA256 string `toml:"sha256"`
}

// LockPath returns the path of the lock next to a project's file.
func LockPath(project string) string { return filepath.Join(filepath.Dir(project), LockFile) }

// ReadLock reads the file next to a project's file; nil if there is none.
func ReadLock(project string) (*Lock, error) {
	path := LockPath(project)
	text, err := safefile.ReadForeign(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &Lock{}
	if _, err := toml.Decode(string(text), l); err != nil {
		return nil, fmt.Errorf("%w; 'swarm plugin lock' writes the file again", err)
	}
	if l.Format != 1 {
		return nil, fmt.Errorf("format %d, this swarm reads format 1: update swarm", l.Format)
	}
	return l, nil
}

// Write writes the file next to a project's file, and returns its path.
func (l *Lock) Write(project string) (path string, err error) {
	path = LockPath(project)
	b := bytes.NewBufferString(lockHeader)
	e := toml.NewEncoder(b)
	e.Indent = ""
	if err := e.Encode(l); err != nil {
		return "", err
	}
	return path, safefile.Replace(path, b.Bytes(), 0o644)
}

// Plugin returns the entry of a plugin, or nil. A nil lock has none.
func (l *Lock) Plugin(name string) *LockedPlugin {
	if l == nil {
		return nil
	}
	for i := range l.Plugins {
		if l.Plugins[i].Name == name {
			return &l.Plugins[i]
		}
	}
	return nil
}

// Build returns what runs on such a machine, or nil.
func (p *LockedPlugin) Build(os, arch string) *LockedBuild {
	var found *LockedBuild
	for i := range p.Builds {
		b := &p.Builds[i]
		if (b.OS == os || b.OS == "all") && (b.Arch == arch || b.Arch == "all") && (found == nil || b.OS == os && b.Arch == arch) {
			found = b
		}
	}
	return found
}

// ApplyLock reads the lock of a trusted project, and makes its versions those of plugins whose version no
// file picks.
func (l *Loaded) ApplyLock() error {
	if l.trusted == "" {
		return nil
	}
	var err error
	if l.lock, err = ReadLock(l.trusted); err != nil || l.lock == nil {
		return err
	}
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
func (l *Loaded) Lock() *Lock { return l.lock }

// Unlocked returns the settings of plugins as they are without the lock.
func (l *Loaded) Unlocked() map[string]Plugin {
	if l.unlocked == nil {
		return l.Config.Plugins
	}
	return l.unlocked
}

// HashFile returns the SHA-256 hash of a file, in hex.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
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
	for _, w := range l.Config.Workers {
		if w.Backend != "" {
			names[w.Backend] = true
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
		lock, err := ReadLock(path)
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
