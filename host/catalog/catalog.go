package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/safefile"
)

// Prefix is the beginning of the file name of every plugin that has a program of its own.
const Prefix = programs.Prefix

// Options are the places to search.
type Options struct {
	// Dir is the state directory.
	Dir string
	// Executable is the path of swarm itself; if it is empty, its directory is not
	// searched.
	Executable string
	// Env is the caller's environment, for its PATH.
	Env []string
	// Plugins are the config entries by name.
	Plugins map[string]Config
}

// Config are the settings of one plugin.
type Config struct {
	// Command starts the plugin; if it is empty, the plugin is searched for by name. A
	// program without a slash is searched for in PATH.
	Command []string
	// Version is the installed version to use; empty: the newest release.
	Version string
	// SHA256 is the hash that the executable must have, in hex; empty: any.
	SHA256 string
	// MTLS says to encrypt the connection.
	MTLS bool
	// SpawnTimeout is how long a Spawn or a Create may take; 0: the host's own limit.
	SpawnTimeout time.Duration
	// Tools turns on the tools that the plugin offers.
	Tools bool
	// Config is the plugin's own table; nil: none.
	Config map[string]any
	// Source is the config file that sets it: the user's own, which all commands read, or that of
	// a project.
	Source string
}

// Entry is one plugin and how to start it. It can be stored and used again
// without a catalog.
type Entry struct {
	// Name is what users call it.
	Name string
	// Command is its argv. Command[0] is an absolute path.
	Command []string
	// SHA256, MTLS, Config and Source come from its [Config].
	SHA256 string
	MTLS   bool
	Config map[string]any
	Source string
	// Configured says that Command comes from a config entry.
	Configured bool
	// Version is the requested installed version, or empty.
	Version string
	// Installed describes an installed plugin; nil for any other.
	Installed *Installed
}

// InProject reports whether a part of Command is a file of the project whose config file names the
// plugin: a program that comes with a repository, and changes with it.
func (e Entry) InProject(part string) bool { return e.Configured && InProject(e.Source, part) }

// InProject reports whether path is below the directory of a project's config file.
func InProject(source, path string) bool {
	return filepath.IsAbs(source) && strings.HasPrefix(filepath.Clean(path), strings.TrimSuffix(filepath.Dir(source), "/")+"/")
}

func (e Entry) Path() string {
	if len(e.Command) == 0 {
		return ""
	}
	return e.Command[0]
}

// Catalog finds plugins by name.
type Catalog struct {
	opts Options
}

// New returns a catalog. It reads no file.
func New(o Options) *Catalog { return &Catalog{opts: o} }

// ValidName reports whether name can be a plugin's: lower-case letters, digits
// and hyphens, not beginning with a hyphen.
func ValidName(name string) bool {
	if name == "" || len(name) > 64 || name[0] == '-' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// Configured returns the settings of a plugin, and whether a config file has some.
func (c *Catalog) Configured(name string) (Config, bool) {
	conf, ok := c.opts.Plugins[name]
	return conf, ok
}

// WithTools returns the names of the plugins whose tools the config turns on, sorted.
func (c *Catalog) WithTools() (names []string) {
	for name, conf := range c.opts.Plugins {
		if conf.Tools && ValidName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Find returns the plugin of that name. Errors: [NotFoundError], [PrereleaseError], [UnsafeError],
// [MissingError], and those of [Catalog.Installed].
func (c *Catalog) Find(name string) (Entry, error) {
	return c.findWith(name, c.opts.Plugins[name])
}

// FindVersion is like Find, for an installed version, whatever place the config names.
func (c *Catalog) FindVersion(name, version string) (Entry, error) {
	conf := c.opts.Plugins[name]
	conf.Command, conf.Version = nil, version
	return c.findWith(name, conf)
}

func (c *Catalog) findWith(name string, conf Config) (Entry, error) {
	if !ValidName(name) {
		return Entry{}, &NotFoundError{Name: name, Known: c.Names()}
	}
	e, err := c.find(name, conf)
	if err != nil {
		return e, err
	}
	if e.Command == nil {
		return Entry{}, &NotFoundError{Name: name, Known: c.Names(), Looked: append(c.own(), "PATH")}
	}
	return e, e.Check()
}

// Found is a plugin of a list.
type Found struct {
	Entry Entry
	// Err is why it can't be used, as from [Catalog.Find]; nil if it can.
	Err error
}

// List returns all plugins, sorted by name.
func (c *Catalog) List() []Found {
	var list []Found
	for _, name := range c.Names() {
		e, err := c.Find(name)
		e.Name = name
		list = append(list, Found{Entry: e, Err: err})
	}
	return list
}

// Names returns the names of all plugins, sorted.
func (c *Catalog) Names() []string {
	var names []string
	for name, conf := range c.opts.Plugins {
		if len(conf.Command) > 0 && ValidName(name) {
			names = append(names, name)
		}
	}
	for _, dir := range c.dirs() {
		// A directory of PATH that can't be read holds no plugins for this user.
		files, _ := safefile.ReadDir(dir)
		for _, f := range files {
			name, ok := strings.CutPrefix(f.Name(), Prefix)
			if ok && ValidName(name) && isExecutable(filepath.Join(dir, f.Name())) {
				names = append(names, name)
			}
		}
	}
	for _, program := range []string{programs.Plugins, programs.Engines} {
		for _, name := range programs.In(program) {
			if _, ok := c.together(name); ok {
				names = append(names, name)
			}
		}
	}
	names = append(names, c.InstalledNames()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// find searches for a plugin; an entry without a command was not found.
func (c *Catalog) find(name string, conf Config) (Entry, error) {
	e := Entry{Name: name, SHA256: conf.SHA256, MTLS: conf.MTLS, Config: conf.Config, Source: conf.Source}
	if len(conf.Command) > 0 {
		e.Command, e.Configured = slices.Clone(conf.Command), true
		if !strings.ContainsRune(e.Command[0], filepath.Separator) {
			if path, ok := lookup(c.path(), e.Command[0]); ok {
				e.Command[0] = path
			}
		}
		return e, nil
	}
	if conf.Version != "" {
		e.Version = CleanVersion(conf.Version)
		return c.installedEntry(e, e.Version)
	}
	if path, ok := lookup(c.installed(), Program(name)); ok && isExecutable(path) {
		e.Command = []string{path}
		return e, nil
	}
	if path, ok := c.together(name); ok {
		e.Command = []string{path, name}
		return e, nil
	}
	versions := c.Versions(name)
	if release := defaultVersion(versions); release != "" {
		return c.installedEntry(e, release)
	}
	if path, ok := lookup(c.dirs(), Program(name)); ok {
		e.Command = []string{path}
		return e, nil
	}
	if len(versions) > 0 {
		return e, &PrereleaseError{Name: name, Versions: versions}
	}
	return e, nil
}

// together returns the program that holds the plugin among others, next to swarm. There may be no
// link with the plugin's name.
func (c *Catalog) together(name string) (path string, ok bool) {
	program := programs.Of(name)
	if program == "" {
		return "", false
	}
	path, ok = lookup(c.installed(), program)
	return path, ok && isExecutable(path)
}

func (c *Catalog) installedEntry(e Entry, version string) (Entry, error) {
	i, err := c.Installed(e.Name, version)
	if err != nil {
		return e, err
	}
	e.Command, e.Installed = []string{i.Path(i.Files[0])}, i
	return e, nil
}

// ProgramPath returns the path of a program that is installed with swarm: next to the
// executable or in ../libexec/swarm. Errors: [MissingError], [UnsafeError].
func (c *Catalog) ProgramPath(program string) (string, error) {
	path, ok := lookup(c.installed(), program)
	if !ok {
		return "", &MissingError{Path: program, Looked: c.installed()}
	}
	if err := check(path); err != nil {
		return "", err
	}
	return path, nil
}

func (c *Catalog) dirs() []string { return unique(append(c.own(), c.path()...)) }

func (c *Catalog) own() []string {
	dirs := c.installed()
	if c.opts.Dir != "" {
		dirs = append(dirs, filepath.Join(c.opts.Dir, Folder))
	}
	return dirs
}

func (c *Catalog) installed() []string {
	if c.opts.Executable == "" {
		return nil
	}
	dirs := []string{filepath.Dir(c.opts.Executable)}
	if real, err := filepath.EvalSymlinks(c.opts.Executable); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range slices.Clone(dirs) {
		dirs = append(dirs, filepath.Join(filepath.Dir(dir), "libexec", "swarm"))
	}
	return unique(dirs)
}

// path are the absolute directories of PATH.
func (c *Catalog) path() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(environ.Get(c.opts.Env, "PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// lookup returns the first executable of that name, or else the first file, so that an
// error can say what it lacks.
func lookup(dirs []string, name string) (path string, ok bool) {
	for _, dir := range dirs {
		candidate := filepath.Join(dir, name)
		info, err := os.Stat(candidate)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case info.Mode()&0o111 != 0:
			return candidate, true
		case path == "":
			path = candidate
		}
	}
	return path, path != ""
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
