package hosttest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Rig is a host on fakes: the backends "one", which is local, and "two", which is not, and the
// workspaces "workspace".
type Rig struct {
	*host.Host
	// Options are those that the host was opened with.
	Options  host.Options
	One, Two *Backend
	Tree     *Workspace
	Starter  *Starter
	// Root is a directory of the test that holds all others; WorkDir is one to work in.
	Root, WorkDir string
}

// New returns a host with a state directory of its own, which does not exist yet.
func New(t testing.TB) *Rig {
	t.Helper()
	return NewIn(t, t.TempDir())
}

// NewIn returns a host of the state directory in root, which other rigs may use too. The workers of
// backends are files in root, so all rigs there have the same workers.
func NewIn(t testing.TB, root string) *Rig {
	t.Helper()
	r := &Rig{Root: root, WorkDir: filepath.Join(root, "cwd")}
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
	r.One, r.Two = NewBackend(filepath.Join(root, "one")), NewBackend(filepath.Join(root, "two"))
	r.Tree = &Workspace{Dir: filepath.Join(root, "trees")}
	ok := func(context.Context) (string, error) { return "", nil }
	caps := []swarm.Capability{swarm.CapFind, swarm.CapSweep, swarm.CapOutput, swarm.CapFindWorkspace}
	r.Starter = &Starter{
		Peers: map[string]*backend.Peer{
			"one":      {Info: client.Info{Name: "one", Kind: client.KindBackend, Local: true, Capabilities: caps}, Backend: r.One, Report: ok},
			"two":      {Info: client.Info{Name: "two", Kind: client.KindBackend, Capabilities: append(caps, swarm.CapList)}, Backend: r.Two, Report: ok},
			"worktree": {Info: client.Info{Name: "worktree", Kind: client.KindWorkspace, Capabilities: caps}, Workspace: r.Tree, Report: ok},
		},
		Errors: map[string]error{}, Started: map[string]int{}, Restarts: map[string]int{},
	}
	r.Options = host.Options{
		Dir:        filepath.Join(root, "state"),
		Executable: filepath.Join(root, "bin", "swarm"),
		Env:        []string{"HOME=/home/me", "SWARM_TOKEN=secret", "SWARM_WORKER_ID=outer", "PLUGIN_MIN_PORT=1", "PLUGIN_MINE=2"},
		Starter:    r.Starter,
		Workspace:  "worktree",
	}
	r.open(t)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *Rig) open(t testing.TB) {
	t.Helper()
	h, err := host.Open(t.Context(), r.Options)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = h
}

// Configure closes the host and opens it with other options.
func (r *Rig) Configure(t testing.TB, change func(*host.Options)) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	change(&r.Options)
	r.open(t)
}

// SetEnv gives the host a caller with that environment.
func (r *Rig) SetEnv(t testing.TB, env ...string) {
	t.Helper()
	r.Configure(t, func(o *host.Options) { o.Env = env })
}

// UsePlugins has the host use the plugins of another rig.
func (r *Rig) UsePlugins(t testing.TB, other *Rig) {
	t.Helper()
	r.One, r.Two, r.Starter = other.One, other.Two, other.Starter
	r.Configure(t, func(o *host.Options) { o.Starter = r.Starter })
}

// WithEnv returns another host of the same state directory and plugins, whose caller has that
// environment.
func (r *Rig) WithEnv(t testing.TB, env ...string) *Rig {
	t.Helper()
	other := NewIn(t, r.Root)
	other.Options.Env = env
	other.UsePlugins(t, r)
	return other
}

// Inside returns another host of the same state directory and plugins, whose caller runs in a worker.
func (r *Rig) Inside(t testing.TB, w worker.Worker) *Rig {
	t.Helper()
	return r.WithEnv(t, swarm.EnvWorkerID+"="+w.ID)
}

// Announce adds capabilities to those of a plugin.
func (r *Rig) Announce(name string, caps ...swarm.Capability) {
	p := r.Starter.Peers[name]
	p.Capabilities = append(slices.Clip(p.Capabilities), caps...)
}

func (r *Rig) StateDir() statedir.Dir { return statedir.Dir(r.Dir()) }

// Backends returns the plugins as a package below the host gets them.
func (r *Rig) Backends() *backend.Plugins {
	return backend.New(backend.Options{
		Dir: r.StateDir(), Logger: hclog.NewNullLogger(), Starter: r.Starter, DefaultWorkspace: "worktree",
		Catalog: catalog.New(catalog.Options{Dir: r.Dir(), Executable: r.Options.Executable, Env: r.Options.Env}),
	})
}

// WantNoLocks fails the test if a file of a lock is left.
func (r *Rig) WantNoLocks(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(r.StateDir().LockPath(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left: %s", e.Name())
	}
}
