package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// errNoFacts means that status.json does not exist: no shim has started the worker, or the
// run directory is gone.
var errNoFacts = errors.New("no status of the worker")

func readFacts(dir, id string) (rundir.Status, error) {
	st, err := readRecord(dir)
	if err == nil && st.ID != id {
		return st, fmt.Errorf("%w: %s belongs to worker %s, not %s", swarm.ErrStaleHandle, dir, st.ID, id)
	}
	return st, err
}

func readRecord(dir string) (rundir.Status, error) {
	st, err := ReadRecord(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return st, errNoFacts
	case errors.Is(err, fs.ErrPermission):
		return st, fmt.Errorf("%w: %w", swarm.ErrPermission, err)
	case errors.Is(err, errDamaged):
		return st, fmt.Errorf("%w: %s in %s is damaged (see 'swarm doctor')", swarm.ErrUnavailable, rundir.StatusFile, dir)
	case err != nil:
		return st, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	if st.Version > rundir.StatusVersion {
		return st, fmt.Errorf("%w: %s in %s is of version %d, which a newer swarm wrote",
			swarm.ErrUnavailable, rundir.StatusFile, dir, st.Version)
	}
	return st, nil
}

// errDamaged means that status.json is not what a shim writes.
var errDamaged = errors.New("the status is damaged")

// ReadRecord reads the status in a run directory, as the shim wrote it.
//
// A shim does not wait for the disk while its worker runs. So a crash of the machine may
// leave an empty status, or one from before the worker's end or its completion, which are
// durable under other names. For a worker of an earlier boot ReadRecord returns that final
// status, or the one with the completion, if there is one. An unreadable status from before the
// present boot counts as the status of a running worker.
func ReadRecord(dir string) (rundir.Status, error) {
	st, err := readStatus(filepath.Join(dir, rundir.StatusFile))
	cut := rundir.Status{Version: rundir.StatusVersion, ID: filepath.Base(dir), State: rundir.StateRunning}
	cut.Shim.Boot = "an earlier one"
	switch {
	case errors.Is(err, errDamaged) && isFromEarlierBoot(filepath.Join(dir, rundir.StatusFile)):
		st = cut
	case err != nil, st.State != rundir.StateRunning, !bootedSince(st):
		return st, err
	}
	ofSameShim := func(name string) (rundir.Status, bool) {
		other, err := readStatus(filepath.Join(dir, name))
		return other, err == nil && other.ID == st.ID && (other.Shim == st.Shim || st.Shim == cut.Shim)
	}
	if final, ok := ofSameShim(rundir.FinalFile); ok && final.State == rundir.StateEnded {
		return final, nil
	}
	if update, ok := ofSameShim(rundir.UpdateFile); ok && update.Completion != nil && st.Completion == nil {
		return update, nil
	}
	return st, nil
}

func readStatus(path string) (rundir.Status, error) {
	var st rundir.Status
	b, err := safefile.Read(path, rundir.MaxStatus)
	if err != nil {
		return st, err
	}
	if err := json.Unmarshal(b, &st); err != nil {
		return rundir.Status{}, fmt.Errorf("%s: %w: %w", path, errDamaged, err)
	}
	return st, nil
}

// bootSlack is how far behind the clock may be when a machine has started again. A virtual
// machine is back within a second, and its clock then has whole seconds.
const bootSlack = 10 * time.Second

// isFromEarlierBoot reports whether a file was last written before the machine was started, or
// by a clock that was ahead of the present one.
func isFromEarlierBoot(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	written := info.ModTime()
	booted, err := proc.BootTime()
	return err == nil && (written.Before(booted.Add(bootSlack)) || written.After(time.Now()))
}

// statusOf returns the recorded status. It does not check whether a worker that is recorded
// as running still runs.
func statusOf(st rundir.Status) swarm.Status {
	s := historyOf(st)
	s.PID = st.Main.PID
	if st.State == rundir.StateEnded {
		s.State = swarm.StateExited
		s.Exit = &swarm.Exit{
			Code: st.Code, Signal: st.Signal, Cause: st.Cause, Reason: st.Reason,
			Time: timeOf(st.EndedNS), Usage: usageOf(st.Used),
		}
		return s
	}
	s.State, s.Reason, s.Paused, s.Unenforced = swarm.StateRunning, st.Reason, st.Paused, st.Unenforced
	return s
}

// Recorded returns the shim's record of the worker with that id. It does not check whether
// a worker that is recorded as running still runs, see [Status].
func Recorded(dir, id string) (swarm.Status, error) {
	st, err := readFacts(dir, id)
	if err != nil {
		return swarm.Status{}, err
	}
	return statusOf(st), nil
}

// historyOf returns the facts of a worker that do not depend on its state.
func historyOf(st rundir.Status) swarm.Status {
	s := swarm.Status{Started: timeOf(st.StartedNS), Restarts: st.Restarts}
	for _, r := range st.LastRestarts {
		s.LastRestarts = append(s.LastRestarts, swarm.Restarted{
			Number: r.Number, Time: timeOf(r.TimeNS), Code: r.Code, Signal: r.Signal,
		})
	}
	if c := st.Completion; c != nil {
		s.Completion = &swarm.Completion{Summary: c.Summary, Time: timeOf(c.TimeNS)}
	}
	return s
}

// usageOf returns what a worker has used in all; nil if its shim did not record that.
func usageOf(u *rundir.Used) *swarm.Usage {
	if u == nil {
		return nil
	}
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	usage := &swarm.Usage{Peak: known(u.Peak), Read: known(u.Read), Written: known(u.Written)}
	if u.CPUNS >= 0 {
		usage.CPUTime = new(time.Duration(u.CPUNS))
	}
	return usage
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// Find returns the shim that was started for the worker with that id in a run
// directory, alive or not, and whether there was one.
func Find(dir, id string) (proc.Identity, bool) {
	st, err := readFacts(dir, id)
	return st.Shim, err == nil
}
