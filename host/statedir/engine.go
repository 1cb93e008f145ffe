package statedir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxEngineKey is the largest file with the secret, in bytes.
const maxEngineKey = 256

// EngineMark returns an entry for the environments of plugins, which proves to shims that a server
// was started by one, see [swarm.EnvEngine]. It makes the secret at the first call. Without a state
// directory that can be written it returns the empty string: a server that is started then ends
// with the worker in which its plugin was started.
func (d Dir) EngineMark() string {
	file := filepath.Join(string(d), rundir.EngineKey)
	secret, err := safefile.Read(file, maxEngineKey)
	if errors.Is(err, fs.ErrNotExist) {
		if secret, err = d.makeEngineKey(file); err != nil {
			return ""
		}
	}
	if err != nil || len(secret) == 0 {
		return ""
	}
	return swarm.EnvEngine + "=" + rundir.EngineMark(string(secret), file)
}

// makeEngineKey makes the file, unless another process has just done so, and returns the secret.
// The file appears as a whole.
func (d Dir) makeEngineKey(file string) (_ []byte, err error) {
	f, err := os.CreateTemp(string(d), "."+rundir.EngineKey+"-") // its mode is 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(rand.Text())
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return safefile.Read(file, maxEngineKey)
}
