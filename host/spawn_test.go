package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSpawn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var got swarm.Spec
	r.one.beforeSpawn = func(_ context.Context, s swarm.Spec) error {
		got = s
		return nil
	}
	w := r.spawn(t, "w1", "one", func(q *SpawnRequest) {
		q.Env = []string{"A=1", "SWARM_SECRET=x"}
		q.Tags = []string{"t", "t"}
		q.Options = map[string]string{"session": "s"}
	})
	if w.Status != StatusRunning || w.PID != 4242 {
		t.Errorf("spawned %+v, want it running with its pid", w)
	}
	want := swarm.Spec{
		ID: w.ID, Name: "w1", Command: []string{"sleep", "9"}, Dir: r.cwd,
		Env:     []string{"A=1", "SWARM_SECRET=x", "SWARM_WORKER=w1", "SWARM_WORKER_ID=" + w.ID, "SWARM_DIR=" + r.opts.Dir},
		Tags:    []string{"t"},
		Options: map[string]string{"session": "s"},
		Kill:    DefaultKill(),
		Local: &swarm.Local{
			RunDir: r.dir.RunDir(w.ID), StateDir: r.opts.Dir, Shim: filepath.Join(r.root, "bin", backend.ShimName),
			HostEnv: []string{"HOME=/home/me", "PLUGIN_MINE=2"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the backend was asked for (-want +got):\n%s", diff)
	}
	file := filepath.Join(r.dir.RunDir(w.ID), rundir.WorkerFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "SWARM_") || strings.Contains(string(text), "HOME") {
		t.Errorf("%s holds what it must not:\n%s", rundir.WorkerFile, text)
	}
	for path, mode := range map[string]os.FileMode{
		r.opts.Dir: 0o700, r.dir.RunDir(w.ID): 0o700, file: 0o600, filepath.Dir(r.dir.LockPath(w.ID)): 0o700, filepath.Join(r.opts.Dir, "swarm.db"): 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, mode)
		}
	}
}

func TestSpawnElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var got swarm.Spec
	r.two.beforeSpawn = func(_ context.Context, s swarm.Spec) error {
		got = s
		return nil
	}
	r.spawn(t, "far", "two", func(q *SpawnRequest) { q.Dir = "/not/on/this/machine" })
	if got.Local != nil {
		t.Errorf("a backend that is not local was told %+v", got.Local)
	}
}

func TestSpawnInWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.spawn(t, "w1", "one", withTree)
	path := filepath.Join(r.tree.dir, "w1")
	if w.Dir != path || w.Workspace == nil || w.Workspace.Path != path || w.Workspace.Base != r.cwd {
		t.Errorf("spawned in %q with %+v, want in %q", w.Dir, w.Workspace, path)
	}
	f, err := r.dir.ReadWorkerFile(w.ID)
	if err != nil || f.Workspace == nil || f.Workspace.Path != path {
		t.Errorf("worker.json: %+v, %v", f, err)
	}
}

func TestSpawnRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "taken", "one")
	if _, err := r.Kill(t.Context(), Selection{Names: []string{"taken"}}, KillRequest{}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*SpawnRequest)
		want   error
		text   string
	}{
		"taken, though stopped": {func(q *SpawnRequest) { q.Name = "taken" }, ErrExists, "worker 'taken' already exists"},
		"name":                  {func(q *SpawnRequest) { q.Name = "-x" }, swarm.ErrInvalidSpec, "invalid worker name '-x'"},
		"command":               {func(q *SpawnRequest) { q.Command = nil }, swarm.ErrInvalidSpec, "no command given"},
		"environment":           {func(q *SpawnRequest) { q.Env = []string{"FOO"} }, swarm.ErrInvalidSpec, "malformed environment entry 'FOO'"},
		"directory":             {func(q *SpawnRequest) { q.Dir = "/nowhere/at/all" }, swarm.ErrInvalidSpec, "no such directory: /nowhere/at/all"},
		"NUL":                   {func(q *SpawnRequest) { q.Command = []string{"a\x00b"} }, swarm.ErrInvalidSpec, "NUL byte"},
		"backend":               {func(q *SpawnRequest) { q.Backend = "ghost" }, nil, "no such backend 'ghost'"},
		"kind":                  {func(q *SpawnRequest) { q.Backend = "worktree" }, swarm.ErrInvalidSpec, "not a backend plugin"},
		"retention":             {func(q *SpawnRequest) { q.Retain = "soon" }, swarm.ErrInvalidSpec, "invalid retention"},
		"tag":                   {func(q *SpawnRequest) { q.Tags = []string{""} }, swarm.ErrInvalidSpec, "invalid tag"},
	} {
		req := r.request("fresh", "one")
		c.change(&req)
		_, err := r.Spawn(t.Context(), req)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want %q", name, err, c.text)
		}
	}
	if diff := cmp.Diff(map[string]WorkerStatus{"taken": StatusStopped}, r.summary(t)); diff != "" {
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
		arrange func(*rig)
		want    error
	}{
		"the backend refuses":               {func(r *rig) { r.one.beforeSpawn = fail(boom) }, boom},
		"the plugin ends before":            {func(r *rig) { r.one.beforeSpawn = fail(plugin.ErrPluginGone) }, plugin.ErrPluginGone},
		"the plugin ends after":             {func(r *rig) { r.one.afterSpawn = fail(plugin.ErrPluginGone) }, plugin.ErrPluginGone},
		"the workspace plugin ends after":   {func(r *rig) { r.tree.afterCreate = func(context.Context) error { return plugin.ErrPluginGone } }, plugin.ErrPluginGone},
		"the workspace can't be made":       {func(r *rig) { r.tree.dir = filepath.Join(r.tree.dir, "none") }, os.ErrNotExist},
		"the run directories can't be made": {func(r *rig) { _ = os.MkdirAll(r.opts.Dir, 0o700); _ = os.WriteFile(r.dir.RunDir(""), nil, 0o600) }, nil},
		"worker.json can't be written":      {func(r *rig) { r.tree.afterCreate = func(context.Context) error { return blockWorkerFile(r) } }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.arrange(r)
			req := r.request("w1", "one")
			withTree(&req)
			_, err := r.Spawn(t.Context(), req)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if left := r.leftovers(t); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// blockWorkerFile makes it impossible to write the worker.json of the only
// worker.
func blockWorkerFile(r *rig) error {
	ids, err := r.dir.RunDirs()
	if err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(r.dir.RunDir(ids[0]), rundir.WorkerFile), 0o700)
}

func TestSpawnInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.one.afterSpawn = func(ctx context.Context, _ swarm.Spec) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	req := r.request("w1", "one")
	withTree(&req)
	if _, err := r.Spawn(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left := r.leftovers(t); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
