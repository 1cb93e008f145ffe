package spawn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSpawn(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	var got swarm.Spec
	r.One.BeforeSpawn = func(_ context.Context, s swarm.Spec) error {
		got = s
		return nil
	}
	w := r.MustSpawn(t, "w1", "one", func(q *spawn.Request) {
		q.Env = []string{"A=1", "SWARM_SECRET=x"}
		q.Tags = []string{"t", "t"}
		q.Options = map[string]string{"session": "s"}
	})
	if w.Status != worker.StatusRunning || w.PID != 4242 {
		t.Errorf("spawned %+v, want it running with its pid", w)
	}
	want := swarm.Spec{
		ID: w.ID, Name: "w1", Command: []string{"sleep", "9"}, Dir: r.WorkDir,
		Env:     []string{"A=1", "SWARM_SECRET=x", "SWARM_WORKER=w1", "SWARM_WORKER_ID=" + w.ID, "SWARM_DIR=" + r.Dir()},
		Tags:    []string{"t"},
		Options: map[string]string{"session": "s"},
		Kill:    host.DefaultKill(),
		Local: &swarm.Local{
			RunDir: r.StateDir().RunDir(w.ID), StateDir: r.Dir(), Shim: filepath.Join(r.Root, "bin", backend.ShimName),
			HostEnv: []string{"HOME=/home/me", "PLUGIN_MINE=2"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the backend was asked for (-want +got):\n%s", diff)
	}
	file := filepath.Join(r.StateDir().RunDir(w.ID), rundir.WorkerFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "SWARM_") || strings.Contains(string(text), "HOME") {
		t.Errorf("%s holds what it must not:\n%s", rundir.WorkerFile, text)
	}
	for path, mode := range map[string]os.FileMode{
		r.Dir(): 0o700, r.StateDir().RunDir(w.ID): 0o700, file: 0o600, filepath.Dir(r.StateDir().LockPath(w.ID)): 0o700, filepath.Join(r.Dir(), "swarm.db"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, mode)
		}
	}
}

func TestSpawnElsewhere(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	var got swarm.Spec
	r.Two.BeforeSpawn = func(_ context.Context, s swarm.Spec) error {
		got = s
		return nil
	}
	r.MustSpawn(t, "far", "two", func(q *spawn.Request) { q.Dir = "/not/on/this/machine" })
	if got.Local != nil {
		t.Errorf("a backend that is not local got %+v", got.Local)
	}
}

func TestSpawnInWorkspace(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w1", "one", hosttest.InWorkspace)
	path := filepath.Join(r.Tree.Dir, "w1")
	if w.Dir != path || w.Workspace == nil || w.Workspace.Path != path || w.Workspace.Base != r.WorkDir {
		t.Errorf("spawned in %q with %+v, want in %q", w.Dir, w.Workspace, path)
	}
	f, err := r.StateDir().ReadWorkerFile(w.ID)
	if err != nil || f.Workspace == nil || f.Workspace.Path != path {
		t.Errorf("worker.json: %+v, %v", f, err)
	}
}

func TestSpawnRefused(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "taken", "one")
	if _, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"taken"}}, kill.Request{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*spawn.Request)
		want   error
		text   string
	}{
		"taken, though stopped": {func(q *spawn.Request) { q.Name = "taken" }, worker.ErrExists, "worker 'taken' already exists"},
		"name":                  {func(q *spawn.Request) { q.Name = "-x" }, swarm.ErrInvalidSpec, "invalid worker name '-x'"},
		"command":               {func(q *spawn.Request) { q.Command = nil }, swarm.ErrInvalidSpec, "no command given"},
		"environment":           {func(q *spawn.Request) { q.Env = []string{"FOO"} }, swarm.ErrInvalidSpec, "malformed environment entry 'FOO'"},
		"directory":             {func(q *spawn.Request) { q.Dir = "/nowhere/at/all" }, swarm.ErrInvalidSpec, "no such directory: /nowhere/at/all"},
		"NUL":                   {func(q *spawn.Request) { q.Command = []string{"a\x00b"} }, swarm.ErrInvalidSpec, "NUL byte"},
		"backend":               {func(q *spawn.Request) { q.Backend = "ghost" }, nil, "no such plugin 'ghost'"},
		"kind":                  {func(q *spawn.Request) { q.Backend = "worktree" }, swarm.ErrInvalidSpec, "not a backend plugin"},
		"retention":             {func(q *spawn.Request) { q.Retain = "soon" }, swarm.ErrInvalidSpec, "invalid retention"},
		"tag":                   {func(q *spawn.Request) { q.Tags = []string{""} }, swarm.ErrInvalidSpec, "invalid tag"},
	} {
		req := r.Request("fresh", "one")
		c.change(&req)
		_, err := r.Spawn().Spawn(t.Context(), req)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %q", name, err, c.text)
		}
	}
	if diff := cmp.Diff(map[string]worker.Status{"taken": worker.StatusStopped}, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

func TestSpawnUndo(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	fail := func(err error) func(context.Context, swarm.Spec) error {
		return func(context.Context, swarm.Spec) error { return err }
	}
	for name, c := range map[string]struct {
		arrange func(*hosttest.Rig)
		want    error
	}{
		"the backend refuses":    {func(r *hosttest.Rig) { r.One.BeforeSpawn = fail(boom) }, boom},
		"the plugin ends before": {func(r *hosttest.Rig) { r.One.BeforeSpawn = fail(client.ErrPluginGone) }, client.ErrPluginGone},
		"the plugin ends after":  {func(r *hosttest.Rig) { r.One.AfterSpawn = fail(client.ErrPluginGone) }, client.ErrPluginGone},
		"the workspace plugin ends after": {func(r *hosttest.Rig) {
			r.Tree.AfterCreate = func(context.Context) error { return client.ErrPluginGone }
		}, client.ErrPluginGone},
		"the workspace can't be made": {func(r *hosttest.Rig) { r.Tree.Dir = filepath.Join(r.Tree.Dir, "none") }, os.ErrNotExist},
		"the run directories can't be made": {func(r *hosttest.Rig) {
			_ = os.MkdirAll(r.Dir(), 0o700)
			_ = os.WriteFile(r.StateDir().RunDir(""), nil, 0o600)
		}, nil},
		"worker.json can't be written": {func(r *hosttest.Rig) { r.Tree.AfterCreate = func(context.Context) error { return blockWorkerFile(r) } }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			c.arrange(r)
			req := r.Request("w1", "one")
			hosttest.InWorkspace(&req)
			_, err := r.Spawn().Spawn(t.Context(), req)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if left := r.Leftovers(t); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// blockWorkerFile makes it impossible to write the worker.json of the only
// worker.
func blockWorkerFile(r *hosttest.Rig) error {
	ids, err := r.StateDir().RunDirs()
	if err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(r.StateDir().RunDir(ids[0]), rundir.WorkerFile), 0o700)
}

func TestSpawnInterrupted(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.One.AfterSpawn = func(ctx context.Context, _ swarm.Spec) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	req := r.Request("w1", "one")
	hosttest.InWorkspace(&req)
	if _, err := r.Spawn().Spawn(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left := r.Leftovers(t); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
