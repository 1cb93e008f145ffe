package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
)

// The programs of the far side, in one directory.
const (
	Program = "swarm-remote"
	Shim    = "swarm-shim"
)

// Programs are the names of all of them.
var Programs = []string{Program, Shim}

// seen distinguishes a file from a changed one without reading it.
type seen struct {
	Size   int64  `json:"size"`
	Inode  uint64 `json:"inode"`
	Change int64  `json:"change_ns"`
	Sum    string `json:"sum,omitempty"`
}

// look returns what is seen of a regular file. If the file has not changed since known was noted,
// its hash is taken from there.
func look(path string, known seen) (seen, error) {
	info, err := os.Stat(path)
	if err != nil {
		return seen{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return seen{}, fmt.Errorf("%s is not a regular file", path)
	}
	now := seen{Size: info.Size(), Inode: st.Ino, Change: changed(st), Sum: known.Sum}
	if now == known && known.Sum != "" {
		return now, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return seen{}, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	now.Sum = hex.EncodeToString(h.Sum(nil))
	return now, err
}

// Hash returns the hash of the programs in a directory. It does not read programs that have not
// changed since they were noted in the file notes, where key returns the name of a program. If
// the notes are out of date, fresh is the new content of that file.
func Hash(dir, notes string, key func(name string) string) (hash string, fresh []byte, err error) {
	var known map[string]seen
	if data, err := safefile.Read(notes, 1<<16); err == nil {
		_ = json.Unmarshal(data, &known) // else they are hashed
	}
	now := make(map[string]seen)
	all, changed := sha256.New(), false
	for _, name := range Programs {
		s, err := look(filepath.Join(dir, name), known[key(name)])
		if err != nil {
			return "", nil, err
		}
		changed = changed || known[key(name)] != s
		now[key(name)] = s
		fmt.Fprintln(all, s.Sum)
	}
	if changed {
		fresh, err = json.Marshal(now)
	}
	return hex.EncodeToString(all.Sum(nil)[:16]), fresh, err
}

// notesFile is the file next to the programs that holds what was seen of them when they were
// hashed last.
const notesFile = "seen.json"

// Verify returns the hash of the programs in a directory. They are read only if they have
// changed since the last time.
func Verify(dir string) (string, error) {
	notes := filepath.Join(dir, notesFile)
	hash, fresh, err := Hash(dir, notes, func(name string) string { return name })
	if fresh != nil {
		_ = safefile.ReplaceCache(notes, fresh) // else they are hashed again
	}
	return hash, err
}

// pruneAfter is the age from which on a directory of programs that were not copied whole is removed.
// No copy takes that long.
const pruneAfter = time.Hour

func prune(from string) {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(from), "new.*")) // a directory of another name keeps them
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && path != from && time.Since(info.ModTime()) > pruneAfter {
			_ = os.RemoveAll(path) // the next one tries again
		}
	}
}

// Install gives the programs in a directory their final place next to it, under the name of
// their hash, which has to be the expected one.
func Install(from, want string) error {
	got, err := Verify(from)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("what arrived is not what was sent: the hash is %s, not %s", got, want)
	}
	prune(from)
	to := filepath.Join(filepath.Dir(from), want)
	if there, err := Verify(to); err == nil && there == want {
		return nil
	}
	// The one that is there may be in use, so it is moved away before it is removed.
	away := from + ".old"
	if err := os.Rename(to, away); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	err = os.Rename(from, to)
	_ = os.RemoveAll(away)
	if there, verr := Verify(to); verr == nil && there == want {
		return nil // another connection may have been quicker
	}
	return err
}
