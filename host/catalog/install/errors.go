package install

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrExists says that another plugin of that name and version is installed.
var ErrExists = errors.New("is already installed with different contents")

// HashError says that a file has another hash than required.
type HashError struct {
	Path string
	// Want and Got are SHA-256 hashes in hex. Without Want, Where has no hash.
	Want, Got string
	// Where names the source of Want: "--sha256", or the path of a list.
	Where string
}

func (e *HashError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("%s does not list %s: get the list that belongs to it, or give --sha256", e.Where, filepath.Base(e.Path))
	}
	return fmt.Sprintf("the sha256 of %s is %s, expected %s (%s)", e.Path, e.Got, e.Want, e.Where)
}

// ArchiveError says why an archive can't be unpacked.
type ArchiveError struct {
	Path string
	Err  error
}

func (e *ArchiveError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns why.
func (e *ArchiveError) Unwrap() error { return e.Err }

// MismatchError says that a plugin's description differs from the name of its file.
type MismatchError struct {
	Path string
	// The name of the different part, such as "the name".
	What string
	// Want is the expected value, Got that of the plugin.
	Want, Got string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: expected %s %s, the plugin reports %q", e.Path, e.What, e.Want, e.Got)
}
