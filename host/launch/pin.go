package launch

import (
	"crypto/sha256"
	"encoding/hex"
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

// verify compares the files of a plugin with the hash in the config and with the
// installation. It returns the open program, so that exactly this file is run; nil for a
// plugin without a known hash.
func (s *Set) verify(e catalog.Entry) (_ *program, err error) {
	if err := s.checkArguments(e); err != nil {
		return nil, err
	}
	ofProject := e.InProject(e.Path())
	if e.SHA256 == "" && e.Installed == nil && !ofProject {
		return nil, nil
	}
	var f *os.File
	var known pinned
	path, err := filepath.EvalSymlinks(e.Path())
	if err == nil {
		f, known, err = s.open(path)
	}
	if err != nil {
		if missing := s.checkInstalled(e, pinned{}); missing != nil && errors.Is(err, fs.ErrNotExist) {
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
	// A hash in the project's file was trusted together with the file.
	if ofProject && e.SHA256 == "" && s.opts.Trusted[e.Path()] != known.SHA256 {
		return nil, &TrustError{e.Name, e.Path(), filepath.Dir(e.Source)}
	}
	if err := s.checkInstalled(e, known); err != nil {
		return nil, err
	}
	return &program{file: f, path: path, known: known}, nil
}

// checkArguments compares the files of a project that are arguments of a plugin, such as those of an
// interpreter, with what was trusted.
func (s *Set) checkArguments(e catalog.Entry) error {
	for i, arg := range e.Command {
		if i == 0 || !e.InProject(arg) {
			continue
		}
		if got, err := hashOf(arg); err != nil || s.opts.Trusted[arg] != got {
			return &TrustError{e.Name, arg, filepath.Dir(e.Source)}
		}
	}
	return nil
}

// checkInstalled compares the files of an installed plugin with its manifest; program is what
// was found of the first one, without a hash if it is missing. It ignores files that were not
// installed. The facts about all files are looked at each time, the files themselves are read only
// if one of the facts has changed.
func (s *Set) checkInstalled(e catalog.Entry, program pinned) error {
	if e.Installed == nil {
		return nil
	}
	now, facts := pinned{SHA256: contents(e.Installed)}, sha256.New()
	for i, f := range e.Installed.Files {
		about := program
		if i > 0 {
			info, err := os.Lstat(e.Installed.Path(f))
			if err == nil {
				about, err = factsOf(info)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return execError(e.Name, e.Installed.Path(f), err)
			}
		}
		about.SHA256 = "" // the facts are those that cost no read of the file
		fmt.Fprintf(facts, "%s\x00%+v\n", f.Path, about)
	}
	now.Facts = hex.EncodeToString(facts.Sum(nil))
	s.pins.Lock()
	was := s.knownPins()[e.Installed.Dir]
	s.pins.Unlock()
	if was == now && program.SHA256 == e.Installed.Files[0].SHA256 {
		return nil
	}
	if err := compare(e, program.SHA256); err != nil {
		return err
	}
	s.remember(e.Installed.Dir, now)
	return nil
}

// contents returns a hash of the paths and hashes of all files of a manifest.
func contents(i *catalog.Installed) string {
	h := sha256.New()
	for _, f := range i.Files {
		fmt.Fprintf(h, "%s\x00%s\n", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// compare hashes all files of an installed plugin but the first, whose hash is known.
func compare(e catalog.Entry, program string) error {
	for i, f := range e.Installed.Files {
		path, got := e.Installed.Path(f), program
		if i > 0 {
			var err error
			if got, err = hashOf(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return execError(e.Name, path, err)
			}
		}
		if got != f.SHA256 {
			return &ChangedError{e.Name, path, e.Installed.Version, f.SHA256, got}
		}
	}
	return nil
}

func hashOf(path string) (string, error) {
	f, err := safefile.Open(path, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sum(f)
}

// open opens the program of a plugin and returns its hash, remembered if the file is unchanged
// since.
func (s *Set) open(path string) (_ *os.File, now pinned, err error) {
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
	was, ok := s.knownPins()[path]
	s.pins.Unlock()
	if ok {
		now.SHA256 = was.SHA256
		if now == was {
			return f, now, nil
		}
	}
	if now.SHA256, err = sum(f); err != nil {
		return nil, pinned{}, err
	}
	s.remember(path, now)
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
	return factsOf(info)
}

// factsOf returns what shows a change of a file, without its hash.
func factsOf(info fs.FileInfo) (pinned, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return pinned{}, fmt.Errorf("stat %s: no inode", info.Name())
	}
	return pinned{
		Device: uint64(st.Dev), Inode: st.Ino, Size: info.Size(), //nolint:unconvert // other types on darwin
		Mtime: info.ModTime().UnixNano(), Changed: changed(st),
	}, nil
}
