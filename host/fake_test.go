package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fakeWorker is a worker of a fake backend: a file, so that several processes
// see the same ones.
type fakeWorker struct {
	ID        string
	Spec      swarm.Spec
	State     swarm.State
	Exit      *swarm.Exit
	Survivors []swarm.Process

	Restarts   []swarm.Restarted
	Completion *swarm.Completion
	Paused     bool
}

// fakeBackend is a backend whose workers are files in a directory. Hooks that
// are nil do nothing.
type fakeBackend struct {
	dir string

	// beforeSpawn and afterSpawn surround the making of the worker.
	beforeSpawn, afterSpawn func(context.Context, swarm.Spec) error
	beforeStatus            func(context.Context) error
	onStatus                func(fakeWorker)
	// onKill takes the place of the kill.
	onKill func(context.Context, fakeWorker, swarm.KillOptions) (swarm.KillResult, error)

	// refuses is the answer to each of the checks.
	refuses error
	checks  []swarm.SpawnCheck

	// onList takes the place of List.
	onList func(each func(swarm.Listed) error) error

	// order is what a shim does: of a kill and a completion one is first.
	order sync.Mutex

	mu sync.Mutex
	// kills are the options of all kills by the worker's name.
	kills map[string][]swarm.KillOptions
	// sweeps are the names that Sweep was called with.
	sweeps []sweepCall
	interactions
}

type sweepCall struct{ Ended, Running []string }

func newFakeBackend(dir string) *fakeBackend {
	return &fakeBackend{dir: dir, kills: map[string][]swarm.KillOptions{}}
}

func (b *fakeBackend) path(id string) string { return filepath.Join(b.dir, id) }

func (b *fakeBackend) read(h swarm.Handle) (fakeWorker, error) {
	var w fakeWorker
	raw, err := os.ReadFile(b.path(string(h.Data)))
	if errors.Is(err, fs.ErrNotExist) {
		return w, swarm.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	return w, err
}

func (b *fakeBackend) write(w fakeWorker) error {
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return safefile.Replace(b.path(w.ID), raw, 0o600)
}

// tell acts like a shim after a change of its worker: it writes the status and makes an
// entry in the journal. A killed shim does neither.
func (w fakeWorker) tell() error {
	s := w.status()
	if w.Spec.Local == nil || w.State == swarm.StateLost || w.State == swarm.StateRunning && s.Restarts == 0 && s.Completion == nil {
		return nil
	}
	st := rundir.Status{Version: rundir.StatusVersion, ID: w.ID, State: rundir.StateRunning, Restarts: s.Restarts}
	ns := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixNano()
	}
	for _, r := range s.LastRestarts {
		st.LastRestarts = append(st.LastRestarts, rundir.Restarted{Number: r.Number, TimeNS: ns(r.Time), Code: r.Code, Signal: r.Signal})
	}
	if c := s.Completion; c != nil {
		st.Completion = &rundir.Completion{Summary: c.Summary, TimeNS: ns(c.Time)}
	}
	entry := rundir.JournalEntry(w.ID, 1+s.Restarts)
	if w.State == swarm.StateExited {
		entry = rundir.JournalEntry(w.ID, 0)
		st.State = rundir.StateEnded
	}
	if e := s.Exit; e != nil {
		st.EndedNS, st.Code, st.Signal, st.Cause, st.Reason = ns(e.Time), e.Code, e.Signal, e.Cause, e.Reason
	}
	dir := w.Spec.Local.RunDir
	err := safefile.Replace(filepath.Join(dir, rundir.StatusFile), rundir.EncodeStatus(st), 0o600)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, rundir.JournalLink, entry), nil, 0o600)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its run directory is gone
	}
	return err
}

// end lets the worker of that name end by itself.
func (b *fakeBackend) end(t *testing.T, name string, exit swarm.Exit) {
	t.Helper()
	b.change(t, name, func(w *fakeWorker) {
		if w.State == swarm.StateRunning {
			w.State, w.Exit = swarm.StateExited, &exit
		}
	})
}

func (b *fakeBackend) change(t *testing.T, name string, f func(*fakeWorker)) {
	t.Helper()
	b.order.Lock()
	defer b.order.Unlock()
	for _, w := range b.all(t) {
		if w.Spec.Name == name {
			f(&w)
			// The run directory first: once the backend tells of the end, it may go.
			if err := errors.Join(w.tell(), b.write(w)); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no fake worker %s", name)
}

func (b *fakeBackend) all(t *testing.T) []fakeWorker {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	var ws []fakeWorker
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".tmp" {
			continue // just being written
		}
		w, err := b.read(swarm.Handle{Data: []byte(e.Name())})
		if err != nil {
			t.Fatal(err)
		}
		ws = append(ws, w)
	}
	return ws
}

// alive are the names of the workers that run.
func (b *fakeBackend) alive(t *testing.T) []string {
	t.Helper()
	names := []string{}
	for _, w := range b.all(t) {
		if w.State == swarm.StateRunning {
			names = append(names, w.Spec.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (b *fakeBackend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if b.beforeSpawn != nil {
		if err := b.beforeSpawn(ctx, spec); err != nil {
			return swarm.Handle{}, err
		}
	}
	if err := b.write(fakeWorker{ID: spec.ID, Spec: spec, State: swarm.StateRunning}); err != nil {
		return swarm.Handle{}, err
	}
	if b.afterSpawn != nil {
		if err := b.afterSpawn(ctx, spec); err != nil {
			return swarm.Handle{}, err
		}
	}
	return swarm.Handle{Version: 1, Data: []byte(spec.ID)}, nil
}

func (b *fakeBackend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	if b.beforeStatus != nil {
		if err := b.beforeStatus(ctx); err != nil {
			return swarm.Status{}, err
		}
	}
	w, err := b.read(h)
	if err != nil {
		return swarm.Status{}, err
	}
	if b.onStatus != nil {
		b.onStatus(w)
	}
	return w.status(), nil
}

func (w fakeWorker) status() swarm.Status {
	s := swarm.Status{
		State: w.State, Exit: w.Exit, Survivors: w.Survivors, Completion: w.Completion, Paused: w.Paused,
		LastRestarts: w.Restarts[max(0, len(w.Restarts)-swarm.MaxRestarts):],
	}
	if n := len(w.Restarts); n > 0 {
		s.Restarts = w.Restarts[n-1].Number
	}
	if w.State == swarm.StateRunning {
		s.PID = 4242
	}
	return s
}

func (b *fakeBackend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	out := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		out[i].Status, out[i].Err = b.Status(ctx, h)
		if errors.Is(out[i].Err, plugin.ErrPluginGone) {
			return nil, out[i].Err
		}
	}
	return out, nil
}

func (b *fakeBackend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	w, err := b.read(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	b.mu.Lock()
	b.kills[w.Spec.Name] = append(b.kills[w.Spec.Name], o)
	b.mu.Unlock()
	if b.onKill != nil {
		if r, err := b.onKill(ctx, w, o); err != nil || r.Status.State != swarm.StateUnknown {
			return r, err
		}
	}
	b.order.Lock()
	defer b.order.Unlock()
	if w, err = b.read(h); err != nil {
		return swarm.KillResult{}, err
	}
	if w.State == swarm.StateRunning {
		w.State = swarm.StateExited
		w.Exit = &swarm.Exit{Code: -1, Signal: "SIGTERM", Cause: swarm.CauseKilled, Time: time.Unix(1700000000, 0)}
		if w.Completion != nil {
			w.Exit.Cause = swarm.CauseCompleted
		}
	}
	w.Survivors = nil
	return swarm.KillResult{Status: w.status()}, errors.Join(w.tell(), b.write(w))
}

func (b *fakeBackend) KillBatch(ctx context.Context, items []plugin.KillItem, each func(int, swarm.KillResult, error)) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var gone error
	for i, item := range items {
		wg.Go(func() {
			r, err := b.Kill(ctx, item.Handle, item.Options)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, plugin.ErrPluginGone) {
				gone = err
				return
			}
			each(i, r, err)
		})
	}
	wg.Wait()
	return gone
}

func (b *fakeBackend) WaitBatch(ctx context.Context, hs []swarm.Handle, each func(int, swarm.Status, error)) error {
	return swarm.ErrUnsupported
}

func (b *fakeBackend) Sweep(_ context.Context, ended, running []swarm.Handle) ([]string, error) {
	names := func(hs []swarm.Handle) []string {
		out := []string{}
		for _, h := range hs {
			w, err := b.read(h)
			if err != nil {
				w.Spec.Name = fmt.Sprint(err)
			}
			out = append(out, w.Spec.Name)
		}
		slices.Sort(out)
		return out
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweeps = append(b.sweeps, sweepCall{names(ended), names(running)})
	return []string{"session s stays"}, nil
}

func (b *fakeBackend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if b.onOutput != nil {
		w, err := b.read(h)
		if err != nil {
			return err
		}
		return b.onOutput(ctx, w, o, each)
	}
	return each(swarm.Output{Data: []byte("output of " + string(h.Data))})
}

func (b *fakeBackend) Find(_ context.Context, l swarm.Lookup) (swarm.Handle, error) {
	h := swarm.Handle{Version: 1, Data: []byte(l.ID)}
	_, err := b.read(h)
	return h, err
}

// fakeWorkspace makes plain directories in dir.
type fakeWorkspace struct {
	dir string
	// afterCreate runs when the directory is there.
	afterCreate func(context.Context) error
	// afterRemove runs when the directory is gone.
	afterRemove func() error
	kept        *swarm.Kept
	rescues     []swarm.Rescue
	// refuses is the answer to each of the checks.
	refuses error
	checks  []swarm.WorkspaceCheck
}

func (f *fakeWorkspace) ref(spec swarm.WorkspaceSpec) swarm.WorkspaceRef {
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: filepath.Join(f.dir, spec.Name), Branch: spec.Branch, Base: spec.Base}
}

func (f *fakeWorkspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	ref := f.ref(spec)
	if err := os.Mkdir(ref.Path, 0o700); err != nil {
		return ref, err
	}
	if f.afterCreate != nil {
		if err := f.afterCreate(ctx); err != nil {
			return ref, err
		}
	}
	return ref, nil
}

func (f *fakeWorkspace) CheckCreate(_ context.Context, c swarm.WorkspaceCheck) error {
	f.checks = append(f.checks, c)
	return f.refuses
}

func (f *fakeWorkspace) Inspect(_ context.Context, _ swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if f.kept != nil && f.kept.Forceable && o.Force {
		return swarm.WorkspaceState{}, nil
	}
	return swarm.WorkspaceState{Kept: f.kept}, nil
}

func (f *fakeWorkspace) Remove(_ context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	if f.kept != nil && (!o.Force || !f.kept.Forceable) {
		return swarm.RemoveResult{Kept: f.kept}, nil
	}
	err := os.RemoveAll(ref.Path)
	if err == nil && f.afterRemove != nil {
		err = f.afterRemove()
	}
	return swarm.RemoveResult{Rescues: f.rescues}, err
}

func (f *fakeWorkspace) FindWorkspace(_ context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	ref := f.ref(spec)
	if _, err := os.Stat(ref.Path); err != nil {
		return ref, swarm.ErrNotFound
	}
	return ref, nil
}

// fakePlugins starts fakes.
type fakePlugins struct {
	mu      sync.Mutex
	peers   map[string]*backend.Peer
	errs    map[string]error
	started map[string]int
	// ahead are those that Start was called for.
	ahead    []string
	restarts map[string]int
}

func (f *fakePlugins) Start(entries ...catalog.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range entries {
		f.ahead = append(f.ahead, e.Name)
	}
}

func (f *fakePlugins) Get(_ context.Context, e catalog.Entry) (*backend.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started[e.Name]++
	if err := f.errs[e.Name]; err != nil {
		return nil, err
	}
	return f.peers[e.Name], nil
}

func (f *fakePlugins) Restart(_ context.Context, e catalog.Entry, _ *backend.Peer) (*backend.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restarts[e.Name]++
	return f.peers[e.Name], nil
}

func (f *fakePlugins) Died(context.Context, *backend.Peer) error { return nil }
func (f *fakePlugins) Close()                                    {}
func (f *fakePlugins) Leave()                                    {}
func (f *fakePlugins) Reap()                                     {}

// usePlugins has the host start the plugins of a test.
func (h *Host) usePlugins(s backend.Starter) { h.plugins.Starter = s }
