package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Worker is a worker of a [Backend]: a file, so that several processes see the same workers.
type Worker struct {
	ID        string
	Spec      swarm.Spec
	State     swarm.State
	Exit      *swarm.Exit
	Survivors []swarm.Process

	Restarts   []swarm.Restarted
	Completion *swarm.Completion
	Paused     bool
}

// Backend is a backend whose workers are files in a directory. Hooks that are nil do nothing.
type Backend struct {
	Dir string

	// BeforeSpawn and AfterSpawn run before and after the worker is made.
	BeforeSpawn, AfterSpawn func(context.Context, swarm.Spec) error
	// BeforeStatus and OnStatus run in each call for a status.
	BeforeStatus func(context.Context) error
	OnStatus     func(Worker)
	// These take the place of what the backend does.
	OnKill   func(context.Context, Worker, swarm.KillOptions) (swarm.KillResult, error)
	OnList   func(each func(swarm.Listed) error) error
	OnInput  func(Worker, swarm.Input) (swarm.InputResult, error)
	OnScreen func(Worker, swarm.ScreenOptions) (swarm.Screen, error)
	OnStats  func(Worker) swarm.Stats
	OnOutput func(context.Context, Worker, swarm.OutputOptions, func(swarm.Output) error) error

	// Refuses is the answer to each of the Checks before a spawn.
	Refuses error
	Checks  []swarm.SpawnCheck

	// order is held by a kill and by a completion, as the shim handles one after the other.
	order sync.Mutex

	mu sync.Mutex
	// Kills are the options of all kills by the worker's name.
	Kills map[string][]swarm.KillOptions
	// Completes are the options of all completions.
	Completes []swarm.KillOptions
	// Sweeps are the workers that Sweep was called with.
	Sweeps []SweepCall
	// Inputs and Signals are what was sent, "worker kind data" and "worker signal mode".
	Inputs, Signals []string
	// AttachEnv is the environment of the last caller who attached.
	AttachEnv []string
	// ExecOptions are those of the last Exec.
	ExecOptions swarm.ExecOptions
	// Sizes are what Resize was asked for: columns and rows.
	Sizes [][2]int
	// CopyOptions are those of the last Copy.
	CopyOptions swarm.CopyOptions
}

// SweepCall holds the names of the workers that [Backend.Sweep] was called with.
type SweepCall struct{ Ended, Running []string }

// NewBackend returns a backend whose workers are in dir.
func NewBackend(dir string) *Backend {
	return &Backend{Dir: dir, Kills: map[string][]swarm.KillOptions{}}
}

// Path returns the file of a worker.
func (b *Backend) Path(id string) string { return filepath.Join(b.Dir, id) }

func (b *Backend) read(h swarm.Handle) (Worker, error) {
	var w Worker
	raw, err := os.ReadFile(b.Path(string(h.Data)))
	if errors.Is(err, fs.ErrNotExist) {
		return w, swarm.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(raw, &w)
	}
	return w, err
}

func (b *Backend) Write(w Worker) error {
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return safefile.Replace(b.Path(w.ID), raw, 0o600)
}

// report acts like a shim after a change of its worker: it writes the status and makes an
// entry in the journal. A killed shim does neither.
func (w Worker) report() error {
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

// End lets the worker of that name end by itself.
func (b *Backend) End(t testing.TB, name string, exit swarm.Exit) {
	t.Helper()
	b.Change(t, name, func(w *Worker) {
		if w.State == swarm.StateRunning {
			w.State, w.Exit = swarm.StateExited, &exit
		}
	})
}

// Change changes the worker of that name.
func (b *Backend) Change(t testing.TB, name string, f func(*Worker)) {
	t.Helper()
	b.order.Lock()
	defer b.order.Unlock()
	for _, w := range b.All(t) {
		if w.Spec.Name == name {
			f(&w)
			// The run directory first: once the backend reports the end, it may go.
			if err := errors.Join(w.report(), b.Write(w)); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no fake worker %s", name)
}

func (b *Backend) All(t testing.TB) []Worker {
	t.Helper()
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var ws []Worker
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

// Alive returns the names of the workers that run.
func (b *Backend) Alive(t testing.TB) []string {
	t.Helper()
	names := []string{}
	for _, w := range b.All(t) {
		if w.State == swarm.StateRunning {
			names = append(names, w.Spec.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if b.BeforeSpawn != nil {
		if err := b.BeforeSpawn(ctx, spec); err != nil {
			return swarm.Handle{}, err
		}
	}
	if err := b.Write(Worker{ID: spec.ID, Spec: spec, State: swarm.StateRunning}); err != nil {
		return swarm.Handle{}, err
	}
	if b.AfterSpawn != nil {
		if err := b.AfterSpawn(ctx, spec); err != nil {
			return swarm.Handle{}, err
		}
	}
	return swarm.Handle{Version: 1, Data: []byte(spec.ID)}, nil
}

func (b *Backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	if b.BeforeStatus != nil {
		if err := b.BeforeStatus(ctx); err != nil {
			return swarm.Status{}, err
		}
	}
	w, err := b.read(h)
	if err != nil {
		return swarm.Status{}, err
	}
	if b.OnStatus != nil {
		b.OnStatus(w)
	}
	return w.status(), nil
}

func (w Worker) status() swarm.Status {
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

func (b *Backend) StatusBatch(ctx context.Context, hs []swarm.Handle) ([]swarm.StatusResult, error) {
	out := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		out[i].Status, out[i].Err = b.Status(ctx, h)
		if errors.Is(out[i].Err, client.ErrPluginGone) {
			return nil, out[i].Err
		}
	}
	return out, nil
}

func (b *Backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	w, err := b.read(h)
	if err != nil {
		return swarm.KillResult{}, err
	}
	b.mu.Lock()
	b.Kills[w.Spec.Name] = append(b.Kills[w.Spec.Name], o)
	b.mu.Unlock()
	if b.OnKill != nil {
		if r, err := b.OnKill(ctx, w, o); err != nil || r.Status.State != swarm.StateUnknown {
			return r, err
		}
	}
	b.order.Lock()
	defer b.order.Unlock()
	if w, err = b.read(h); err != nil {
		return swarm.KillResult{}, err
	}
	if w.State.Active() {
		w.State = swarm.StateExited
		w.Exit = &swarm.Exit{Code: -1, Signal: "SIGTERM", Cause: swarm.CauseKilled, Time: time.Unix(1700000000, 0)}
		if w.Completion != nil {
			w.Exit.Cause = swarm.CauseCompleted
		}
	}
	w.Survivors = nil
	return swarm.KillResult{Status: w.status()}, errors.Join(w.report(), b.Write(w))
}

func (b *Backend) KillBatch(ctx context.Context, items []client.KillItem, each func(int, swarm.KillResult, error)) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var gone error
	for i, item := range items {
		wg.Go(func() {
			r, err := b.Kill(ctx, item.Handle, item.Options)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, client.ErrPluginGone) {
				gone = err
				return
			}
			each(i, r, err)
		})
	}
	wg.Wait()
	return gone
}

func (b *Backend) WaitBatch(ctx context.Context, hs []swarm.Handle, each func(int, swarm.Status, error)) error {
	return swarm.ErrUnsupported
}

func (b *Backend) Sweep(_ context.Context, ended, running []swarm.Handle) ([]string, error) {
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
	b.Sweeps = append(b.Sweeps, SweepCall{names(ended), names(running)})
	return []string{"session s stays"}, nil
}

func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if b.OnOutput != nil {
		w, err := b.read(h)
		if err != nil {
			return err
		}
		return b.OnOutput(ctx, w, o, each)
	}
	return each(swarm.Output{Data: []byte("output of " + string(h.Data))})
}

func (b *Backend) Find(_ context.Context, l swarm.Lookup) (swarm.Handle, error) {
	h := swarm.Handle{Version: 1, Data: []byte(l.ID)}
	_, err := b.read(h)
	return h, err
}

func (b *Backend) CheckSpawn(_ context.Context, c swarm.SpawnCheck) error {
	b.Checks = append(b.Checks, c)
	return b.Refuses
}

// List calls each with all workers in the directory, whichever host made them.
func (b *Backend) List(_ context.Context, each func(swarm.Listed) error) error {
	if b.OnList != nil {
		return b.OnList(each)
	}
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".tmp" {
			continue // just being written
		}
		h := swarm.Handle{Version: 1, Data: []byte(e.Name())}
		w, err := b.read(h)
		if err != nil {
			return err
		}
		if err := each(w.listed(h)); err != nil {
			return err
		}
	}
	return nil
}

func (w Worker) listed(h swarm.Handle) swarm.Listed {
	spec := w.Spec
	spec.Env, spec.Owner, spec.Local = nil, nil, nil
	return swarm.Listed{Spec: spec, Handle: h, Status: w.status()}
}

func (b *Backend) Complete(_ context.Context, h swarm.Handle, summary string, o swarm.KillOptions) error {
	b.order.Lock()
	defer b.order.Unlock()
	b.Completes = append(b.Completes, o)
	w, err := b.read(h)
	if err != nil {
		return err
	}
	if w.State != swarm.StateRunning || w.Completion != nil {
		return swarm.ErrTooLate
	}
	w.Completion = &swarm.Completion{Summary: summary, Time: time.Unix(1700000000, 0)}
	return b.Write(w)
}

// WatchBatch looks often: its workers are files, which other processes change.
func (b *Backend) WatchBatch(ctx context.Context, hs []swarm.Handle, each func(int, swarm.Status, error)) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	last := make([]*swarm.Status, len(hs))
	for open := len(hs); open > 0; {
		open = 0
		for i, h := range hs {
			if last[i] != nil && !last[i].State.Active() {
				continue
			}
			w, err := b.read(h)
			if err != nil {
				return err
			}
			s := w.status()
			if last[i] == nil || !reflect.DeepEqual(*last[i], s) {
				last[i] = &s
				each(i, s, nil)
			}
			if s.State.Active() {
				open++
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// Worker returns a worker of the backend by its name.
func (b *Backend) Worker(t testing.TB, name string) Worker {
	t.Helper()
	for _, w := range b.All(t) {
		if w.Spec.Name == name {
			return w
		}
	}
	t.Fatalf("no fake worker %s", name)
	return Worker{}
}
