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

// Sum is the hash of one program, as it is written in names.
func Sum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Together is the hash of several programs.
func Together(sums []string) string {
	h := sha256.New()
	for _, s := range sums {
		fmt.Fprintln(h, s)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Seen is what distinguishes a file from a changed one without reading it.
type Seen struct {
	Size   int64  `json:"size"`
	Inode  uint64 `json:"inode"`
	Change int64  `json:"change_ns"`
	Sum    string `json:"sum,omitempty"`
}

// Look returns what is seen of a regular file, without its hash.
func Look(path string) (Seen, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Seen{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return Seen{}, fmt.Errorf("%s is not a regular file", path)
	}
	return Seen{Size: info.Size(), Inode: st.Ino, Change: changed(st)}, nil
}

// Hash returns the hash of a file. If the file has not changed since known was noted, its
// hash is taken from there.
func Hash(path string, known Seen) (Seen, error) {
	now, err := Look(path)
	if err != nil {
		return Seen{}, err
	}
	if was := known; was.Sum != "" {
		if now.Sum = was.Sum; now == was {
			return now, nil
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return Seen{}, err
	}
	defer f.Close()
	now.Sum, err = Sum(f)
	return now, err
}

// notesFile is the file beside the programs that holds what was seen of them when they were
// hashed last.
const notesFile = "seen.json"

// Verify returns the hash of the programs in a directory. They are read only if they have
// changed since the last time.
func Verify(dir string) (string, error) {
	notes := make(map[string]Seen)
	if data, err := safefile.Read(filepath.Join(dir, notesFile), 1<<16); err == nil {
		_ = json.Unmarshal(data, &notes) // else they are hashed
	}
	fresh := make(map[string]Seen)
	var sums []string
	same := true
	for _, name := range Programs {
		seen, err := Hash(filepath.Join(dir, name), notes[name])
		if err != nil {
			return "", err
		}
		same = same && notes[name] == seen
		fresh[name] = seen
		sums = append(sums, seen.Sum)
	}
	if !same {
		if data, err := json.Marshal(fresh); err == nil {
			_ = safefile.ReplaceCache(filepath.Join(dir, notesFile), data) // else they are hashed again
		}
	}
	return Together(sums), nil
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

// Install gives the programs in a directory their final place beside it, under the name of
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
		return nil // someone else may have been quicker
	}
	return err
}
