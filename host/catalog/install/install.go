package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
)

// Request is the request of [Install].
type Request struct {
	// Dir is the state directory.
	Dir string
	// Path is an executable swarm-plugin-NAME or an archive
	// swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz.
	Path string
	// SHA256 is the required hash, in hex; if it is empty, that of a [SumsFile] beside it,
	// if there is one.
	SHA256 string
	// Force says to replace an installed plugin of that version.
	Force bool
	// Ask starts a plugin and returns its description of itself.
	Ask func(ctx context.Context, e catalog.Entry) (About, error)
}

// About is a plugin's description of itself.
type About struct {
	Name, Version string
	// Kind is empty if this swarm does not know it.
	Kind     string
	Contract int
}

// Result describes the installed plugin.
type Result struct {
	*catalog.Installed
	// Already says that it was installed before, and that nothing was changed.
	Already bool
	// Replaced says that it replaced a different plugin of that version.
	Replaced bool
}

// Install installs a plugin. Errors: those of this package and of package catalog,
// and those of Ask.
func Install(ctx context.Context, r Request) (_ *Result, err error) {
	path, err := filepath.Abs(r.Path)
	if err != nil {
		return nil, err
	}
	if err := catalog.CheckFile(path); err != nil {
		return nil, err
	}
	src, err := parse(path)
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, r.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	staging, remove, err := f.staging()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()

	m, tree, err := prepare(ctx, r, src, staging)
	if err != nil {
		return nil, err
	}
	result := &Result{Installed: &catalog.Installed{Manifest: *m, Dir: f.dir(m.Name, m.Version)}}
	switch same, err := compare(r.Dir, m); {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && same && intact(result.Installed):
		result.Already = true
		return result, nil
	case !r.Force:
		return nil, fmt.Errorf("plugin '%s' %s %w: --force replaces it", m.Name, m.Version, ErrExists)
	default:
		result.Replaced = true
	}
	if err := writeManifest(tree, m); err != nil {
		return nil, err
	}
	return result, f.put(tree, m.Name, m.Version, filepath.Join(staging, "old"))
}

func prepare(ctx context.Context, r Request, src source, staging string) (*catalog.Manifest, string, error) {
	m := &catalog.Manifest{Format: 1, Name: src.name, Source: src.path, Installed: time.Now().UTC().Truncate(time.Second)}
	tree := filepath.Join(staging, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		return nil, "", err
	}
	copied := filepath.Join(tree, catalog.Program(src.name))
	if src.archive {
		copied = filepath.Join(staging, "archive")
	}
	var err error
	if m.SourceSHA256, err = src.fetch(ctx, copied, r.SHA256); err != nil {
		return nil, "", err
	}
	if src.archive {
		if tree, err = unpack(ctx, copied, tree, src.name); err != nil {
			return nil, "", &ArchiveError{src.path, err}
		}
	}
	if m.Files, err = list(tree, catalog.Program(src.name)); err != nil {
		return nil, "", err
	}
	program := filepath.Join(tree, catalog.Program(src.name))
	if m.OS, m.Arch, err = platform(program); err != nil {
		return nil, "", fmt.Errorf("%s: %w", src.path, err)
	}
	if !catalog.RunsHere(m.OS, m.Arch) {
		return nil, "", &catalog.PlatformError{What: src.path, OS: m.OS, Arch: m.Arch}
	}
	about, err := r.Ask(ctx, catalog.Entry{Name: src.name, Command: []string{program}})
	if err != nil {
		return nil, "", err
	}
	return m, tree, take(m, src, about)
}

// list returns the files in a directory, first the one that is named.
func list(dir, first string) ([]catalog.File, error) {
	var files []catalog.File
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := catalog.File{Path: filepath.ToSlash(rel)}
		if f.SHA256, f.Size, err = hash(path); err != nil {
			return err
		}
		at := len(files)
		if f.Path == first {
			at = 0
		}
		files = slices.Insert(files, at, f)
		return nil
	})
	return files, err
}

func hash(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

func writeManifest(dir string, m *catalog.Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, catalog.ManifestFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close(), syncDir(dir))
}

// take records a plugin's description of itself, if it agrees with the name of its file.
func take(m *catalog.Manifest, src source, about About) error {
	version := catalog.CleanVersion(about.Version)
	switch {
	case about.Kind == "":
		return &MismatchError{Path: src.path, What: "the kind", Want: "backend or workspace", Got: "a kind that this swarm does not know"}
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

func intact(i *catalog.Installed) bool { return len(Verify(i)) == 0 }
