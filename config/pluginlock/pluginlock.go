// Package pluginlock reads and writes the file of a project that says exactly which plugins it uses.
package pluginlock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/safefile"
)

// FileName is the name of the file next to a project's swarm.toml that says which plugins
// exactly the project uses.
const FileName = "swarm.lock"

// maxSize is how large the file may be, in bytes.
const maxSize = 1 << 20

// header is the beginning of every FileName.
const header = "# Which plugins this project uses, exactly. 'swarm plugin lock' writes this file.\n"

// Lock is the content of a [FileName].
type Lock struct {
	// Format counts changes that older readers can't bear; it is 1.
	Format  int      `toml:"format"`
	Plugins []Plugin `toml:"plugin"`
}

// Plugin is one plugin of a project.
type Plugin struct {
	Name string `toml:"name"`
	// Version is that of an installed plugin; empty: the plugin is a program of the project.
	Version string `toml:"version,omitempty"`
	// Origin is where the plugin was installed from, without the version; empty: from a file or a
	// URL.
	Origin string `toml:"origin,omitempty"`
	// SignedBy is the public key of minisign of its archives; empty: they are not signed.
	SignedBy string  `toml:"signed_by,omitempty"`
	Builds   []Build `toml:"build"`
}

// Build is what runs on one kind of machine.
type Build struct {
	// OS and Arch are Go's names for them, or "all".
	OS   string `toml:"os"`
	Arch string `toml:"arch"`
	// Source is the path or the URL of the installed file, and SHA256 its hash in hex; empty for a
	// program of the project.
	Source string `toml:"source,omitempty"`
	SHA256 string `toml:"sha256,omitempty"`
	// Files are all files, the program first. The path of a program of the project is relative to
	// the file.
	Files []File `toml:"file"`
}

// File is a file that runs.
type File struct {
	Path   string `toml:"path"`
	SHA256 string `toml:"sha256"`
}

// Path returns the path of the lock next to a project's file.
func Path(project string) string { return filepath.Join(filepath.Dir(project), FileName) }

// Read reads the file next to a project's file; nil if it does not exist.
func Read(project string) (*Lock, error) {
	text, err := ReadText(project)
	if text == nil || err != nil {
		return nil, err
	}
	return Parse(text)
}

// ReadText returns the content of the file next to a project's file; nil if it does not exist.
func ReadText(project string) ([]byte, error) {
	text, err := safefile.ReadForeign(Path(project), maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return append([]byte{}, text...), err
}

// Parse reads the content of a [FileName].
func Parse(text []byte) (*Lock, error) {
	l := &Lock{}
	if _, err := toml.Decode(string(text), l); err != nil {
		return nil, fmt.Errorf("%w; 'swarm plugin lock' writes the file again", err)
	}
	if l.Format != 1 {
		return nil, fmt.Errorf("format %d, this swarm reads format 1: update swarm", l.Format)
	}
	return l, nil
}

// Text returns the content of the file.
func (l *Lock) Text() ([]byte, error) {
	b := bytes.NewBufferString(header)
	e := toml.NewEncoder(b)
	e.Indent = ""
	err := e.Encode(l)
	return b.Bytes(), err
}

// Write writes the file next to a project's file, and returns its path.
func (l *Lock) Write(project string) (path string, err error) {
	path = Path(project)
	text, err := l.Text()
	if err != nil {
		return "", err
	}
	return path, safefile.Replace(path, text, 0o644)
}

// Plugin returns the entry of a plugin, or nil. A nil lock has none.
func (l *Lock) Plugin(name string) *Plugin {
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
func (p *Plugin) Build(os, arch string) *Build {
	var found *Build
	for i := range p.Builds {
		b := &p.Builds[i]
		if (b.OS == os || b.OS == "all") && (b.Arch == arch || b.Arch == "all") && (found == nil || b.OS == os && b.Arch == arch) {
			found = b
		}
	}
	return found
}

// Hash returns the SHA-256 hash of a file, in hex.
func Hash(path string) (string, error) {
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
