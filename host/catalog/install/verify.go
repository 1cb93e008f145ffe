package install

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/errtext"
)

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
	added, err := extra(i)
	if err != nil {
		wrong = append(wrong, errtext.Cause(err).Error())
	}
	for _, path := range added {
		wrong = append(wrong, path+" was not installed")
	}
	return wrong
}

// extra returns the files that were not installed. Python puts compiled files beside its
// sources.
func extra(i *catalog.Installed) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(i.Dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "__pycache__":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(i.Dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		known := rel == catalog.ManifestFile || slices.ContainsFunc(i.Files, func(f catalog.File) bool { return f.Path == rel })
		if !known {
			paths = append(paths, rel)
		}
		return nil
	})
	return paths, err
}
