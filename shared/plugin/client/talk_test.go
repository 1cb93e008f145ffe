package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// talker is a backend with what it takes to talk with workers; a function that is
// not set is not called.
type talker struct {
	stub
	caps    []swarm.Capability
	input   func(swarm.Input) (swarm.InputResult, error)
	attach  func(swarm.AttachOptions) (swarm.Attachment, error)
	exec    func(swarm.ExecOptions) (swarm.Program, error)
	copy    func(swarm.CopyOptions) (swarm.Program, error)
	forward func(swarm.ForwardOptions) (swarm.Program, error)
	watch   func(context.Context, swarm.Handle, func(swarm.Status) error) error
}

func (b talker) Announce() []swarm.Capability { return b.caps }

func (b talker) Input(_ context.Context, _ swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	return b.input(in)
}

func (b talker) Attach(_ context.Context, _ swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	return b.attach(o)
}

func (b talker) Exec(_ context.Context, _ swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	return b.exec(o)
}

func (b talker) Copy(_ context.Context, _ swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	return b.copy(o)
}

func (b talker) Forward(_ context.Context, _ swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	return b.forward(o)
}

func (b talker) Watch(ctx context.Context, h swarm.Handle, each func(swarm.Status) error) error {
	return b.watch(ctx, h, each)
}

func TestInputOfTheLargestSize(t *testing.T) {
	t.Parallel()
	want := swarm.Input{Data: bytes.Repeat([]byte{0, 0xff}, swarm.MaxInput/2), Enter: true}
	var got swarm.Input
	b := backendOf(t, talker{input: func(in swarm.Input) (swarm.InputResult, error) {
		got = in
		return swarm.InputResult{Pending: true}, nil
	}})
	if r, err := b.Input(t.Context(), swarm.Handle{}, want); err != nil || !r.Pending {
		t.Errorf("%+v, %v", r, err)
	}
	if !bytes.Equal(got.Data, want.Data) || !got.Enter {
		t.Errorf("%d bytes arrived", len(got.Data))
	}
}

// TestSpawnRefusesWhatIsNotAnnounced: nothing that was asked for is left out in
// silence.
func TestSpawnRefusesWhatIsNotAnnounced(t *testing.T) {
	t.Parallel()
	var got swarm.Spec
	spawn := stub{spawn: func(_ context.Context, s swarm.Spec) (swarm.Handle, error) {
		got = s
		return swarm.Handle{Version: 1, Data: []byte("h")}, nil
	}}
	stdin, restart, transcript, owner := aSpec(t), aSpec(t), aSpec(t), aSpec(t)
	stdin.Stdin = true
	transcript.Transcript = true
	restart.Restart = swarm.Restart{When: swarm.RestartAlways, Budget: 3}
	owner.Owner = &swarm.Owner{PID: 7, Start: 1 << 63, Boot: "b"}

	plain := backendOf(t, spawn)
	all := backendOf(t, talker{stub: spawn, caps: []swarm.Capability{swarm.CapStdin, swarm.CapRestart, swarm.CapTranscript, swarm.CapOwner}})
	for name, spec := range map[string]swarm.Spec{"stdin": stdin, "restart": restart, "transcript": transcript} {
		_, err := plain.Spawn(t.Context(), spec)
		if want := "not supported by this plugin: " + name; !errors.Is(err, swarm.ErrUnsupported) || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := all.Spawn(t.Context(), spec); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(spec, got); diff != "" {
			t.Errorf("%s (-sent +got):\n%s", name, diff)
		}
	}
	if _, err := plain.Spawn(t.Context(), owner); err != nil {
		t.Errorf("an owner is for the host to check: %v", err)
	}

	remote := pluginOf(talker{stub: spawn, caps: []swarm.Capability{swarm.CapOwner, swarm.CapTranscript}})
	remote.Local = false
	far := connectInside(t, remote).Backend()
	if _, err := far.Spawn(t.Context(), owner); err != nil || got.Owner != nil {
		t.Errorf("a backend that is not local got %+v, error %v", got.Owner, err)
	}
	if _, err := far.Spawn(t.Context(), transcript); !errors.Is(err, swarm.ErrUnsupported) {
		t.Errorf("a transcript without a run directory: %v", err)
	}
}

func TestAttachEnvForLocalBackendsOnly(t *testing.T) {
	t.Parallel()
	var got []string
	b := talker{attach: func(o swarm.AttachOptions) (swarm.Attachment, error) {
		got = o.Env
		return swarm.Attachment{Command: []string{"tmux", "\xff"}, Unset: []string{"TMUX"}}, nil
	}}
	env := swarm.AttachOptions{Env: []string{"TMUX=x", "SWARM_TOKEN=secret"}}
	a, err := backendOf(t, b).Attach(t.Context(), swarm.Handle{}, env)
	if diff := cmp.Diff(swarm.Attachment{Command: []string{"tmux", "\xff"}, Unset: []string{"TMUX"}}, a); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if !cmp.Equal(got, []string{"TMUX=x"}) {
		t.Errorf("a local backend got %q", got)
	}
	remote := pluginOf(b)
	remote.Local = false
	if _, err := connectInside(t, remote).Backend().Attach(t.Context(), swarm.Handle{}, env); err != nil || got != nil {
		t.Errorf("a backend that is not local got %q, error %v", got, err)
	}
	nothing := talker{attach: func(swarm.AttachOptions) (swarm.Attachment, error) { return swarm.Attachment{}, nil }}
	if _, err := backendOf(t, nothing).Attach(t.Context(), swarm.Handle{}, env); err == nil {
		t.Error("a missing command was accepted")
	}
}

// TestExec checks what a plugin gets and what it has to return.
func TestExec(t *testing.T) {
	t.Parallel()
	var got swarm.ExecOptions
	want := swarm.Program{Command: []string{"enter", "\xff"}, Env: []string{"A=b"}, Unset: []string{"C"}}
	b := talker{exec: func(o swarm.ExecOptions) (swarm.Program, error) {
		got = o
		return want, nil
	}}
	o := swarm.ExecOptions{Command: []string{"ls", "\xff"}, Dir: "sub", Env: []string{"K="}, TTY: true, Shim: "/bin/swarm-shim"}
	p, err := backendOf(t, b).Exec(t.Context(), swarm.Handle{}, o)
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("a local backend (-want +got):\n%s", diff)
	}
	remote := pluginOf(b)
	remote.Local = false
	if _, err := connectInside(t, remote).Backend().Exec(t.Context(), swarm.Handle{}, o); err != nil || got.Shim != "" || got.Dir != "sub" {
		t.Errorf("a backend that is not local got %+v, error %v", got, err)
	}
	for _, bad := range []swarm.ExecOptions{{}, {Command: []string{""}}, {Command: []string{"ls"}, Env: []string{"K"}}, {Command: []string{"ls"}, Env: []string{"=v"}}} {
		if _, err := backendOf(t, b).Exec(t.Context(), swarm.Handle{}, bad); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	nothing := talker{exec: func(swarm.ExecOptions) (swarm.Program, error) { return swarm.Program{}, nil }}
	if _, err := backendOf(t, nothing).Exec(t.Context(), swarm.Handle{}, o); err == nil {
		t.Error("a missing program was accepted")
	}
}

// TestCopy checks what a plugin gets and what it has to return.
func TestCopy(t *testing.T) {
	t.Parallel()
	var got swarm.CopyOptions
	want := swarm.Program{Command: []string{"pack", "\xff"}, Env: []string{"A=b"}, Unset: []string{"C"}}
	b := talker{copy: func(o swarm.CopyOptions) (swarm.Program, error) {
		got = o
		return want, nil
	}}
	o := swarm.CopyOptions{Path: "sub/\xff", Into: true, Dir: "/work", Confined: true, Shim: "/bin/swarm-shim"}
	p, err := backendOf(t, b).Copy(t.Context(), swarm.Handle{}, o)
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("a local backend (-want +got):\n%s", diff)
	}
	remote := pluginOf(b)
	remote.Local = false
	if _, err := connectInside(t, remote).Backend().Copy(t.Context(), swarm.Handle{}, o); err != nil || got.Shim != "" || got.Dir != "" || got.Path != o.Path {
		t.Errorf("a backend that is not local got %+v, error %v", got, err)
	}
	for _, bad := range []swarm.CopyOptions{{}, {Path: "a\x00b"}} {
		if _, err := backendOf(t, b).Copy(t.Context(), swarm.Handle{}, bad); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	nothing := talker{copy: func(swarm.CopyOptions) (swarm.Program, error) { return swarm.Program{}, nil }}
	if _, err := backendOf(t, nothing).Copy(t.Context(), swarm.Handle{}, o); err == nil {
		t.Error("a missing program was accepted")
	}
}

// TestForward checks what a plugin gets and what it has to return.
func TestForward(t *testing.T) {
	t.Parallel()
	want := swarm.Program{Command: []string{"connect", "\xff"}, Env: []string{"A=b"}, Unset: []string{"C"}}
	called := false
	b := talker{forward: func(o swarm.ForwardOptions) (swarm.Program, error) {
		called = true
		if o.Port != swarm.MaxPort {
			return swarm.Program{}, errors.New("another port")
		}
		return want, nil
	}}
	p, err := backendOf(t, b).Forward(t.Context(), swarm.Handle{}, swarm.ForwardOptions{Port: swarm.MaxPort})
	if diff := cmp.Diff(want, p); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	called = false
	for _, port := range []int{-1, 0, swarm.MaxPort + 1, 1 << 40} {
		if _, err := backendOf(t, b).Forward(t.Context(), swarm.Handle{}, swarm.ForwardOptions{Port: port}); !errors.Is(err, swarm.ErrInvalidSpec) || called {
			t.Errorf("port %d: %v, reached the plugin: %t", port, err, called)
		}
	}
	nothing := talker{forward: func(swarm.ForwardOptions) (swarm.Program, error) { return swarm.Program{}, nil }}
	if _, err := backendOf(t, nothing).Forward(t.Context(), swarm.Handle{}, swarm.ForwardOptions{Port: 80}); err == nil {
		t.Error("a missing program was accepted")
	}
}

// TestWatchOfMany has workers of which one ends, one fails, one panics, and the
// others change three times first.
func TestWatchOfMany(t *testing.T) {
	t.Parallel()
	ended := swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Cause: swarm.CauseExited}}
	b := backendOf(t, talker{watch: func(_ context.Context, h swarm.Handle, each func(swarm.Status) error) error {
		n, err := strconv.Atoi(string(h.Data))
		switch {
		case err != nil:
			return err
		case n == 0:
			return each(ended)
		case n == 1:
			return fmt.Errorf("%w: gone", swarm.ErrNotFound)
		case n == 2:
			panic("oh")
		}
		for i := range 3 {
			if err := each(swarm.Status{State: swarm.StateRunning, Restarts: i}); err != nil {
				return err
			}
		}
		return each(ended)
	}})
	reported := make([][]swarm.Status, many)
	errs := make([]error, many)
	err := b.WatchBatch(t.Context(), numbered(many), func(i int, s swarm.Status, err error) {
		if err != nil {
			errs[i] = err
			return
		}
		reported[i] = append(reported[i], s)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		want := 4
		switch i {
		case 0:
			want = 1
		case 1, 2:
			want = 0
		}
		if len(reported[i]) != want || (errs[i] != nil) != (want == 0) {
			t.Fatalf("worker %d: reported %+v, error %v", i, reported[i], errs[i])
		}
		for j, s := range reported[i] {
			if last := j == want-1; last != (s.State == swarm.StateExited) || !last && s.Restarts != j {
				t.Fatalf("worker %d: %+v", i, reported[i])
			}
		}
	}
	if !errors.Is(errs[1], swarm.ErrNotFound) || errs[2].Error() != "plugin 'test' panicked in Watch: oh" {
		t.Errorf("errors %v, %v", errs[1], errs[2])
	}
}

// TestWatchStops: the backend is notified when the last watcher leaves.
func TestWatchStops(t *testing.T) {
	t.Parallel()
	var left sync.WaitGroup
	left.Add(2)
	b := backendOf(t, talker{watch: func(ctx context.Context, _ swarm.Handle, each func(swarm.Status) error) error {
		defer left.Done()
		if err := each(swarm.Status{State: swarm.StateRunning}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}})
	enough := errors.New("enough")
	if err := b.Watch(t.Context(), swarm.Handle{}, func(swarm.Status) error { return enough }); err != enough { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := b.Watch(ctx, swarm.Handle{}, func(swarm.Status) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	left.Wait()
}
