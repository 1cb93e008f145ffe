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
	"github.com/swarmhost/swarm/shared/safefile"
)

// pinFile remembers in the state directory the hashes that were computed: that
// of a plugin takes longer than its start.
const pinFile = "plugin-hashes.json"

// maxPins is the largest pinFile, in bytes.
const maxPins = 16 << 20

// pinned is the hash of a file, with the facts that show a change of the file. Unlike
// mtime, the time of the last change of the inode can't be set back.
type pinned struct {
	SHA256  string `json:"sha256"`
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Size    int64  `json:"size"`
	Mtime   int64  `json:"mtime_ns"`
	Changed int64  `json:"ctime_ns"`
}

// verify compares the files of a plugin with the hash in the config and with the
// installation. It returns the open program, so that exactly this file is run; nil for a
// plugin without a known hash.
func (s *Set) verify(e catalog.Entry) (_ *program, err error) {
	if e.SHA256 == "" && e.Installed == nil {
		return nil, nil
	}
	var f *os.File
	var known pinned
	path, err := filepath.EvalSymlinks(e.Path())
	if err == nil {
		f, known, err = s.hashed(path)
	}
	if err != nil {
		if missing := s.checkInstalled(e, ""); missing != nil && errors.Is(err, fs.ErrNotExist) {
			return nil, missing
		}
		return nil, execError(e.Name, e.Path(), err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if e.SHA256 != "" && !strings.EqualFold(known.SHA256, e.SHA256) {
		return nil, &PinError{e.Name, path, strings.ToLower(e.SHA256), known.SHA256}
	}
	if err := s.checkInstalled(e, known.SHA256); err != nil {
		return nil, err
	}
	return &program{file: f, path: path, known: known}, nil
}

// checkInstalled compares the files of an installed plugin with its manifest; program is
// the hash of the first one, empty if it is missing. It ignores files that were not
// installed.
func (s *Set) checkInstalled(e catalog.Entry, program string) error {
	if e.Installed == nil {
		return nil
	}
	for i, f := range e.Installed.Files {
		path, got := e.Installed.Path(f), program
		if i > 0 {
			file, known, err := s.hashed(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return execError(e.Name, path, err)
			}
			if err == nil {
				_ = file.Close()
			}
			got = known.SHA256
		}
		if got != f.SHA256 {
			return &ChangedError{e.Name, path, e.Installed.Version, f.SHA256, got}
		}
	}
	return nil
}

// hashed opens a file and returns its hash, remembered if the file is unchanged
// since.
func (s *Set) hashed(path string) (_ *os.File, now pinned, err error) {
	f, err := safefile.Open(path, 0)
	if err != nil {
		return nil, pinned{}, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if now, err = look(f); err != nil {
		return nil, pinned{}, err
	}
	s.pins.Lock()
	defer s.pins.Unlock()
	known := s.readPins()
	if was, ok := known[path]; ok {
		now.SHA256 = was.SHA256
		if now == was {
			return f, now, nil
		}
	}
	if now.SHA256, err = sum(f); err != nil {
		return nil, pinned{}, err
	}
	known[path] = now
	if err := s.writePins(known); err != nil {
		// The only harm is that the next start takes longer.
		s.opts.Logger.Debug("cannot remember the hash of a plugin", "error", err)
	}
	return f, now, nil
}

// sum returns the SHA-256 hash of what r has, in hex.
func sum(r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), err
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

func (s *Set) readPins() map[string]pinned {
	known := map[string]pinned{}
	if text, err := safefile.Read(filepath.Join(s.opts.Dir, pinFile), maxPins); err != nil || json.Unmarshal(text, &known) != nil {
		return map[string]pinned{}
	}
	return known
}

// writePins replaces the file as a whole. If two hosts write at the same time, one write is
// lost, which costs one more hash.
func (s *Set) writePins(known map[string]pinned) error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return safefile.ReplaceCache(filepath.Join(s.opts.Dir, pinFile), append(text, '\n'))
}
