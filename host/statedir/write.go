package statedir

import (
	"errors"
	"io/fs"
	"os"

	"github.com/swarmhost/swarm/shared/safefile"
)

// WriteFile makes a file whole or not at all.
func WriteFile(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := writeDurably(tmp, data); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return nil
}

// writeDurably makes a file whose content is on the disk: renamed before that, it
// could be empty after a crash of the machine. Its name may be lost with the machine,
// as that of the last status may: that costs no wait for the directory.
func writeDurably(path string, data []byte) error {
	f, err := safefile.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
