package profile

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

// None is the name that turns profiles off for a worker.
const None = "none"

//go:embed profiles/*.toml
var embedded embed.FS

type source struct {
	name    string
	match   *recognition
	profile func() *Profile
}

// builtin returns the embedded profiles. Tests parse them all.
var builtin = sync.OnceValue(func() []source {
	entries, err := embedded.ReadDir("profiles")
	if err != nil {
		panic(err)
	}
	var all []source
	for _, e := range entries {
		text, err := embedded.ReadFile("profiles/" + e.Name())
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(e.Name(), ".toml")
		all = append(all, source{name: name, match: matchOf(string(text)), profile: sync.OnceValue(func() *Profile {
			p, err := parse(e.Name(), name, string(text), nil)
			if err != nil {
				panic(err)
			}
			return p
		})})
	}
	return all
})

// matchOf parses the table [match] of an embedded profile. Its values are JSON too, for
// which no decoder of a whole file has to be set up in each call.
func matchOf(text string) *recognition {
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
		if err := json.Unmarshal([]byte(value), fields[strings.TrimSpace(key)]); err != nil {
			panic(err)
		}
	}
	return m
}

// Set is the profiles of one user. A nil set holds none. It can be used by several
// goroutines.
type Set struct{ all []source }

// maxFile bounds the files of users.
const maxFile = 256 << 10

// Load returns the embedded profiles, overridden and extended by the files *.toml in dir,
// which need not exist; "" means no directory. A profile replaces the embedded one of its
// name. A file that breaks the owner rule, or has mistakes, is left out: the error names
// all of these, and the set has the others, so it is never nil.
func Load(dir string) (*Set, error) {
	s := &Set{all: slices.Clone(builtin())}
	if dir == "" {
		return s, nil
	}
	entries, err := safefile.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var problems []error
	for _, e := range entries { // sorted by name
		name, isProfile := strings.CutSuffix(e.Name(), ".toml")
		if !isProfile {
			continue
		}
		if err := s.add(filepath.Join(dir, e.Name()), name); err != nil {
			problems = append(problems, err)
		}
	}
	return s, errors.Join(problems...)
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
	if err != nil {
		return err
	}
	if p.Name() == None {
		return problem{file: path, key: "name", text: "\"none\" means no profile; choose another name"}
	}
	p.Source = path
	added := source{name: p.Name(), match: &p.file.Match, profile: func() *Profile { return p }}
	if i := slices.IndexFunc(s.all, func(old source) bool { return old.name == added.name }); i >= 0 {
		s.all[i] = added
	} else {
		// Profiles of the user come first.
		s.all = slices.Insert(s.all, 0, added)
	}
	return nil
}

// All returns the profiles, sorted by name.
func (s *Set) All() []*Profile {
	if s == nil {
		return nil
	}
	all := make([]*Profile, len(s.all))
	for i, src := range s.all {
		all[i] = src.profile()
	}
	slices.SortFunc(all, func(a, b *Profile) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// Named returns the profile with a name, or nil.
func (s *Set) Named(name string) *Profile {
	if s == nil {
		return nil
	}
	for _, src := range s.all {
		if src.name == name {
			return src.profile()
		}
	}
	return nil
}
