package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rig is a host on fakes: backends one and two, workspaces worktree.
type rig struct {
	*Host
	one, two *fakeBackend
	tree     *fakeWorkspace
	plugins  *fakePlugins
	// root holds everything, cwd is a directory to work in.
	root, cwd string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return rigIn(t, t.TempDir())
}

// rigIn makes a host of what is in root, another one of the same state directory
// if there was one.
func rigIn(t testing.TB, root string) *rig {
	t.Helper()
	r := &rig{root: root, cwd: filepath.Join(root, "cwd")}
	for _, dir := range []string{"one", "two", "trees", "cwd", "bin"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"swarm", backend.ShimName, "swarm-plugin-one", "swarm-plugin-two", "swarm-plugin-worktree"} {
		if err := os.WriteFile(filepath.Join(root, "bin", name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Open(t.Context(), Options{
		Dir:        filepath.Join(root, "state"),
		Executable: filepath.Join(root, "bin", "swarm"),
		Env:        []string{"HOME=/home/me", "SWARM_TOKEN=secret", "SWARM_WORKER_ID=outer", "PLUGIN_MIN_PORT=1", "PLUGIN_MINE=2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Host = h
	r.one, r.two = newFakeBackend(filepath.Join(root, "one")), newFakeBackend(filepath.Join(root, "two"))
	r.tree = &fakeWorkspace{dir: filepath.Join(root, "trees")}
	ok := func(context.Context) (string, error) { return "", nil }
	caps := []swarm.Capability{swarm.CapFind, swarm.CapSweep, swarm.CapOutput, swarm.CapFindWorkspace}
	r.plugins = &fakePlugins{
		peers: map[string]*backend.Peer{
			"one":      {Info: plugin.Info{Name: "one", Kind: plugin.KindBackend, Local: true, Capabilities: caps}, Backend: r.one, Report: ok},
			"two":      {Info: plugin.Info{Name: "two", Kind: plugin.KindBackend, Capabilities: append(caps, swarm.CapList)}, Backend: r.two, Report: ok},
			"worktree": {Info: plugin.Info{Name: "worktree", Kind: plugin.KindWorkspace, Capabilities: caps}, Workspace: r.tree, Report: ok},
		},
		errs: map[string]error{}, started: map[string]int{}, restarts: map[string]int{},
	}
	h.usePlugins(r.plugins)
	return r
}

// request is a spawn that works.
// setEnv changes the environment of the caller.
func (r *rig) setEnv(env ...string) {
	r.opts.Env = env
	r.identify()
}

func (r *rig) request(name, backend string) SpawnRequest {
	return SpawnRequest{Name: name, Backend: backend, Command: []string{"sleep", "9"}, Dir: r.cwd}
}

func (r *rig) spawn(t *testing.T, name, backend string, change ...func(*SpawnRequest)) Worker {
	t.Helper()
	req := r.request(name, backend)
	for _, f := range change {
		f(&req)
	}
	w, err := r.Spawn(t.Context(), req)
	if err != nil {
		t.Fatalf("spawn %s: %v", name, err)
	}
	return w
}

func withTree(req *SpawnRequest) { req.Workspace = &WorkspaceRequest{Plugin: "worktree"} }

// get returns a worker as it is now.
func (r *rig) get(t *testing.T, name string) Worker {
	t.Helper()
	ws, _, err := r.Workers(t.Context(), Selection{Names: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return ws[0]
}

// summary maps names to statuses.
func summary(ws []Worker) map[string]WorkerStatus {
	m := map[string]WorkerStatus{}
	for _, w := range ws {
		m[w.Name] = w.Status
	}
	return m
}

func (r *rig) summary(t *testing.T) map[string]WorkerStatus {
	t.Helper()
	ws, _, err := r.Workers(t.Context(), Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return summary(ws)
}

// gone reports whether a file does not exist.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
