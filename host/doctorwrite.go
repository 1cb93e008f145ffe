package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// beforehand looks at the place where the state directory will be.
func (d *doctor) beforehand(dir string) {
	const subject = "state directory"
	at := filepath.Dir(dir)
	for at != filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		at = filepath.Dir(at)
	}
	if err := tryMake(at); err != nil {
		d.find(SeverityError, subject, "make "+at+" writable, or set SWARM_DIR to another directory",
			"%s does not exist, and can't be made: %v", dir, err)
		return
	}
	d.find(SeverityOK, subject, "", "%s does not exist yet", dir)
}

// tryWrite writes a file into a directory and removes it: only the file system knows
// whether that works, a quota or a read-only mount is in no mode.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	_, err = f.WriteString("written by swarm doctor\n")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// tryMake makes a directory in another one and removes it.
func tryMake(dir string) error {
	made, err := os.MkdirTemp(dir, ".swarm-doctor-")
	if err != nil {
		return err
	}
	return os.Remove(made)
}
