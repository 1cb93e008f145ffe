package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/trust"
)

// originFile is the name of the file of an installed bundle that says where it came from.
const originFile = "origin.json"

// Origin says where an installed bundle came from.
type Origin struct {
	// From is the directory, the file or the address.
	From string `json:"from"`
	// SHA256 is the hash of the file in hex; empty for a directory.
	SHA256 string `json:"sha256,omitempty"`
	// At is when the bundle was installed.
	At time.Time `json:"at"`
	// Over is the version of the built-in bundle that this one, which is not newer, was
	// installed over on purpose; empty: it is newer.
	Over string `json:"over,omitempty"`
}

// Write installs a bundle as the file at path, whole or not at all.
func (b *Bundle) Write(path string, o Origin) error {
	files := b.files()
	origin, err := json.Marshal(o)
	if err != nil {
		return err
	}
	files[originFile] = origin
	var data bytes.Buffer
	archive := tar.NewWriter(&data)
	for _, name := range slices.SortedFunc(maps.Keys(files), screensLast) {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}); err != nil {
			return err
		}
		if _, err := archive.Write(files[name]); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return safefile.Replace(path, data.Bytes(), 0o600)
}

// screensLast is the order of the files of an installed bundle: most calls need the profiles alone,
// and stop at the first screen.
func screensLast(a, b string) int {
	rank := func(name string) int {
		if strings.HasPrefix(name, Screens+"/") {
			return 1
		}
		return 0
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

// maxInstalled is the largest size of an installed bundle: each file has a header, and is filled
// up to a block.
const maxInstalled = maxTotal + maxFiles*4<<10

// ReadInstalled returns the bundle that [Bundle.Write] has installed at path, or
// [fs.ErrNotExist], with or without its screens. The file must obey the owner rule.
func ReadInstalled(path string, screens bool) (*Bundle, Origin, error) {
	var o Origin
	if err := trust.Path(path); err != nil {
		if broken, ok := trust.As(err); ok {
			return nil, o, fmt.Errorf("%s cannot be trusted: %w", path, broken)
		}
		return nil, o, err
	}
	f, err := safefile.Open(path, maxInstalled)
	if err != nil {
		return nil, o, err
	}
	defer f.Close()
	files, err := untar(bufio.NewReaderSize(io.LimitReader(f, maxInstalled), 64<<10), func(name string) bool {
		return !screens && strings.HasPrefix(name, Screens+"/")
	})
	if err != nil {
		return nil, o, fmt.Errorf("%s: %w", path, err)
	}
	b, err := FromFiles(path, files)
	if err != nil {
		return nil, o, err
	}
	if err := json.Unmarshal(files[originFile], &o); err != nil {
		return nil, o, errors.New(path + ": " + originFile + " is damaged")
	}
	return b, o, nil
}
