package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/host/catalog"
)

// pinFile remembers in the state directory the hashes that were computed: that
// of a plugin takes longer than its start.
const pinFile = "plugin-hashes.json"

// pinned is the hash of a file and what would tell that the file was changed.
// The time of the last change of the inode can't be set back as mtime can.
type pinned struct {
	SHA256  string `json:"sha256"`
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Mtime   int64  `json:"mtime_ns"`
	Changed int64  `json:"ctime_ns"`
}

// checkPin compares the hash of the executable with the one in the config.
func (s *Set) checkPin(e catalog.Entry) error {
	if e.SHA256 == "" {
		return nil
	}
	path, err := filepath.EvalSymlinks(e.Path())
	if err != nil {
		return &ExecError{named{e.Name}, e.Path(), cause(err)}
	}
	got, err := s.hash(path)
	if err != nil {
		return &ExecError{named{e.Name}, path, cause(err)}
	}
	if !strings.EqualFold(got, e.SHA256) {
		return &PinError{named{e.Name}, path, strings.ToLower(e.SHA256), got}
	}
	return nil
}

// checkInstalled compares the files of an installed plugin with what they were
// when it was installed. A file that was not there then is not looked at.
func (s *Set) checkInstalled(e catalog.Entry) error {
	if e.Installed == nil {
		return nil
	}
	for _, f := range e.Installed.Files {
		path := e.Installed.Path(f)
		got, err := s.hash(path)
		if errors.Is(err, fs.ErrNotExist) {
			got, err = "", nil
		}
		if err != nil {
			return &ExecError{named{e.Name}, path, cause(err)}
		}
		if got != f.SHA256 {
			return &ChangedError{named{e.Name}, path, e.Installed.Version, f.SHA256, got}
		}
	}
	return nil
}

// hash returns the hash of a file, remembered if the file is the same as then.
func (s *Set) hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	now, err := look(f)
	if err != nil {
		return "", err
	}
	s.pins.Lock()
	defer s.pins.Unlock()
	known := s.readPins()
	if was, ok := known[path]; ok {
		now.SHA256 = was.SHA256
		if now == was {
			return was.SHA256, nil
		}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	now.SHA256 = hex.EncodeToString(sum.Sum(nil))
	known[path] = now
	if err := s.writePins(known); err != nil {
		// The only harm is that the next start takes longer.
		s.opts.Logger.Debug("cannot remember the hash of a plugin", "error", err)
	}
	return now.SHA256, nil
}

func look(f *os.File) (pinned, error) {
	info, err := f.Stat()
	if err != nil {
		return pinned{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return pinned{}, fmt.Errorf("stat %s: no inode", f.Name())
	}
	return pinned{
		Device: uint64(st.Dev), Inode: st.Ino, Size: info.Size(), //nolint:unconvert // other types on darwin
		Mtime: info.ModTime().UnixNano(), Changed: changed(st),
	}, nil
}

// readPins returns what is remembered; what can't be read counts as forgotten.
func (s *Set) readPins() map[string]pinned {
	known := map[string]pinned{}
	if text, err := os.ReadFile(filepath.Join(s.opts.Dir, pinFile)); err != nil || json.Unmarshal(text, &known) != nil {
		return map[string]pinned{}
	}
	return known
}

// writePins replaces the file as a whole. Of two hosts that write at the same
// time one is forgotten, which costs it one more look.
func (s *Set) writePins(known map[string]pinned) error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.opts.Dir, pinFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.opts.Dir, pinFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
