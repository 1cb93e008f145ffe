package install

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/swarmhost/swarm/host/catalog"
)

// take notes what a plugin says of itself, if that is what its file says.
func take(m *catalog.Manifest, src source, about About) error {
	version := catalog.CleanVersion(about.Version)
	switch {
	case about.Kind == "":
		return &MismatchError{Path: src.path, What: "the kind", Want: "backend or workspace", Got: "one that this swarm does not know"}
	case about.Name != src.name:
		return &MismatchError{Path: src.path, What: "the name", Want: fmt.Sprintf("%q", src.name), Got: about.Name}
	case src.archive && version != src.version:
		return &MismatchError{Path: src.path, What: "the version", Want: fmt.Sprintf("%q", src.version), Got: about.Version}
	case !catalog.ValidVersion(version):
		return &MismatchError{Path: src.path, What: "a version", Want: `such as "1.2.0"`, Got: about.Version}
	}
	m.Version, m.Kind, m.Contract = version, about.Kind, about.Contract
	return nil
}

// compare reports whether the same is installed already. If nothing is, the error
// is a [fs.ErrNotExist].
func compare(state string, m *catalog.Manifest) (same bool, err error) {
	c := catalog.New(catalog.Options{Dir: state})
	if !slices.Contains(c.Versions(m.Name), m.Version) {
		return false, fs.ErrNotExist
	}
	there, err := c.Installed(m.Name, m.Version)
	if err != nil {
		return false, err
	}
	return slices.Equal(there.Files, m.Files), nil
}

// intact reports whether no file has changed since the installation.
func intact(i *catalog.Installed) bool { return len(Verify(i)) == 0 }
