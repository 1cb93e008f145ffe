// Package dirid gives directories ids, in a file of each, which distinguish them where their
// paths are the same: on several machines, or before and after something else was mounted
// there.
//
// Plugins import it.
package dirid

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/swarmhost/swarm/shared/safefile"
)

var valid = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// Read returns the id in a file, "" if the file does not exist.
func Read(path string) (string, error) {
	data, err := safefile.Read(path, 64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !valid.Match(data):
		return "", fmt.Errorf("%s is damaged: remove it", path)
	}
	return string(data), nil
}

// Ensure returns the id in a file, which it makes if it does not exist; the directory has to
// exist. The id is on the disk then. If it is called several times at once, all calls return the
// same id.
func Ensure(path string) (string, error) {
	id, err := Read(path)
	if id != "" || err != nil {
		return id, err
	}
	dir := filepath.Dir(path)
	made, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(made.Name()) }()
	_, err = made.WriteString(rand.Text())
	if err = errors.Join(err, made.Sync(), made.Close()); err != nil {
		return "", err
	}
	if err := os.Link(made.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	// After a crash of the machine the id must be the same: others have noted it.
	if err := safefile.SyncDir(dir); err != nil {
		return "", err
	}
	return Read(path)
}
