package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const workersDir = "workers"

// shimName is the program that keeps local workers.
const shimName = "swarm-shim"

// workerFileVersion is the version of worker.json. A newer one is not read.
const workerFileVersion = 1

// workerFile is the content of worker.json: enough to make the worker's record
// again, without anything secret that swarm itself added.
type workerFile struct {
	Version int `json:"version"`
	registry.Spec
	Workspace *swarm.WorkspaceRef `json:"workspace,omitempty"`
}

// runDir is the run directory of a worker.
func (h *Host) runDir(id string) string { return RunDirIn(h.opts.Dir, id) }

// RunDirIn returns the run directory of a worker on this machine in a state directory.
func RunDirIn(dir, id string) string { return filepath.Join(dir, workersDir, id) }

// RunDir returns the run directory of a worker on this machine, whether or not it is
// there.
func (h *Host) RunDir(id string) string { return h.runDir(id) }

// makeRunDir makes the run directory of a new worker.
func (h *Host) makeRunDir(id string) error {
	dir := h.runDir(id)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("make the directory of run directories: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if err := h.linkJournal(id); err != nil {
		return errors.Join(fmt.Errorf("make the run directory: %w", err), os.RemoveAll(dir))
	}
	return nil
}

// writeWorkerFile writes worker.json.
func (h *Host) writeWorkerFile(rec *registry.Record) error {
	f := workerFile{Version: workerFileVersion, Spec: rec.Spec, Workspace: rec.Workspace}
	f.Env = slices.DeleteFunc(slices.Clone(f.Env), isSwarmVariable)
	b, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = writeFile(filepath.Join(h.runDir(rec.ID), rundir.WorkerFile), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s of '%s': %w", rundir.WorkerFile, rec.Name, err)
	}
	return nil
}

// writeFile makes a file whole or not at all.
func writeFile(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := writeDurably(tmp, data); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return nil
}

// writeDurably makes a file whose content is on the disk: renamed before that, it
// could be empty after a crash of the machine. Its name may be lost with the machine,
// as that of the last status may: that costs no wait for the directory.
func writeDurably(path string, data []byte) error {
	f, err := safefile.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readWorkerFile reads the worker.json of the run directory named id.
func (h *Host) readWorkerFile(id string) (workerFile, error) {
	var f workerFile
	b, err := safefile.Read(filepath.Join(h.runDir(id), rundir.WorkerFile), rundir.MaxWorker)
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
		return f, fmt.Errorf("%s says too little of its worker", rundir.WorkerFile)
	}
	return f, nil
}

// local returns what a local backend is told of a worker; nil for others.
func (h *Host) local(p *peer, id string) (*swarm.Local, error) {
	if !p.Local {
		return nil, nil
	}
	shim, err := h.catalog.Beside(shimName)
	if err != nil {
		return nil, err
	}
	return &swarm.Local{RunDir: h.runDir(id), StateDir: h.opts.Dir, Shim: shim}, nil
}
