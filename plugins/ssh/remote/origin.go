package remote

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/swarmhost/swarm/shared/dirid"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Origin says on which machine and in which directory of it a worker was started. The name
// of a host may reach another machine later, and a home directory may not be mounted: a
// worker that can't be seen there may still run.
type Origin struct {
	// Machine is the id of the machine, hashed; empty: it has none.
	Machine string `json:"machine,omitempty"`
	// Store is the id of the directory; empty: it has none.
	Store string `json:"store,omitempty"`
}

// machineFiles may hold the id of a machine, see machine-id(5).
var machineFiles = []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

var machineID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// MachineID returns the id of this machine, hashed since it is not meant for others; empty
// if it has none.
func MachineID() string {
	for _, path := range machineFiles {
		data, err := safefile.ReadForeign(path, 1<<10)
		if id := strings.TrimSpace(string(data)); err == nil && machineID.MatchString(id) {
			sum := sha256.Sum256([]byte("swarm-remote " + id))
			return hex.EncodeToString(sum[:16])
		}
	}
	return ""
}

const idFile = "id"

// Origin returns where workers are started now. Without an id of its own the directory
// gets one.
func (b *Backend) Origin() Origin {
	o := Origin{Machine: b.opts.Machine}
	// A file system without hard links takes none.
	o.Store, _ = dirid.Ensure(filepath.Join(b.opts.Dir, idFile))
	return o
}

// isHere returns an error if workers of an origin can't be seen here. host is the name by
// which this machine was reached.
func (b *Backend) isHere(o Origin, host string) error {
	name := "this machine"
	if host != "" {
		name = "'" + host + "'"
	}
	if o.Machine != "" && o.Machine != b.opts.Machine {
		return fmt.Errorf("%w: %s is another machine than the one where the worker was started", swarm.ErrUnavailable, name)
	}
	if id, err := dirid.Read(filepath.Join(b.opts.Dir, idFile)); o.Store != "" && (err != nil || id != o.Store) {
		return errors.Join(fmt.Errorf("%w: %s on %s is not the directory where the worker was started; is the home directory mounted?",
			swarm.ErrUnavailable, b.opts.Dir, name), err)
	}
	return nil
}

// handle reads the handle of a worker that is here.
func (b *Backend) handle(raw swarm.Handle) (Handle, error) {
	h, err := Decode(raw)
	if err == nil {
		err = b.isHere(h.Origin, h.Host)
	}
	if err == nil && h.Origin.Store == "" {
		if _, serr := os.Stat(b.store.workers()); serr != nil {
			err = fmt.Errorf("%w: is the home directory mounted? %w", swarm.ErrUnavailable, serr)
		}
	}
	return h, err
}

// Greeting is the line that swarm-remote writes before it serves. All before it comes from
// the login shell over there.
func Greeting(hash string, o Origin) string {
	return greeting + cmp.Or(hash, none) + " " + cmp.Or(o.Machine, none) + " " + cmp.Or(o.Store, none)
}

const (
	greeting = "swarm-remote serves "
	none     = "-"
)

// ParseGreeting returns the hash of the programs and the origin of new workers in a line,
// if it is a greeting.
func ParseGreeting(line string) (hash string, o Origin, ok bool) {
	rest, ok := strings.CutPrefix(line, greeting)
	fields := strings.Fields(rest)
	if !ok || len(fields) != 3 {
		return "", Origin{}, false
	}
	for i, f := range fields {
		if f == none {
			fields[i] = ""
		}
	}
	return fields[0], Origin{Machine: fields[1], Store: fields[2]}, true
}
