package hosttest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// MustKill kills workers and returns the outcomes, which may be errors.
func (r *Rig) MustKill(t testing.TB, sel worker.Selection, req kill.Request) []kill.Outcome {
	t.Helper()
	out, err := r.Kill().Kill(t.Context(), sel, req)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// MustRespawn starts a worker again and returns the new one.
func (r *Rig) MustRespawn(t testing.TB, name string) worker.Worker {
	t.Helper()
	w, err := r.Spawn().Respawn(t.Context(), name, spawn.RespawnRequest{})
	if err != nil {
		t.Fatalf("respawn %s: %v", name, err)
	}
	return w
}

// Record returns the record of the worker of that name.
func (r *Rig) Record(t testing.TB, name string) registry.Record {
	t.Helper()
	reg, err := r.Store().ToRead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(recs, func(rec registry.Record) bool { return rec.Name == name })
	if i < 0 {
		t.Fatalf("there is no record of '%s'", name)
	}
	return recs[i]
}

// MustClean removes a worker that has ended.
func (r *Rig) MustClean(t testing.TB, name string) {
	t.Helper()
	outs, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{name}}, kill.CleanRequest{})
	if err == nil {
		err = outs[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Ephemeral changes the request to one for a worker whose record goes with its end.
func Ephemeral(q *spawn.Request) { q.Retain = registry.RetainNone }

// CompleteInside completes a worker of backend "one" by a call from inside of it.
func (r *Rig) CompleteInside(t testing.TB, w worker.Worker, summary string) error {
	t.Helper()
	r.Announce("one", swarm.CapComplete)
	in := r.Inside(t, w)
	_, err := in.Complete(t.Context(), host.CompleteRequest{Summary: summary})
	return errors.Join(err, in.Close())
}

// Problems returns the findings of the doctor that are errors or warnings, as "subject: what".
func Problems(t testing.TB, r *Rig, rebuild bool) []string {
	t.Helper()
	findings, err := r.Doctor(t.Context(), rebuild)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range findings {
		if f.Severity == doctor.SeverityOK || f.Severity == doctor.SeverityNote {
			continue
		}
		out = append(out, strings.ReplaceAll(f.Subject+": "+f.What, r.Root, ""))
		if f.Mend == "" {
			t.Errorf("%s: %s: no word on how to mend it", f.Subject, f.What)
		}
	}
	return out
}

// DamageWorkers overwrites the page on which the table of workers begins in the database, the
// first after the page of the schema. The history stays intact.
func DamageWorkers(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	const page = 4096
	_, err = f.WriteAt([]byte(strings.Repeat("x", page)), page)
	return errors.Join(err, f.Close())
}

// KillErrors joins the errors of outcomes.
func KillErrors(out []kill.Outcome) error {
	var errs []error
	for _, o := range out {
		errs = append(errs, o.Err)
	}
	return errors.Join(errs...)
}

// FailOnce returns a [Backend.BeforeSpawn] that fails the first spawn.
func FailOnce(err error) func(context.Context, swarm.Spec) error {
	return func(context.Context, swarm.Spec) error {
		defer func() { err = nil }()
		return err
	}
}

// WaitFor waits until ok returns true, for what other processes and goroutines do.
func WaitFor(t testing.TB, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not happen in time")
		}
	}
}

// EarlierBoot is the id of a boot of the machine that has ended.
const EarlierBoot = "00000000-0000-4000-8000-000000000000"

// Interrupt makes the worker look as after a crash of the machine: its status file is of an earlier
// boot, and it is lost unless the file, as changed, records its end.
func (r *Rig) Interrupt(t testing.TB, name string, change ...func(*rundir.Status)) {
	t.Helper()
	id := r.Record(t, name).ID
	st := rundir.Status{
		Version: rundir.StatusVersion, ID: id, State: rundir.StateRunning,
		Shim: proc.Identity{PID: 1, Start: 1, Boot: EarlierBoot}, StartedNS: 1,
	}
	for _, f := range change {
		f(&st)
	}
	r.One.Change(t, name, func(w *Worker) {
		w.State = swarm.StateLost
		if st.State == rundir.StateEnded {
			w.State, w.Exit = swarm.StateExited, &swarm.Exit{Cause: st.Cause, Signal: "SIGTERM", Time: time.Now()}
		}
	})
	if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(id), rundir.StatusFile), rundir.EncodeStatus(st), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Request returns a request that works.
func (r *Rig) Request(name, backend string) spawn.Request {
	return spawn.Request{Name: name, Backend: backend, Command: []string{"sleep", "9"}, Dir: r.WorkDir}
}

// MustSpawn starts a worker by the request, as changed.
func (r *Rig) MustSpawn(t testing.TB, name, backend string, change ...func(*spawn.Request)) worker.Worker {
	t.Helper()
	req := r.Request(name, backend)
	for _, f := range change {
		f(&req)
	}
	w, err := r.Spawn().Spawn(t.Context(), req)
	if err != nil {
		t.Fatalf("spawn %s: %v", name, err)
	}
	return w
}

// InWorkspace adds a workspace to the request.
func InWorkspace(req *spawn.Request) { req.Workspace = &spawn.WorkspaceRequest{Plugin: "worktree"} }

// Worker returns the present state of a worker.
func (r *Rig) Worker(t testing.TB, name string) worker.Worker {
	t.Helper()
	ws, _, err := r.Workers(t.Context(), worker.Selection{Names: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return ws[0]
}

// StatusesOf returns the statuses of workers by name.
func StatusesOf(ws []worker.Worker) map[string]worker.Status {
	m := map[string]worker.Status{}
	for _, w := range ws {
		m[w.Name] = w.Status
	}
	return m
}

// Statuses returns the statuses of all workers by name.
func (r *Rig) Statuses(t testing.TB) map[string]worker.Status {
	t.Helper()
	ws, _, err := r.Workers(t.Context(), worker.Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return StatusesOf(ws)
}
