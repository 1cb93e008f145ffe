package statedir

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// workerFileVersion is the version of worker.json. A newer one is not read.
const workerFileVersion = 1

// WorkerFile is the content of worker.json: enough to make the worker's record
// again, without anything secret that swarm itself added.
type WorkerFile struct {
	Version int `json:"version"`
	registry.Spec
	Workspace *swarm.WorkspaceRef `json:"workspace,omitempty"`
}

// WriteWorkerFile writes worker.json.
func (d Dir) WriteWorkerFile(rec *registry.Record) error {
	f := WorkerFile{Version: workerFileVersion, Spec: rec.Spec, Workspace: rec.Workspace}
	f.Env = slices.DeleteFunc(slices.Clone(f.Env), isSwarmVariable)
	b, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = safefile.Replace(filepath.Join(d.RunDir(rec.ID), rundir.WorkerFile), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s of '%s': %w", rundir.WorkerFile, rec.Name, err)
	}
	return nil
}

// ReadWorkerFile reads the worker.json of the run directory named id.
func (d Dir) ReadWorkerFile(id string) (WorkerFile, error) {
	var f WorkerFile
	b, err := safefile.Read(filepath.Join(d.RunDir(id), rundir.WorkerFile), rundir.MaxWorker)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("%s: %w", rundir.WorkerFile, err)
	}
	switch {
	case f.Version > workerFileVersion:
		return f, fmt.Errorf("%s has version %d, this swarm knows up to %d", rundir.WorkerFile, f.Version, workerFileVersion)
	case f.ID != id:
		return f, fmt.Errorf("%s is of worker %q", rundir.WorkerFile, f.ID)
	case !swarm.ValidName(f.Name) || f.Backend == "" || len(f.Command) == 0:
		return f, fmt.Errorf("%s lacks required fields", rundir.WorkerFile)
	}
	return f, nil
}

// isSwarmVariable reports whether an entry of an environment is one of swarm's
// own, which are not written to disk.
func isSwarmVariable(kv string) bool { return strings.HasPrefix(kv, "SWARM_") }
