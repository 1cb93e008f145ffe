package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/rawjson"
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

// WriteWorkerFile writes worker.json, and returns once the disk has it under its name, with the
// run directory. The caller starts the worker after that: so a crash of the machine leaves no
// run directory in which a worker ran and that does not say which one.
func (d Dir) WriteWorkerFile(rec *registry.Record) error {
	f := WorkerFile{Version: workerFileVersion, Spec: rec.Spec, Workspace: rec.Workspace}
	f.Env = slices.DeleteFunc(slices.Clone(f.Env), isSwarmVariable)
	b, err := rawjson.MarshalIndent(f, "", "  ")
	if err == nil {
		err = d.keepWorkerFile(rec.ID, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s of '%s': %w", rundir.WorkerFile, rec.Name, err)
	}
	return nil
}

// keepWorkerFile waits for the disk once, for the file and both directories together: each wait
// costs a spawn as much as everything else it does here.
func (d Dir) keepWorkerFile(id string, content []byte) error {
	dir := d.RunDir(id)
	path := filepath.Join(dir, rundir.WorkerFile)
	write := safefile.ReplaceCache
	if _, err := os.Lstat(path); err == nil {
		// A worker may run with the old one, which a crash must not empty.
		write = func(path string, content []byte) error { return safefile.Replace(path, content, 0o600) }
	}
	if err := write(path, content); err != nil {
		return err
	}
	var syncing sync.WaitGroup
	errs := make([]error, 3)
	syncing.Go(func() { errs[0] = safefile.Sync(path) })
	syncing.Go(func() { errs[1] = safefile.SyncDir(dir) })
	syncing.Go(func() { errs[2] = safefile.SyncDir(filepath.Dir(dir)) })
	syncing.Wait()
	return errors.Join(errs...)
}

// HasWorkerFile reports whether a run directory has a worker.json, readable or not, that is not
// torn. An error other than a missing file counts as its presence.
func (d Dir) HasWorkerFile(id string) bool {
	path := filepath.Join(d.RunDir(id), rundir.WorkerFile)
	info, err := os.Lstat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return true
	}
	b, err := safefile.Read(path, rundir.MaxWorker)
	return err != nil || !isTorn(b)
}

// isTorn reports whether the content of a worker.json is of no worker: empty, cut off, zeros, or
// without what every worker has. It is what a crash of the machine left of a spawn that had not
// started its worker yet, see [Dir.WriteWorkerFile]. A rebuild can't use it. The file of a newer
// swarm is not torn.
func isTorn(content []byte) bool {
	var newer struct {
		Version int `json:"version"`
	}
	err := json.Unmarshal(content, &newer)
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || newer.Version > workerFileVersion {
		return syntax
	}
	var f WorkerFile
	err = rawjson.Unmarshal(content, &f)
	return err != nil || f.ID == "" || f.Name == "" || f.Backend == "" || len(f.Command) == 0
}

// ReadWorkerFile reads the worker.json of the run directory named id.
func (d Dir) ReadWorkerFile(id string) (WorkerFile, error) {
	var f WorkerFile
	b, err := safefile.Read(filepath.Join(d.RunDir(id), rundir.WorkerFile), rundir.MaxWorker)
	if err != nil {
		return f, err
	}
	if err := rawjson.Unmarshal(b, &f); err != nil {
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
