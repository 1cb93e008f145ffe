package index

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/signature"
)

// File is the name of an index in its repository or directory.
const File = "index.json"

// maxIndex bounds the size of an index, in bytes.
const maxIndex = 16 << 20

// Index is the content of index.json.
type Index struct {
	// Format counts changes that older readers can't bear; it is 1.
	Format int `json:"format"`
	// Key is the public key of minisign for all plugins without one of their own; empty: they are
	// not signed.
	Key     signature.Key `json:"key,omitzero"`
	Plugins []Plugin      `json:"plugins"`
}

// Plugin is one plugin of an index.
type Plugin struct {
	Name string `json:"name"`
	// Kind is that of the manifest, such as "backend".
	Kind        string `json:"kind"`
	Description string `json:"description,omitempty"`
	// Key takes the place of that of the index.
	Key      signature.Key `json:"key,omitzero"`
	Versions []Version     `json:"versions"`
}

// Version is one version of a plugin, with a file for each kind of machine.
type Version struct {
	Version string  `json:"version"`
	Files   []Build `json:"files"`
}

// Build is a file to install.
type Build struct {
	// OS and Arch are Go's names for them, or [catalog.Anywhere].
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// URL is that of the file, or relative to the index.
	URL string `json:"url"`
	// SHA256 is its hash, in hex.
	SHA256 string `json:"sha256"`
	// Signature is the content of its .minisig file; empty: it is not signed.
	Signature string `json:"signature,omitempty"`
}

// Parse reads index.json. Unknown keys are ignored, a wrong value is an error that names its place.
func Parse(text []byte) (*Index, error) {
	i := &Index{}
	if err := json.Unmarshal(text, i); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	if i.Format != 1 {
		return nil, fmt.Errorf("%s: format %d, this swarm reads format 1: update swarm", File, i.Format)
	}
	for n, p := range i.Plugins {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: plugins[%d] %q: %w", File, n, p.Name, err)
		}
		if slices.ContainsFunc(i.Plugins[:n], func(other Plugin) bool { return other.Name == p.Name }) {
			return nil, fmt.Errorf("%s: plugins[%d]: %q is there twice", File, n, p.Name)
		}
	}
	return i, nil
}

func (p Plugin) check() error {
	if !catalog.ValidName(p.Name) {
		return errors.New("name: expected lower-case letters, digits and hyphens")
	}
	for n, v := range p.Versions {
		if !catalog.ValidVersion(v.Version) {
			return fmt.Errorf("versions[%d]: version: expected one such as 1.2.0, got %q", n, v.Version)
		}
		for m, b := range v.Files {
			if err := b.check(); err != nil {
				return fmt.Errorf("versions[%d] %q: files[%d]: %w", n, v.Version, m, err)
			}
		}
	}
	return nil
}

func (b Build) check() error {
	switch hash, err := hex.DecodeString(b.SHA256); {
	case b.OS == "" || b.Arch == "":
		return fmt.Errorf("expected os and arch, such as linux and amd64, or %q", catalog.Anywhere)
	case err != nil || len(hash) != 32:
		return errors.New("sha256: expected 64 hexadecimal digits")
	case len(b.Signature) > signature.MaxSize:
		return fmt.Errorf("signature: larger than %d bytes", signature.MaxSize)
	case b.relative():
		return nil
	}
	_, err := download.CheckAddress(b.URL)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

// relative reports whether URL is a path below that of the index.
func (b Build) relative() bool {
	u, err := url.Parse(b.URL)
	return err == nil && !u.IsAbs() && u.Host == "" && u.Path != "" && u.Path == b.URL && !path.IsAbs(u.Path) &&
		!slices.Contains(strings.Split(u.Path, "/"), "..")
}

// Here returns the build for this machine; nil if there is none.
func (v Version) Here() *Build {
	var found *Build
	for n := range v.Files {
		b := &v.Files[n]
		if catalog.CheckPlatform("", b.OS, b.Arch) == nil && (found == nil || b.OS == runtime.GOOS && b.Arch == runtime.GOARCH) {
			found = b
		}
	}
	return found
}

// Newest returns the newest release that has a build for this machine; nil if there is none. With a
// version it is that version, pre-release or not.
func (p Plugin) Newest(version string) *Version {
	var found *Version
	for n := range p.Versions {
		v := &p.Versions[n]
		switch {
		case v.Here() == nil:
		case version != "":
			if catalog.CleanVersion(v.Version) == catalog.CleanVersion(version) {
				return v
			}
		case !catalog.IsPrerelease(v.Version) && (found == nil || catalog.CompareVersions(catalog.CleanVersion(v.Version), catalog.CleanVersion(found.Version)) > 0):
			found = v
		}
	}
	return found
}
