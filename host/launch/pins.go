package launch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/safefile"
)

// pinFile remembers in the state directory the hashes that were computed: that
// of a plugin takes longer than its start.
const pinFile = "plugin-hashes.json"

// maxPins is the largest pinFile, in bytes.
const maxPins = 16 << 20

// pinned is the hash of a file, with the facts that show a change of the file. Unlike
// mtime, the time of the last change of the inode can't be set back. An installed version has
// one more, by the path of its folder, for all its files together: so the size of pinFile does
// not depend on how many there are.
type pinned struct {
	// SHA256 is the hash of the file, or of the hashes in the manifest of a version.
	SHA256  string `json:"sha256"`
	Device  uint64 `json:"device,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Mtime   int64  `json:"mtime_ns,omitempty"`
	Changed int64  `json:"ctime_ns,omitempty"`
	// Facts is a hash of the facts about all files of a version.
	Facts string `json:"facts,omitempty"`
}

// knownPins returns what is remembered, by path. The file is read once, and written again
// without the entries that are useless by now. s.pins is held.
func (s *Set) knownPins() map[string]pinned {
	if s.known != nil {
		return s.known
	}
	s.known = readPins(s.opts.Dir)
	if prunePins(s.known) {
		s.writePins()
	}
	return s.known
}

// remember adds an entry. Entries that other hosts have written meanwhile are kept.
func (s *Set) remember(path string, p pinned) {
	s.pins.Lock()
	defer s.pins.Unlock()
	s.known = readPins(s.opts.Dir)
	s.known[path] = p
	prunePins(s.known)
	s.writePins()
}

// writePins writes s.known. s.pins is held.
func (s *Set) writePins() {
	if err := writePins(s.opts.Dir, s.known); err != nil {
		// The only harm is that the next start takes longer.
		s.opts.Logger.Debug("cannot remember the hash of a plugin", "error", err)
	}
}

// ForgetRemoved removes from the remembered hashes of a state directory those of plugins that are
// gone.
func ForgetRemoved(dir string) error {
	known := readPins(dir)
	if !prunePins(known) {
		return nil
	}
	return writePins(dir, known)
}

func readPins(dir string) map[string]pinned {
	known := map[string]pinned{}
	if text, err := safefile.Read(filepath.Join(dir, pinFile), maxPins); err != nil || json.Unmarshal(text, &known) != nil || known == nil {
		return map[string]pinned{}
	}
	return known
}

// writePins replaces the file as a whole. If two hosts write at the same time, one write is
// lost, which costs one more hash.
func writePins(dir string, known map[string]pinned) error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return safefile.ReplaceCache(filepath.Join(dir, pinFile), append(text, '\n'))
}

// prunePins drops the entries of files and folders that are gone. It reports whether there
// were some.
func prunePins(known map[string]pinned) (pruned bool) {
	for path := range known {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			delete(known, path)
			pruned = true
		}
	}
	return pruned
}
