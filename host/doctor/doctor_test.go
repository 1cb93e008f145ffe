package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("without a state directory: %q", got)
	}
	if _, err := os.Stat(r.Dir()); err == nil {
		t.Error("the doctor made a state directory")
	}
	tree := r.MustSpawn(t, "tree", "one", hosttest.InWorkspace)
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("all is well: %q", got)
	}
	r.Starter.Peers["two"].Report = func(context.Context) (string, error) { return "", swarm.ErrUnavailable }
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("an engine that no worker uses can't be reached: %q", got)
	}
	lost := r.MustSpawn(t, "lost", "one")
	r.MustSpawn(t, "far", "two")
	r.One.Change(t, "lost", func(w *hosttest.Worker) { w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 5, Name: "x"}} })
	r.Starter.Errors["two"] = swarm.ErrUnavailable
	for _, err := range []error{
		os.RemoveAll(tree.Workspace.Path),
		os.RemoveAll(r.StateDir().RunDir(tree.ID)),
		os.Remove(filepath.Join(r.StateDir().RunDir(lost.ID), rundir.WorkerFile)),
		os.Mkdir(r.StateDir().RunDir("stray"), 0o700),
		os.Chmod(r.Dir(), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"permissions: /state is open to others (mode 0755)",
		"run directories: /state/workers/" + lost.ID + ": open /state/workers/" + lost.ID + "/worker.json: no such file or directory",
		"run directories: /state/workers/stray is a leftover: it belongs to no worker (open /state/workers/stray/worker.json: no such file or directory)",
		"worker tree: its workspace /trees/tree is gone",
		"worker tree: its run directory /state/workers/" + tree.ID + " is gone; its output and its exit are lost",
		"worker lost: its shim died; still alive: x (pid 5)",
		"worker far: unavailable",
		"plugin two: unavailable",
	}
	if diff := cmp.Diff(want, hosttest.Problems(t, r, false)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"deleted":     os.Remove,
		"truncated":   func(path string) error { return os.Truncate(path, 5000) },
		"emptied":     func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("garbage ", 4096)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.MustSpawn(t, "runs", "one", hosttest.InWorkspace, func(q *spawn.Request) { q.Tags, q.Env = []string{"t"}, []string{"A=1"} })
			r.MustSpawn(t, "far", "two")
			r.MustSpawn(t, "ended", "one")
			r.MustKill(t, worker.Selection{Names: []string{"ended"}}, kill.Request{})
			before, _, err := r.Workers(t.Context(), worker.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.Dir(), registry.File)
			for _, suffix := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + suffix) // where there is one
			}
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{
				"status": second(r.Workers(t.Context(), worker.Selection{})),
				"kill":   first(r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"runs"}}, kill.Request{})),
				"spawn":  first(r.Spawn().Spawn(t.Context(), r.Request("new", "one"))),
			} {
				if err == nil || !strings.Contains(err.Error(), "swarm doctor") {
					t.Errorf("%s: %v; want an error that names the doctor", what, err)
				}
			}
			if got := hosttest.Problems(t, r, false); len(got) != 1 || !strings.HasPrefix(got[0], "database: ") {
				t.Errorf("problems %q, want one of the database", got)
			}
			if got := hosttest.Problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			after, _, err := r.Workers(t.Context(), worker.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range before {
				// A rebuilt record has its time from a file, and no wall clock.
				before[i].Created = time.Unix(0, before[i].Created.UnixNano())
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("workers (-before +after):\n%s", diff)
			}
			aside, err := filepath.Glob(path + ".damaged-*")
			if err != nil || (len(aside) == 0) != (name == "deleted") {
				t.Errorf("kept aside: %v, %v", aside, err)
			}
		})
	}
}

func first[T any](_ T, err error) error        { return err }
func second[T, U any](_ T, _ U, e error) error { return e }

// A good database is completed, and nothing else is done to it.
func TestRebuildCompletes(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "keeps", "one")
	forgotten := r.MustSpawn(t, "forgotten", "one")
	reg, err := r.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	remove := func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, forgotten.ID) }
	if err := reg.Change(t.Context(), remove); err != nil {
		t.Fatal(err)
	}
	if got := hosttest.Problems(t, r, false); len(got) != 1 || !strings.Contains(got[0], "not in the registry") {
		t.Errorf("problems %q", got)
	}
	if got := hosttest.Problems(t, r, true); got != nil {
		t.Errorf("problems after the rebuild: %q", got)
	}
	if diff := cmp.Diff(map[string]worker.Status{"keeps": worker.StatusRunning, "forgotten": worker.StatusRunning}, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

func TestDoctorOnDamage(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one")
	r.One.Change(t, "w", func(w *hosttest.Worker) { w.State = swarm.StateUnknown })
	status := filepath.Join(r.StateDir().RunDir(w.ID), rundir.StatusFile)
	mend := func() string {
		t.Helper()
		findings, err := r.Doctor(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Severity != doctor.SeverityOK {
				return f.Mend
			}
		}
		return ""
	}
	if got := mend(); !strings.Contains(got, "backend 'one'") {
		t.Errorf("a backend that can't say: %q", got)
	}
	if err := os.WriteFile(status, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := mend(), "rm '"+status+"', then 'swarm kill w'"; got != want {
		t.Errorf("a damaged status: %q, want %q", got, want)
	}

	if err := errors.Join(r.Close(), os.WriteFile(filepath.Join(r.Dir(), registry.File), []byte(strings.Repeat("no database ", 100)), 0o600)); err != nil {
		t.Fatal(err)
	}
	want := []string{"database: /state/swarm.db is damaged: file is not a database (26)"}
	if diff := cmp.Diff(want, hosttest.Problems(t, r, false)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestDoctorOnSockets blames a killed shim for the socket that it left, and no shim that
// ended with the machine.
func TestDoctorOnSockets(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	for name, shimBoot := range map[string]string{"cut": hosttest.EarlierBoot, "killed": boot} {
		w := r.MustSpawn(t, name, "one")
		r.Interrupt(t, name, func(st *rundir.Status) { st.Shim.Boot = shimBoot })
		if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(w.ID), rundir.Socket), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A shim that has reported the end of its worker, and has not ended yet.
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	w := r.MustSpawn(t, "leaving", "one")
	r.Interrupt(t, "leaving", func(st *rundir.Status) { st.Shim, st.State = self.Identity, rundir.StateEnded })
	if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(w.ID), rundir.Socket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := hosttest.Problems(t, r, false)
	if len(got) != 1 || !strings.HasPrefix(got[0], "worker killed: its shim was killed and left ") {
		t.Errorf("problems %q, want the socket of the killed shim", got)
	}
}

// TestDoctorOnNewDatabases: doctor leaves out what another call is just making.
func TestDoctorOnNewDatabases(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	recent, old := filepath.Join(r.Dir(), registry.BuildPrefix+"1"), filepath.Join(r.Dir(), registry.BuildPrefix+"2")
	for _, dir := range []string{recent, old} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, before, before); err != nil {
		t.Fatal(err)
	}
	got := hosttest.Problems(t, r, false)
	if len(got) != 1 || !strings.Contains(got[0], filepath.Base(old)+" is a leftover") {
		t.Errorf("got %q", got)
	}
}

func TestDoctorOnLinkedDirectory(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	real := r.Dir() + "-real"
	if err := errors.Join(os.Rename(r.Dir(), real), os.Symlink(real, r.Dir())); err != nil {
		t.Fatal(err)
	}
	if got := hosttest.Problems(t, r, false); got != nil {
		t.Errorf("a private directory behind a link: %q", got)
	}
}
