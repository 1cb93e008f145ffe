package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func aSpec(t *testing.T) swarm.Spec {
	t.Helper()
	return swarm.Spec{ID: "id", Name: "w", Command: []string{"true"}, Local: &swarm.Local{RunDir: t.TempDir()}}
}

func TestSpawnCarriesLargeEnvironments(t *testing.T) {
	t.Parallel()
	spec := aSpec(t)
	for i := range 6 << 10 {
		spec.Local.HostEnv = append(spec.Local.HostEnv, fmt.Sprintf("V%d=%s", i, strings.Repeat("x", 1<<10)))
	}
	spec.Env = spec.Local.HostEnv
	var got swarm.Spec
	b := backendOf(t, stub{spawn: func(_ context.Context, s swarm.Spec) (swarm.Handle, error) {
		got = s
		return swarm.Handle{Version: 1, Data: []byte("h")}, nil
	}})
	if _, err := b.Spawn(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec, got); diff != "" {
		t.Errorf("(-sent +got):\n%s", diff[:min(len(diff), 2000)])
	}
}

func TestSpawnLocalForLocalBackendsOnly(t *testing.T) {
	t.Parallel()
	var got *swarm.Local
	b := stub{spawn: func(_ context.Context, s swarm.Spec) (swarm.Handle, error) {
		got = s.Local
		return swarm.Handle{Version: 1, Data: []byte("h")}, nil
	}}
	spec := aSpec(t)
	spec.Local.HostEnv = []string{"A=1", "SWARM_TOKEN=secret", "PLUGIN_CLIENT_CERT=x", "PLUGIN_OTHER=mine"}

	if _, err := backendOf(t, b).Spawn(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if got == nil || !cmp.Equal(got.HostEnv, []string{"A=1", "PLUGIN_OTHER=mine"}) {
		t.Errorf("a local backend got %+v", got)
	}
	if len(spec.Local.HostEnv) != 4 {
		t.Error("the caller's spec was changed")
	}

	remote := pluginOf(b)
	remote.Local = false
	if _, err := connectInside(t, remote).Backend().Spawn(t.Context(), spec); err != nil || got != nil {
		t.Errorf("a backend that is not local got %+v, error %v", got, err)
	}

	spec.Local = nil
	if _, err := backendOf(t, b).Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a local backend without a run directory: %v", err)
	}
	spec = aSpec(t)
	spec.Command = nil
	if _, err := backendOf(t, b).Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("no command: %v", err)
	}
}

// TestSpawnThatCannotBeHandedOver: on an error nothing is left running, whichever side made
// the error.
func TestSpawnThatCannotBeHandedOver(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]swarm.Handle{
		"too large": {Version: 1, Data: make([]byte, swarm.MaxHandle+1)},
		"too late":  {Version: 1, Data: []byte("h")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		killed := make(chan swarm.KillOptions, 1)
		b := backendOf(t, stub{
			spawn: func(in context.Context, _ swarm.Spec) (swarm.Handle, error) {
				if name == "too late" {
					cancel()
					<-in.Done()
				}
				return handle, nil
			},
			kill: func(ctx context.Context, _ swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
				if ctx.Err() != nil {
					t.Errorf("%s: the undo was given a context that has ended", name)
				}
				killed <- o
				return swarm.KillResult{}, nil
			},
		})
		if _, err := b.Spawn(ctx, aSpec(t)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if o := <-killed; !o.Force {
			t.Errorf("%s: the worker was killed with %+v", name, o)
		}
	}
}

// TestFindAfterUndo: the plugin of a host that was killed still undoes its Spawn while the next
// host asks another plugin for the worker, which must not be found then.
func TestFindAfterUndo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	undoing, done := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	b := finder{
		stub: stub{
			spawn: func(in context.Context, _ swarm.Spec) (swarm.Handle, error) {
				cancel()
				<-in.Done()
				return swarm.Handle{Version: 1}, nil
			},
			kill: func(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
				close(undoing)
				<-done
				ended.Store(true)
				return swarm.KillResult{}, nil
			},
		},
		find: func(context.Context, swarm.Lookup) (swarm.Handle, error) {
			if !ended.Load() {
				return swarm.Handle{Version: 1}, nil
			}
			return swarm.Handle{}, swarm.ErrNotFound
		},
	}
	spec := aSpec(t)
	lookup := swarm.Lookup{ID: spec.ID, Local: spec.Local}
	killed, next := backendOf(t, b), backendOf(t, b)
	go func() { _, _ = killed.Spawn(ctx, spec) }()
	<-undoing
	short, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if h, err := next.Find(short, lookup); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is undone: %v, %v", h, err)
	}
	close(done)
	if h, err := next.Find(t.Context(), lookup); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("afterwards: %v, %v", h, err)
	}
	if h, err := next.Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrExists) {
		t.Errorf("a Spawn that comes late: %v, %v", h, err)
	}
	if _, err := os.Lstat(filepath.Join(spec.Local.RunDir, "spawning")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

// TestFindEndsUndone: the plugin of a host that was killed left before it had undone its Spawn.
func TestFindEndsUndone(t *testing.T) {
	t.Parallel()
	var kills int
	fails := errors.New("it hangs")
	b := backendOf(t, finder{
		stub: stub{
			kill: func(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
				if kills++; kills == 1 {
					return swarm.KillResult{}, fails
				}
				return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited}}, nil
			},
		},
		find: func(context.Context, swarm.Lookup) (swarm.Handle, error) { return swarm.Handle{Version: 1}, nil },
	})
	spec := aSpec(t)
	lookup := swarm.Lookup{ID: spec.ID, Local: spec.Local}
	if _, err := b.Find(t.Context(), lookup); err != nil || kills != 0 {
		t.Errorf("before: %v, %d kills", err, kills)
	}
	if err := os.Mkdir(filepath.Join(spec.Local.RunDir, "undone"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Find(t.Context(), lookup); !errors.Is(err, swarm.ErrUnavailable) || errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("it can't be ended: %v", err)
	}
	if _, err := b.Find(t.Context(), lookup); !errors.Is(err, swarm.ErrNotFound) || kills != 2 {
		t.Errorf("it is ended: %v, %d kills", err, kills)
	}
}

// TestSpawnCancelledAsItEnds: a host that is killed in the instant in which its Spawn ends. The
// next host finds the worker then, or it is ended; it is never ended after it was found.
func TestSpawnCancelledAsItEnds(t *testing.T) {
	t.Parallel()
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		var ended atomic.Bool
		b := finder{
			stub: stub{
				spawn: func(context.Context, swarm.Spec) (swarm.Handle, error) {
					go cancel()
					for began := time.Now(); time.Since(began) < time.Duration(i)*time.Microsecond; {
						// No timer is as exact.
					}
					return swarm.Handle{Version: 1}, nil
				},
				kill: func(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
					ended.Store(true)
					return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited}}, nil
				},
			},
			find: func(context.Context, swarm.Lookup) (swarm.Handle, error) {
				if ended.Load() {
					return swarm.Handle{}, swarm.ErrNotFound
				}
				return swarm.Handle{Version: 1}, nil
			},
		}
		spec := aSpec(t)
		lookup := swarm.Lookup{ID: spec.ID, Local: spec.Local}
		backend := backendOf(t, b)
		_, _ = backend.Spawn(ctx, spec)
		_, first := backend.Find(t.Context(), lookup)
		for range 3 {
			_, later := backend.Find(t.Context(), lookup)
			if (first == nil) != (later == nil) || (first == nil) == ended.Load() {
				t.Fatalf("after %d µs: found at first: %v, later: %v; ended: %v", i, first, later, ended.Load())
			}
		}
	}
}

type finder struct {
	stub
	find func(context.Context, swarm.Lookup) (swarm.Handle, error)
}

func (f finder) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	return f.find(ctx, l)
}

// TestPanics: a panic of one call is the error of that call.
func TestPanics(t *testing.T) {
	t.Parallel()
	b := backendOf(t, stub{
		spawn: func(context.Context, swarm.Spec) (swarm.Handle, error) { panic("oh") },
		status: func(_ context.Context, h swarm.Handle) (swarm.Status, error) {
			if h.Version == 13 {
				panic(errors.New("oh"))
			}
			return swarm.Status{State: swarm.StateRunning}, nil
		},
		kill: func(_ context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
			return swarm.KillResult{Signal: string(h.Data[7])}, nil
		},
	})
	if _, err := b.Spawn(t.Context(), aSpec(t)); err == nil || err.Error() != "plugin 'test' panicked in Spawn: oh" {
		t.Errorf("Spawn: %v", err)
	}
	results, err := b.StatusBatch(t.Context(), []swarm.Handle{{Version: 1}, {Version: 13}, {Version: 2}})
	if err != nil || results[0].Err != nil || results[1].Err == nil || results[2].Status.State != swarm.StateRunning {
		t.Errorf("Status: %+v, %v", results, err)
	}
	if _, err := b.Kill(t.Context(), swarm.Handle{}, swarm.KillOptions{}); err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("Kill: %v", err)
	}
}

func TestCapabilitiesThatAreMissing(t *testing.T) {
	t.Parallel()
	b := backendOf(t, stub{})
	_, findErr := b.Find(t.Context(), swarm.Lookup{})
	_, sweepErr := b.Sweep(t.Context(), nil, nil)
	outputErr := b.Output(t.Context(), swarm.Handle{}, swarm.OutputOptions{}, nil)
	_, inputErr := b.Input(t.Context(), swarm.Handle{}, swarm.Input{})
	_, screenErr := b.Screen(t.Context(), swarm.Handle{}, swarm.ScreenOptions{})
	_, attachErr := b.Attach(t.Context(), swarm.Handle{}, swarm.AttachOptions{})
	_, execErr := b.Exec(t.Context(), swarm.Handle{}, swarm.ExecOptions{Command: []string{"true"}})
	_, copyErr := b.Copy(t.Context(), swarm.Handle{}, swarm.CopyOptions{Path: "."})
	_, forwardErr := b.Forward(t.Context(), swarm.Handle{}, swarm.ForwardOptions{Port: 80})
	for _, err := range []error{
		findErr, sweepErr, outputErr, inputErr, screenErr, attachErr, execErr, copyErr, forwardErr,
		b.Signal(t.Context(), swarm.Handle{}, swarm.SignalOptions{}),
		b.Watch(t.Context(), swarm.Handle{}, nil),
		b.Complete(t.Context(), swarm.Handle{}, "", swarm.KillOptions{}),
	} {
		if !errors.Is(err, swarm.ErrUnsupported) || err.Error() != swarm.ErrUnsupported.Error() {
			t.Errorf("got %v", err)
		}
	}
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// chatty writes from one buffer, as a scanner does.
type chatty struct {
	stub
	lines int
	err   error
}

func (c chatty) Output(_ context.Context, _ swarm.Handle, _ swarm.OutputOptions, each func(swarm.Output) error) error {
	var text bytes.Buffer
	for i := range c.lines {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	s := bufio.NewScanner(&text)
	for s.Scan() {
		if err := each(swarm.Output{Data: s.Bytes(), Stream: swarm.Stdout, Time: time.Unix(1, 0)}); err != nil {
			return err
		}
	}
	return c.err
}

func TestOutput(t *testing.T) {
	t.Parallel()
	failed := fmt.Errorf("log: %w", swarm.ErrPermission)
	for _, end := range []error{nil, failed} {
		b := backendOf(t, chatty{lines: 50_000, err: end})
		n := 0
		err := b.Output(t.Context(), swarm.Handle{}, swarm.OutputOptions{}, func(o swarm.Output) error {
			if want := fmt.Sprintf("line %d", n); string(o.Data) != want {
				return fmt.Errorf("got %q instead of %q", o.Data, want)
			}
			n++
			return nil
		})
		if n != 50_000 || (err == nil) != (end == nil) || end != nil && (!errors.Is(err, swarm.ErrPermission) || err.Error() != end.Error()) {
			t.Errorf("%d lines, error %v instead of %v", n, err, end)
		}
	}
}

// TestOutputToASlowReader: the backend waits for its reader instead of filling
// the memory, and is notified when the reader left.
func TestOutputToASlowReader(t *testing.T) {
	t.Parallel()
	b := backendOf(t, chatty{lines: 200_000})
	enough := errors.New("enough")
	if err := b.Output(t.Context(), swarm.Handle{}, swarm.OutputOptions{}, func(swarm.Output) error { return enough }); err != enough { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfCalls(t *testing.T) {
	t.Parallel()
	sent := fmt.Errorf("%w: tmux: %s", swarm.ErrUnavailable, strings.Repeat("no server ", 20_000))
	b := backendOf(t, stub{
		spawn:  func(context.Context, swarm.Spec) (swarm.Handle, error) { return swarm.Handle{}, sent },
		status: func(context.Context, swarm.Handle) (swarm.Status, error) { return swarm.Status{}, sent },
		kill: func(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
			return swarm.KillResult{Signal: "SIGTERM", Survivors: []swarm.Process{{PID: 7, Name: "npm"}}}, errors.Join(swarm.ErrSurvivors, sent)
		},
	})
	_, spawnErr := b.Spawn(t.Context(), aSpec(t))
	_, statusErr := b.Status(t.Context(), swarm.Handle{})
	for _, err := range []error{spawnErr, statusErr} {
		if !errors.Is(err, swarm.ErrUnavailable) || err.Error() != sent.Error() {
			t.Errorf("got %.80v", err)
		}
	}
	r, err := b.Kill(t.Context(), swarm.Handle{}, swarm.KillOptions{})
	if !errors.Is(err, swarm.ErrSurvivors) || !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("Kill: %.80v", err)
	}
	want := swarm.KillResult{Signal: "SIGTERM", Survivors: []swarm.Process{{PID: 7, Name: "npm"}}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("the result with an error (-want +got):\n%s", diff)
	}
}
