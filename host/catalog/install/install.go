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
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safefile"
)

// ErrExists says that another plugin of that name and version is installed.
var ErrExists = errors.New("is already installed with different contents")

type Request struct {
	// Dir is the state directory.
	Dir string
	// Path is an executable swarm-plugin-NAME or an archive
	// swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz.
	Path string
	// SHA256 is the required hash, in hex; if it is empty, that of a [SumsFile] next to it,
	// if there is one.
	SHA256 string
	// Version is the version that the plugin must report; empty: that of an archive, or any.
	Version string
	// Force says to replace an installed plugin of that version.
	Force bool
	// Provenance is where the file was downloaded from; empty: Path is its source.
	catalog.Provenance
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

// Install installs a plugin. Errors: [ErrExists], those of package catalog, and those of
// Ask.
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
	staging, remove, err := f.stagingDir()
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
		if err := result.checkFree(); err != nil && !r.Force {
			return nil, err
		}
	case err == nil && same && len(Verify(result.Installed)) == 0:
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
	m := &catalog.Manifest{Format: 1, Name: src.name, Provenance: r.Provenance, Installed: time.Now().UTC().Truncate(time.Second)}
	if m.Source == "" {
		m.Source = src.path
	}
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
			return nil, "", fmt.Errorf("%s: %w", src.path, err)
		}
	}
	if m.Files, err = list(tree, catalog.Program(src.name)); err != nil {
		return nil, "", err
	}
	program := filepath.Join(tree, catalog.Program(src.name))
	if m.OS, m.Arch, err = platform(program); err != nil {
		return nil, "", fmt.Errorf("%s: %w", src.path, err)
	}
	if err := catalog.CheckPlatform(src.path, m.OS, m.Arch); err != nil {
		return nil, "", err
	}
	about, err := r.Ask(ctx, catalog.Entry{Name: src.name, Command: []string{program}})
	if err != nil {
		return nil, "", err
	}
	if src.version == "" {
		src.version = catalog.CleanVersion(r.Version)
	}
	return m, tree, take(m, src, about)
}

// list returns the files in a directory, first the one that is named.
func list(dir, first string) ([]catalog.File, error) {
	paths, err := walk(dir, "")
	if err != nil {
		return nil, err
	}
	var files []catalog.File
	for _, path := range paths {
		f := catalog.File{Path: path}
		if f.SHA256, f.Size, err = hash(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
			return nil, err
		}
		at := len(files)
		if path == first {
			at = 0
		}
		files = slices.Insert(files, at, f)
	}
	return files, nil
}

// walk returns the paths of the files below dir, relative to it and with slashes, but not
// those in directories of the name skip.
func walk(dir, skip string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == skip:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		paths = append(paths, filepath.ToSlash(rel))
		return err
	})
	return paths, err
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
	err = safefile.Replace(filepath.Join(dir, catalog.ManifestFile), append(text, '\n'), 0o600)
	return errors.Join(err, syncDir(dir))
}

// take records a plugin's description of itself, if it agrees with the name of its file.
func take(m *catalog.Manifest, src source, about About) error {
	version := catalog.CleanVersion(about.Version)
	mismatch := func(want, got string) error {
		return fmt.Errorf("%s: expected %s, the plugin reports %q", src.path, want, got)
	}
	switch {
	case about.Name != src.name:
		return mismatch(fmt.Sprintf("the name %q", src.name), about.Name)
	case about.Kind == "":
		return mismatch("the kind backend, workspace, tools or notifier", "a kind that this swarm does not know")
	case src.version != "" && version != src.version:
		return mismatch(fmt.Sprintf("the version %q", src.version), about.Version)
	case !catalog.ValidVersion(version):
		return mismatch(`a version such as "1.2.0"`, about.Version)
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

// checkFree refuses to put a version in the place of files that no installation made: they would be lost.
func (r *Result) checkFree() error {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s holds files that no installation made: move them away, or replace them with --force", r.Dir)
}

// Verify reads all files of an installed plugin and returns a line for each difference from
// the installation.
func Verify(i *catalog.Installed) []string {
	var wrong []string
	for _, f := range i.Files {
		sum, _, err := hash(i.Path(f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			wrong = append(wrong, f.Path+" is missing")
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s: %v", f.Path, errtext.Cause(err)))
		case sum != f.SHA256:
			wrong = append(wrong, fmt.Sprintf("%s was changed: its sha256 was %s, now it is %s", f.Path, f.SHA256, sum))
		}
	}
	paths, err := walk(i.Dir, "__pycache__") // Python puts compiled files next to its sources
	if err != nil {
		wrong = append(wrong, errtext.Cause(err).Error())
	}
	for _, path := range paths {
		known := path == catalog.ManifestFile || slices.ContainsFunc(i.Files, func(f catalog.File) bool { return f.Path == path })
		if !known {
			wrong = append(wrong, path+" was not installed")
		}
	}
	return wrong
}
