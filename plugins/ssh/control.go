package ssh

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
)

// control is where the sockets of shared connections are, and the notes next to them. Without
// a directory no connection is shared.
type control struct {
	dir string
	// state is the state directory.
	state string
	// notes is the directory below the state directory. dir is another one if that path is
	// too long for a socket.
	notes string
	// mark begins the names of the sockets, if several state directories share dir.
	mark string
}

// controlOf returns the directory below the state directory that env names. If its path is
// too long for a socket, it is one of the user's own in the directory for temporary files.
func controlOf(env []string) control {
	state := environ.Get(env, swarm.EnvDir)
	if home := environ.Get(env, "HOME"); state == "" && home != "" {
		state = filepath.Join(home, ".swarm")
	}
	if state == "" || !filepath.IsAbs(state) {
		return control{}
	}
	c := control{state: state, dir: filepath.Join(state, "ssh"), notes: filepath.Join(state, "ssh")}
	if len(c.dir)+1+socketName+len(socketSuffix) > maxSocket || !isPlain(c.dir) {
		sum := sha256.Sum256([]byte(c.dir))
		c.dir, c.mark = filepath.Join(os.TempDir(), fmt.Sprintf("swarm-ssh-%d", os.Getuid())), hex.EncodeToString(sum[:4])+"-"
	}
	if !isPlain(c.dir) {
		c.dir = ""
	}
	return c
}

// ready makes the directory, which no call needs that reaches no host, and reports whether
// it can be used.
func (c control) ready() bool {
	if c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
		return false
	}
	// A socket in the directory of another user would be a connection of that user.
	info, err := os.Lstat(c.dir)
	return err == nil && info.IsDir() && trust.Owned(info) && info.Mode().Perm()&0o077 == 0
}

// isPlain reports whether ssh takes a path as it is: it splits an option at blanks, and
// replaces what follows % and $.
func isPlain(path string) bool {
	return !strings.ContainsFunc(path, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("%$\"'\\", r)
	})
}

func (c control) socket(name string) string {
	if c.dir == "" {
		return ""
	}
	return filepath.Join(c.dir, c.mark+name)
}

func (c control) note(name string) string {
	if c.notes == "" {
		return ""
	}
	return filepath.Join(c.notes, name)
}

// writeNote writes a note, unless there is no state directory yet. A lost note only costs time.
func writeNote(path string, data []byte) {
	if err := os.Mkdir(filepath.Dir(path), 0o700); err == nil || errors.Is(err, fs.ErrExist) {
		_ = safefile.ReplaceCache(path, data)
	}
}

const (
	// lookLimit is how long a host may take to say how its workers are. It is less than a
	// swarm host waits, so that the workers of other hosts have their answers.
	lookLimit = 6 * time.Second
	// silentFor is for how long after that calls wait only for briefLimit.
	silentFor  = 20 * time.Second
	briefLimit = time.Second
)

// silence is the note that a host did not answer, for the next calls of swarm: a file whose
// age counts. An empty path notes nothing.
type silence struct{ path string }

func silenceOf(c control, host string) silence {
	sum := sha256.Sum256([]byte(host))
	return silence{path: c.note("silent-" + hex.EncodeToString(sum[:8]))}
}

func (s silence) limit() time.Duration {
	if info, err := os.Lstat(s.path); err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < silentFor {
			return briefLimit
		}
	}
	return lookLimit
}

// note notes whether the host was silent for as long as limit.
func (s silence) note(silent bool, limit time.Duration) {
	switch {
	case s.path == "":
	case !silent:
		_ = os.Remove(s.path) // there is rarely one
	case limit == lookLimit:
		writeNote(s.path, nil)
	}
}
