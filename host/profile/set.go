package profile

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host/profile/bundle"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

// None is the name that turns profiles off for a worker.
const None = "none"

//go:embed profiles
var embedded embed.FS

// Dirs are the places of profiles, apart from the built-in ones.
type Dirs struct {
	// Own is the directory of the user's own profiles; empty: none.
	Own string
	// Bundle is the path of the installed bundle, whether or not it exists; empty: none.
	Bundle string
}

// source is a profile that is parsed when it is first used. Most calls need at
// most one of the profiles in a bundle.
type source struct {
	name    string
	match   *recognition
	profile func() *Profile
}

// BuiltIn returns the built-in bundle, which must not be changed.
var BuiltIn = sync.OnceValue(func() *bundle.Bundle {
	fsys, err := fs.Sub(embedded, "profiles")
	if err != nil {
		panic(err)
	}
	b, err := bundle.FromFS(fsys)
	if err != nil {
		panic(err) // tests read it
	}
	return b
})

// BuiltInVersion returns the version of the built-in bundle.
var BuiltInVersion = sync.OnceValue(func() string {
	text, err := embedded.ReadFile("profiles/" + bundle.ManifestFile)
	if err != nil {
		panic(err)
	}
	version, err := bundle.VersionIn(string(text))
	if err != nil {
		panic(err)
	}
	return version
})

// builtin returns the built-in profiles. Tests parse them all. The recorded screens, which most
// calls do not need, are left alone.
var builtin = sync.OnceValue(func() []source {
	files, _ := fs.Glob(embedded, "profiles/*.toml") // the pattern is valid
	texts := map[string]string{}
	for _, file := range files {
		text, err := embedded.ReadFile(file)
		if err != nil {
			panic(err)
		}
		if name := strings.TrimSuffix(filepath.Base(file), ".toml"); file != "profiles/"+bundle.ManifestFile {
			texts[name] = string(text)
		}
	}
	all, err := sources(texts, func(p *Profile) { p.bundle = BuiltInVersion }, func(string) *Profile { return nil })
	if err != nil {
		panic(err)
	}
	return all
})

// sources returns the profiles of a bundle, sorted by name. One that can't be parsed later is
// taken from instead; [Check] finds that before a bundle is installed.
func sources(texts map[string]string, mark func(*Profile), instead func(name string) *Profile) (all []source, err error) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		text := texts[name]
		match, err := matchOf(text)
		if err != nil {
			return nil, problem{file: name + ".toml", key: "match", text: err.Error()}
		}
		all = append(all, source{name: name, match: match, profile: sync.OnceValue(func() *Profile {
			p, err := parse(name+".toml", name, text, nil)
			if err != nil || p.Name() != name {
				return instead(name)
			}
			mark(p)
			return p
		})})
	}
	return all, nil
}

// matchOf parses the table [match] of a profile in a bundle. Its values are JSON too, for which no
// decoder of a whole file has to be set up in each call.
func matchOf(text string) (*recognition, error) {
	_, table, _ := strings.Cut(text, "\n[match]\n")
	table, _, _ = strings.Cut(table, "\n[")
	m := &recognition{}
	fields := map[string]any{"programs": &m.Programs, "packages": &m.Packages, "paths": &m.Paths, "bare": &m.Bare}
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		field := fields[strings.TrimSpace(key)]
		if field == nil || json.Unmarshal([]byte(value), field) != nil {
			return nil, fmt.Errorf("in a bundle, expected each value on one line, as in programs = [\"claude\"], got %q", strings.TrimSpace(line))
		}
	}
	return m, nil
}

// Set is the profiles of one user. A nil set holds none. It can be used by several
// goroutines.
type Set struct {
	all       []source
	dirs      Dirs
	bundle    *bundle.Bundle // the installed one without its screens, if it counts
	installed *Installed
}

// Installed is what is known of the installed bundle.
type Installed struct {
	Path string
	// Version is empty if the bundle can't be read.
	Version string
	Origin  bundle.Origin
	// Ignored is the reason why the built-in profiles count in its place; empty: it counts.
	Ignored string
}

func (s *Set) Installed() *Installed { return s.installed }

// maxFile bounds the files of users.
const maxFile = 256 << 10

// Load returns the built-in profiles with those in a directory of the user, see [Dirs.Load].
func Load(own string) (*Set, error) { return Dirs{Own: own}.Load() }

// Load returns the built-in profiles, then those of the installed bundle, then the user's own:
// the files *.toml in a directory, which need not exist. Each of them replaces the ones before
// of its name. A bundle that is older than the built-in one is ignored, see [Set.Installed].
// A file that breaks the owner rule, or has mistakes, is left out: the error names all of these,
// and the set has the others, so it is never nil.
func (d Dirs) Load() (*Set, error) {
	s := &Set{all: slices.Clone(builtin()), dirs: d}
	return s, errors.Join(s.addInstalled(d.Bundle), s.addOwn(d.Own))
}

// Loader loads profiles once, when they are first needed. It may be used by several goroutines.
type Loader struct{ load func() (*Set, error) }

// NewLoader returns a loader of the profiles in these directories.
func NewLoader(d Dirs) *Loader { return &Loader{sync.OnceValues(d.Load)} }

// Load is [Dirs.Load] at its first call. Each later call returns the same.
func (l *Loader) Load() (*Set, error) { return l.load() }

func (s *Set) addInstalled(path string) error {
	if path == "" {
		return nil
	}
	b, origin, err := bundle.ReadInstalled(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.installed = &Installed{Path: path, Origin: origin}
	if err != nil {
		s.installed.Ignored = err.Error()
		return err
	}
	s.installed.Version = b.Version
	if here := BuiltInVersion(); bundle.Compare(b.Version, here) <= 0 && origin.Over != here {
		s.installed.Ignored = "it is not newer than the built-in profiles " + here
		return nil
	}
	if err := s.overlay(b, true); err != nil {
		s.installed.Ignored = err.Error()
		return fmt.Errorf("%s: %w", path, err)
	}
	s.bundle = b
	return nil
}

// overlay adds the profiles of a bundle. Each replaces the one of its name.
func (s *Set) overlay(b *bundle.Bundle, installed bool) error {
	before := &Set{all: slices.Clone(s.all)}
	mark := func(p *Profile) { p.bundle, p.Installed = func() string { return b.Version }, installed }
	added, err := sources(b.Profiles, mark, before.Named)
	if err != nil {
		return err
	}
	for _, src := range added {
		if i := s.index(src.name); i >= 0 {
			s.all[i] = src
		} else {
			s.all = append(s.all, src)
		}
	}
	return nil
}

func (s *Set) addOwn(dir string) error {
	if dir == "" {
		return nil
	}
	entries, err := safefile.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var problems []error
	for _, e := range entries { // sorted by name
		name, isProfile := strings.CutSuffix(e.Name(), ".toml")
		if !isProfile || e.Name() == bundle.ManifestFile {
			continue
		}
		if err := s.add(filepath.Join(dir, e.Name()), name); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func (s *Set) add(path, name string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := trust.Path(absolute); err != nil {
		return problem{file: path, text: "cannot be trusted: " + err.Error()}
	}
	text, err := safefile.Read(path, maxFile)
	if err != nil {
		return err // it names the file
	}
	p, err := parse(path, name, string(text), s.Named)
	if p == nil {
		return err
	}
	if p.Name() == None {
		return problem{file: path, key: "name", text: "\"none\" means no profile; choose another name"}
	}
	p.Source = path
	added := source{name: p.Name(), match: &p.file.Match, profile: func() *Profile { return p }}
	if i := s.index(added.name); i >= 0 {
		s.all[i] = added
	} else {
		// Profiles of the user come first.
		s.all = slices.Insert(s.all, 0, added)
	}
	return err
}

func (s *Set) index(name string) int {
	return slices.IndexFunc(s.all, func(src source) bool { return src.name == name })
}

// All returns the profiles, sorted by name.
func (s *Set) All() (all []*Profile) {
	if s == nil {
		return nil
	}
	for _, src := range s.all {
		if p := src.profile(); p != nil {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Profile) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// Named returns the profile with a name, or nil.
func (s *Set) Named(name string) *Profile {
	if s == nil {
		return nil
	}
	if i := s.index(name); i >= 0 {
		return s.all[i].profile()
	}
	return nil
}
