package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

// Folder holds, in the state directory, the plugins that were installed, each in
// NAME/VERSION, with a [ManifestFile] next to its files.
const Folder = "plugins"

// ManifestFile describes, in the folder of a version, the installed files.
const ManifestFile = "swarm-manifest.json"

// maxManifest bounds the size of a manifest. One of the 10,000 files that an
// archive may have takes about 2 MiB.
const maxManifest = 64 << 20

// Manifest describes a plugin at the time of its installation.
type Manifest struct {
	// Format counts changes of this file that older readers can't bear; it is 1.
	Format  int    `json:"format"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// Kind is what it implements, Contract the version of the contract that it
	// was built with.
	Kind     string `json:"kind"`
	Contract int    `json:"contract"`
	// OS and Arch are Go's names for them, or [Anywhere] for a file that does not depend on
	// the machine, such as a script.
	OS   string `json:"os"`
	Arch string `json:"arch"`
	// Files are all files, the plugin itself first.
	Files []File `json:"files"`
	// Installed is the time of the installation, and SourceSHA256 the hash of its source.
	Installed    time.Time `json:"installed"`
	SourceSHA256 string    `json:"source_sha256"`
	Provenance
}

// Provenance is where an installed plugin comes from.
type Provenance struct {
	// Source is the path or the URL of the file.
	Source string `json:"source"`
	// Origin is what its user named without the version, such as "github.com/OWNER/REPO" or
	// "INDEX/NAME": where newer versions are looked for; empty: nowhere.
	Origin string `json:"origin,omitempty"`
	// SignedBy is the public key of minisign that its signature was verified with; empty: none was.
	SignedBy string `json:"signed_by,omitempty"`
}

// Anywhere takes the place of an operating system or an architecture of what runs
// on all of them.
const Anywhere = "all"

// CheckPlatform refuses what was built for another kind of machine, see [Manifest].
func CheckPlatform(what, os, arch string) error {
	if (os == runtime.GOOS || os == Anywhere) && (arch == runtime.GOARCH || arch == Anywhere) {
		return nil
	}
	return fmt.Errorf("%s is built for %s/%s; this machine is %s/%s", what, os, arch, runtime.GOOS, runtime.GOARCH)
}

type File struct {
	// Path is relative to the folder of the version, with slashes.
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Installed is a version of a plugin that is in the state directory.
type Installed struct {
	Manifest
	// Dir is its folder.
	Dir string
}

func (i *Installed) Path(f File) string { return filepath.Join(i.Dir, filepath.FromSlash(f.Path)) }

// Program is the name of the executable of a plugin.
func Program(name string) string { return Prefix + name }

// Versions returns the versions of a plugin that are installed, the newest first,
// the damaged ones too.
func (c *Catalog) Versions(name string) []string {
	if c.opts.Dir == "" || !ValidName(name) {
		return nil
	}
	// The folder does not exist before the first installation.
	dir := filepath.Join(c.opts.Dir, Folder, name)
	entries, _ := safefile.ReadDir(dir)
	var versions []string
	for _, e := range entries {
		if ValidVersion(e.Name()) && isVersion(filepath.Join(dir, e.Name()), name) {
			versions = append(versions, e.Name())
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return CompareVersions(b, a) })
	return versions
}

// isVersion reports whether dir has what only a version has: users have folders of
// their own among the plugins.
func isVersion(dir, name string) bool {
	return slices.ContainsFunc([]string{ManifestFile, Program(name)}, func(file string) bool {
		_, err := os.Lstat(filepath.Join(dir, file))
		return err == nil
	})
}

// InstalledNames returns the names of all plugins that are installed, sorted.
func (c *Catalog) InstalledNames() []string {
	if c.opts.Dir == "" {
		return nil
	}
	entries, _ := safefile.ReadDir(filepath.Join(c.opts.Dir, Folder))
	var names []string
	for _, e := range entries {
		if ValidName(e.Name()) && len(c.Versions(e.Name())) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}

// Installed returns an installed version of a plugin. It checks owners and permissions, but
// not the contents of the files. Errors: [VersionError], [UnsafeError], [LinkError].
func (c *Catalog) Installed(name, version string) (*Installed, error) {
	version = CleanVersion(version)
	versions := c.Versions(name)
	if !slices.Contains(versions, version) {
		return nil, &VersionError{Name: name, Version: version, Installed: versions}
	}
	i := &Installed{Dir: filepath.Join(c.opts.Dir, Folder, name, version)}
	program := filepath.Join(i.Dir, Program(name))
	if err := CheckFolder(c.opts.Dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{filepath.Dir(i.Dir), i.Dir} {
		if err := private(program, dir); err != nil {
			return nil, err
		}
	}
	damaged := func(err error) error {
		return fmt.Errorf("plugin '%s' %s is damaged: %w; install it again with --force, or remove it", name, version, err)
	}
	text, err := safefile.Read(filepath.Join(i.Dir, ManifestFile), maxManifest)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", filepath.Base(path.Path), path.Err)
	}
	if err != nil {
		return nil, damaged(err)
	}
	if err = json.Unmarshal(text, &i.Manifest); err == nil {
		err = i.check(name, version)
	}
	if err != nil {
		return nil, damaged(fmt.Errorf("%s: %w", ManifestFile, err))
	}
	if err := CheckPlatform(fmt.Sprintf("plugin '%s' %s", name, version), i.OS, i.Arch); err != nil {
		return nil, err
	}
	for _, path := range i.paths() {
		if err := private(program, path); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// paths returns the paths of all files and of the directories below Dir that they
// are in.
func (i *Installed) paths() []string {
	var paths []string
	seen := map[string]bool{i.Dir: true}
	for _, f := range i.Files {
		// A local path never leads above Dir, so the walk up ends there.
		for path := i.Path(f); !seen[path]; path = filepath.Dir(path) {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}

func (m *Manifest) check(name, version string) error {
	switch {
	case m.Format != 1:
		return fmt.Errorf("format %d, this swarm reads format 1: update swarm", m.Format)
	case m.Name != name || m.Version != version:
		return fmt.Errorf("it is of '%s' %s", m.Name, m.Version)
	case len(m.Files) == 0 || m.Files[0].Path != Program(name):
		return fmt.Errorf("its first file is not %s", Program(name))
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("the path %q escapes the folder", f.Path)
		}
	}
	return nil
}

// CheckFolder refuses a state directory in which others may install plugins, and a
// folder of plugins that is somewhere else. Errors: [UnsafeError], [LinkError].
func CheckFolder(state string) error {
	folder := filepath.Join(state, Folder)
	if broken, ok := trust.As(trust.Dir(state)); ok {
		return &UnsafeError{Path: folder, Rule: broken}
	}
	return private(folder, folder)
}

// private refuses a file that breaks the owner rule itself, and a link in its place: all
// installed files are in one folder. A missing file is reported by its reader.
func private(program, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &LinkError{Path: program, Link: path}
	}
	if broken, ok := trust.As(trust.Info(path, info)); ok {
		return &UnsafeError{Path: program, Rule: broken}
	}
	return nil
}
