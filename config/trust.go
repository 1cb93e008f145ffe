package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

const maxTrusted = 16 << 20

// Trust remembers which projects' files may name programs, and which programs of the projects they
// may name, by path and hash: a file that was changed, or that another clone brought to another place, is
// not trusted.
type Trust struct {
	// Path is the file in which it is remembered, one line for each project:
	// the hash and the quoted path.
	Path string
}

// Has reports whether path is trusted with this content. A list that
// can't be read trusts nothing.
func (t Trust) Has(path string, content []byte) bool {
	entries, err := t.entries()
	return err == nil && entries[path] == digest(content)
}

// HasFile reports whether path is trusted as it is now.
func (t Trust) HasFile(path string) bool {
	content, err := read(path)
	return err == nil && t.Has(path, content)
}

// Add trusts path with this content, and programs with these hashes, by path. A file that was shown to
// the user before has to be the same bytes, so it is not read again.
func (t Trust) Add(path string, content []byte, programs map[string]string) error {
	return t.change(func(entries map[string]string) {
		entries[path] = digest(content)
		maps.Copy(entries, programs)
	})
}

// Hashes returns the trusted hashes by path, in hex. A list that can't be read trusts nothing.
func (t Trust) Hashes() map[string]string {
	entries, err := t.entries()
	if err != nil {
		return nil
	}
	return entries
}

// Remove revokes the trust in path.
func (t Trust) Remove(path string) error {
	return t.change(func(entries map[string]string) { delete(entries, path) })
}

func digest(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

func (t Trust) entries() (map[string]string, error) {
	entries := map[string]string{}
	// A file that others can write does not prove the user's trust.
	err := trust.Path(t.Path)
	var content []byte
	if err == nil {
		content, err = safefile.Read(t.Path, maxTrusted)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return entries, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(content)) {
		sum, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path, err := strconv.Unquote(quoted); err == nil {
			entries[path] = sum
		}
	}
	return entries, nil
}

// change replaces the file as a whole under a lock: a reader never sees a part, and no
// concurrent change is lost.
func (t Trust) change(edit func(map[string]string)) error {
	dir := filepath.Dir(t.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := safefile.LockDir(dir, safefile.Exclusive)
	if err != nil {
		return err
	}
	defer lock.Close()
	entries, err := t.entries()
	if err != nil {
		return err
	}
	edit(entries)
	var b bytes.Buffer
	for _, path := range sortedKeys(entries) {
		fmt.Fprintf(&b, "%s %s\n", entries[path], strconv.Quote(path))
	}
	return safefile.Replace(t.Path, b.Bytes(), 0o600)
}
