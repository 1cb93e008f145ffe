package bundle

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/tomlscan"
)

// Format is the format of bundles that this package reads and writes.
const Format = 1

// ManifestFile is the name of the file that makes a directory a bundle.
const ManifestFile = "bundle.toml"

// Screens is the name of the directory of recorded screens.
const Screens = "screens"

const (
	maxFile  = 256 << 10
	maxTotal = 32 << 20
	maxFiles = 5000
	// MaxArchive is the largest size of an archive.
	MaxArchive = 8 << 20
)

var (
	// ErrNone means that a directory or an archive has no file bundle.toml.
	ErrNone = errors.New("no file " + ManifestFile)
	// ErrNewer means that a bundle has a format that only a newer swarm reads.
	ErrNewer = errors.New("a newer swarm is needed")
)

type Bundle struct {
	// Version is a date and, if there are several of a day, a number: 2026.11.27.2.
	Version string
	// Profiles are the profiles as TOML, by the names of their files without ".toml".
	Profiles map[string]string
	// Screens are the recorded screens, by CLIENT/NAME.
	Screens map[string]string
}

var (
	versionForm = lazyregexp.New(`^20\d\d\.(?:0[1-9]|1[0-2])\.(?:0[1-9]|[12]\d|3[01])(?:\.[1-9]\d{0,3})?$`)
	profileName = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,31}$`)
	screenName  = lazyregexp.New(`^[a-z0-9][a-z0-9.-]{0,99}$`)
)

// Compare returns -1, 0 or 1 if the version a is older than b, the same, or newer.
func Compare(a, b string) int {
	return slices.Compare(numbers(a), numbers(b))
}

func numbers(version string) (all []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil // an invalid version is older than all others
		}
		all = append(all, n)
	}
	return all
}

// ScreenName reports whether a recorded screen may have this name.
func ScreenName(client, name string) bool {
	return profileName().MatchString(client) && screenName().MatchString(name)
}

// kind is what a file of a bundle holds.
type kind int

const (
	ignored kind = iota
	manifestKind
	profileKind
	screenKind
)

// kindOf returns what the file of a bundle holds; name is its path there. Other files, such as
// a README, are ignored; one that looks like a profile or a screen and has a wrong name is an
// error.
func kindOf(name string) (kind, error) {
	dir, base := path.Split(name)
	switch client, found := strings.CutPrefix(dir, Screens+"/"); {
	case name == ManifestFile:
		return manifestKind, nil
	case dir == "" && strings.HasSuffix(base, ".toml"):
		return profileKind, named(profileName(), name, strings.TrimSuffix(base, ".toml"))
	case found && strings.HasSuffix(base, ".txt"):
		if err := named(profileName(), name, strings.TrimSuffix(client, "/")); err != nil {
			return screenKind, err
		}
		return screenKind, named(screenName(), name, strings.TrimSuffix(base, ".txt"))
	default:
		return ignored, nil
	}
}

func named(form *regexp.Regexp, file, name string) error {
	if form.MatchString(name) {
		return nil
	}
	return fmt.Errorf("%q: expected lower-case letters, digits and dashes, got %q", file, name)
}

// FromFiles returns the bundle that files make, by their paths in it. Errors name where they are
// from.
func FromFiles(from string, files map[string][]byte) (*Bundle, error) {
	b := &Bundle{Profiles: map[string]string{}, Screens: map[string]string{}}
	text, ok := files[ManifestFile]
	if !ok {
		return nil, fmt.Errorf("%s: %w", from, ErrNone)
	}
	version, err := VersionIn(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", from, ManifestFile, err)
	}
	b.Version = version
	var problems []error
	for name, text := range files {
		kind, err := kindOf(name)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", from, err))
		case kind == ignored, kind == manifestKind:
		case !utf8.Valid(text):
			problems = append(problems, fmt.Errorf("%s: %q is not UTF-8", from, name))
		case kind == profileKind:
			b.Profiles[strings.TrimSuffix(name, ".toml")] = string(text)
		case kind == screenKind:
			b.Screens[strings.TrimSuffix(strings.TrimPrefix(name, Screens+"/"), ".txt")] = string(text)
		}
	}
	if len(problems) == 0 && len(b.Profiles) == 0 {
		problems = append(problems, fmt.Errorf("%s: no file NAME.toml with a profile", from))
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return b, errors.Join(problems...)
}

// manifest is the content of the file bundle.toml. Its unknown keys are ignored: a key that
// changes how a bundle is read comes with a new format.
type manifest struct {
	Format  int    `toml:"format"`
	Version string `toml:"version"`
}

// VersionIn returns the version in the text of the file bundle.toml.
func VersionIn(text string) (string, error) {
	if _, over := tomlscan.Keys(text); over != nil {
		return "", errors.New(over.Why)
	}
	var m manifest
	_, err := toml.Decode(text, &m)
	switch {
	case err != nil:
		return "", errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	case m.Format > Format:
		return "", fmt.Errorf("it has format %d, and this swarm reads format %d: %w", m.Format, Format, ErrNewer)
	case m.Format < 1:
		return "", fmt.Errorf("expected format = %d, got %d", Format, m.Format)
	case !versionForm().MatchString(m.Version):
		return "", fmt.Errorf("expected a version such as \"2026.11.27\" or \"2026.11.27.2\", got %q", m.Version)
	}
	return m.Version, nil
}

// files returns the files of the bundle, by their paths in it.
func (b *Bundle) files() map[string][]byte {
	files := map[string][]byte{ManifestFile: fmt.Appendf(nil, "format = %d\nversion = %q\n", Format, b.Version)}
	for name, text := range b.Profiles {
		files[name+".toml"] = []byte(text)
	}
	for name, text := range b.Screens {
		files[path.Join(Screens, name+".txt")] = []byte(text)
	}
	return files
}

// Equal reports whether two bundles have the same version and contents.
func (b *Bundle) Equal(other *Bundle) bool {
	return b.Version == other.Version && maps.Equal(b.Profiles, other.Profiles) && maps.Equal(b.Screens, other.Screens)
}
