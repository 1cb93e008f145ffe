//go:build container

package container_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// limit is how long a test waits for what must happen soon.
const limit = time.Minute

func open(t *testing.T, c container.Config) *container.Backend {
	t.Helper()
	b, err := container.New(c, os.Environ(), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var number atomic.Int64

func specOf(t *testing.T, command ...string) swarm.Spec {
	t.Helper()
	state := t.TempDir()
	id := fmt.Sprintf("engine-%d-%d", os.Getpid(), number.Add(1))
	run := filepath.Join(state, "workers", id)
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	return swarm.Spec{
		ID: id, Name: "w", Command: command, Dir: state, Kill: swarm.KillOptions{Grace: time.Second, Force: true},
		Local: &swarm.Local{RunDir: run, StateDir: state, HostEnv: []string{"CALLERS_SECRET=hunter2", "LANG=C.UTF-8"}},
	}
}

// spawn starts a worker that ends with the test.
func spawn(t *testing.T, b *container.Backend, spec swarm.Spec) swarm.Handle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	h, err := b.Spawn(ctx, spec)
	if err != nil {
		t.Fatalf("spawn %q: %v", spec.Command, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		if _, err := b.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			t.Errorf("clean up %s: %v", spec.ID, err)
		}
	})
	return h
}

func ended(t *testing.T, b *container.Backend, h swarm.Handle) swarm.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var st swarm.Status
	err := b.Watch(ctx, h, func(now swarm.Status) error {
		st = now
		return nil
	})
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	return st
}

func lines(t *testing.T, b *container.Backend, h swarm.Handle, o swarm.OutputOptions) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var all []string
	var line strings.Builder
	err := b.Output(ctx, h, o, func(p swarm.Output) error {
		line.Write(p.Data)
		if !p.Partial {
			all = append(all, line.String())
			line.Reset()
		}
		return nil
	})
	if err != nil {
		t.Fatalf("output: %v", err)
	}
	if line.Len() > 0 {
		all = append(all, line.String())
	}
	return all
}

// until waits for a condition that has no event.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > limit {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.Env = []string{"LANG"}
		b := open(t, c)
		hostile := []string{"${x}", "$(id)", "`id`", `"`, "'", `\n`, "two\nlines", "", "-x", "--", "%s", "日本語 \u202e", strings.Repeat("x", 100<<10)}
		spec := specOf(t, append([]string{"sh", "-c", `printf '%s|%s|%s|%s\0' "$CALLERS_SECRET" "$LANG" "$GIVEN" "$SWARM_DIR"; printf '<%s>\0' "$@"`, "sh"}, hostile...)...)
		spec.Env = []string{"GIVEN=first", "GIVEN=a b\nc", "SWARM_DIR=/state"}
		h := spawn(t, b, spec)
		if st := ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
			t.Fatalf("%+v, %+v", st, st.Exit)
		}
		got := strings.Split(strings.Join(lines(t, b, h, swarm.OutputOptions{}), "\n"), "\x00")
		if got[0] != "|C.UTF-8|a b\nc|" {
			t.Errorf("environment: %q", got[0])
		}
		for i, want := range hostile {
			if i+1 >= len(got) || got[i+1] != "<"+want+">" {
				t.Errorf("argument %d: want %.60q, got %.60q", i, want, got[min(i+1, len(got)-1)])
			}
		}
		if strings.Contains(string(h.Data), "hunter2") {
			t.Error("the handle holds a secret")
		}
	})
}

// TestMounts shows what of this machine a worker sees: its workspace and what is named.
func TestMounts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		workspace, shared, secret := t.TempDir(), t.TempDir(), t.TempDir()
		// TempDir makes directories for the caller alone.
		for _, dir := range []string{workspace, filepath.Dir(workspace), shared} {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, dir := range []string{workspace, shared, secret} {
			if err := os.WriteFile(filepath.Join(dir, "file"), []byte(dir), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		spec := specOf(t, "sh", "-c", `pwd; cat file; echo; cat /named/file; echo; ls "$0" 2>&1; echo mine >made; echo x >/named/x; echo done`, secret)
		spec.Dir, spec.Local.Workspace = workspace, workspace
		spec.Options = map[string]string{"mount": shared + ":/named:ro", "user": "4242:4343"}
		h := spawn(t, b, spec)
		ended(t, b, h)
		got := lines(t, b, h, swarm.OutputOptions{})
		want := []string{workspace, workspace, shared}
		if len(got) < 5 || !slices.Equal(got[:3], want) || !strings.Contains(got[3], "No such file") || got[len(got)-1] != "done" {
			t.Errorf("it sees %q", got)
		}
		info, err := os.Stat(filepath.Join(workspace, "made"))
		if err != nil || !strings.Contains(fmt.Sprintf("%+v", info.Sys()), "Uid:4242 Gid:4343") {
			t.Errorf("the file it made: %v, %+v", err, info)
		}
		if _, err := os.Stat(filepath.Join(shared, "x")); err == nil {
			t.Error("it wrote to what is mounted for reading")
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for name, test := range map[string]struct {
			change func(*swarm.Spec)
			text   string
		}{
			"no image":   {func(s *swarm.Spec) { s.Options = map[string]string{"image": "localhost/nowhere:1"} }, "there is no image 'localhost/nowhere:1'"},
			"no mount":   {func(s *swarm.Spec) { s.Options = map[string]string{"mount": "/no/such:/x"} }, "/no/such"},
			"relative":   {func(s *swarm.Spec) { s.Options = map[string]string{"mount": "here"} }, "absolute"},
			"no command": {func(s *swarm.Spec) { s.Command = []string{"no-such", "secret"} }, "can't run 'no-such'"},
			"network":    {func(s *swarm.Spec) { s.Options = map[string]string{"network": "mars"} }, "mars"},
			"tty":        {func(s *swarm.Spec) { s.Options = map[string]string{"tty": "perhaps"} }, "perhaps"},
		} {
			spec := specOf(t, "sleep", "3600")
			test.change(&spec)
			b := open(t, settings(e))
			h, err := b.Spawn(t.Context(), spec)
			if err == nil {
				_, _ = b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
			}
			if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), test.text) || strings.ContainsAny(err.Error(), "\n\t") ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
			l := swarm.Lookup{ID: spec.ID, Name: spec.Name, Local: spec.Local}
			if _, err := b.Find(t.Context(), l); !errors.Is(err, swarm.ErrNotFound) {
				t.Errorf("%s, afterwards: %v", name, err)
			}
		}
	})
}

// TestStreams reads both streams, and lines that engines cut. The order of the two is that
// in which the engine reads them.
func TestStreams(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		h := spawn(t, b, specOf(t, "sh", "-c", `for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; head -c 50000 /dev/zero | tr '\000' x; echo; printf end`))
		ended(t, b, h)
		var want [2][]string
		for i := range 5 {
			want[0] = append(want[0], fmt.Sprintf("out %d", i+1))
			want[1] = append(want[1], fmt.Sprintf("err %d", i+1))
		}
		want[0] = append(want[0], strings.Repeat("x", 50000), "end")
		all := lines(t, b, h, swarm.OutputOptions{})
		if len(all) != len(want[0])+len(want[1]) {
			t.Errorf("got %d lines: %.200q", len(all), all)
		}
		two := 2
		for i, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
			got := lines(t, b, h, swarm.OutputOptions{Stream: stream})
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %d lines: %.200q", stream, len(got), got)
			}
			if got := lines(t, b, h, swarm.OutputOptions{Stream: stream, Tail: &two}); !slices.Equal(got, want[i][len(want[i])-2:]) {
				t.Errorf("the last two of %s: %.100q", stream, got)
			}
		}
		if got := lines(t, b, h, swarm.OutputOptions{Tail: &two}); !slices.Equal(got, all[len(all)-2:]) {
			t.Errorf("the last two: %.100q", got)
		}
	})
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		spec := specOf(t, "tail", "-c", "500000000", "/dev/zero")
		spec.Limits = swarm.Limits{Memory: 32 << 20, CPUs: 0.5, PIDs: 50}
		st := ended(t, b, spawn(t, b, spec))
		// Podman 4.3 does not tell why.
		told := st.Exit != nil && st.Exit.Cause == swarm.CauseOutOfMemory && st.Exit.Reason == "limit 32MiB"
		if st.Exit == nil || st.Exit.Signal != "SIGKILL" || !told && e.Kind == enginetest.Docker {
			t.Errorf("%+v, %+v", st, st.Exit)
		}
	})
}

func TestLimitsAndPause(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		spec := specOf(t, "sh", "-c", `trap 'exit 6' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done`)
		h := spawn(t, b, spec)
		for _, l := range []swarm.Limits{{Memory: 64 << 20, CPUs: 0.5, PIDs: 20}, {}} {
			err := b.SetLimits(t.Context(), h, l)
			if err != nil && (e.Kind == enginetest.Docker || !errors.Is(err, swarm.ErrInvalidSpec)) { // Podman 4.3 can't
				t.Errorf("set limits to %+v: %v", l, err)
			}
		}
		for range 2 {
			if err := b.SetPaused(t.Context(), h, true); err != nil {
				t.Fatalf("pause: %v", err)
			}
		}
		if st, err := b.Status(t.Context(), h); err != nil || st.State != swarm.StateRunning || !st.Paused {
			t.Errorf("paused: %+v, %v", st, err)
		}
		before := len(lines(t, b, h, swarm.OutputOptions{}))
		time.Sleep(200 * time.Millisecond) // nothing may happen meanwhile
		if now := len(lines(t, b, h, swarm.OutputOptions{})); now != before {
			t.Errorf("it wrote %d lines while it was paused", now-before)
		}
		if err := b.SetPaused(t.Context(), h, false); err != nil {
			t.Fatalf("resume: %v", err)
		}
		until(t, "it goes on", func() bool { return len(lines(t, b, h, swarm.OutputOptions{})) > before })
		if err := b.SetPaused(t.Context(), h, true); err != nil {
			t.Fatalf("pause: %v", err)
		}
		r, err := b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGTERM", Grace: limit, Force: true})
		if err != nil || r.Status.Exit == nil || r.Status.Exit.Code != 6 || r.Status.Exit.Cause != swarm.CauseKilled {
			t.Errorf("kill while paused: %+v %+v, %v", r, r.Status.Exit, err)
		}
	})
}

// TestRemovedByHand removes containers with the engine's own tools.
func TestRemovedByHand(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		c, err := e.Client()
		if err != nil {
			t.Fatal(err)
		}
		spec := specOf(t, "sleep", "3600")
		h := spawn(t, b, spec)
		list, err := c.ContainerList(t.Context(), client.ContainerListOptions{Filters: make(client.Filters).Add("label", "swarm.worker="+spec.ID)})
		if err != nil || len(list.Items) != 1 || !slices.ContainsFunc(list.Items[0].Names, func(n string) bool { return strings.Contains(n, "swarm-w-"+spec.ID) }) {
			t.Fatalf("the engine has %+v, %v", list.Items, err)
		}
		if _, err := c.ContainerRemove(t.Context(), list.Items[0].ID, client.ContainerRemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		st := ended(t, b, h)
		if st.State != swarm.StateLost || !strings.Contains(st.Reason, "removed") {
			t.Errorf("status %+v", st)
		}
		if r, err := b.Kill(t.Context(), h, swarm.KillOptions{Force: true}); err != nil || !r.AlreadyEnded {
			t.Errorf("kill: %+v, %v", r, err)
		}
		err = b.Output(t.Context(), h, swarm.OutputOptions{}, func(swarm.Output) error { return nil })
		if !errors.Is(err, swarm.ErrNotFound) {
			t.Errorf("output: %v", err)
		}
	})
}

// TestSweep removes containers only of workers whose run directories are gone.
func TestSweep(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		gone, kept, runs := specOf(t, "true"), specOf(t, "true"), specOf(t, "sleep", "3600")
		workers := filepath.Dir(gone.Local.RunDir)
		for _, s := range []*swarm.Spec{&kept, &runs} {
			s.Local.RunDir = filepath.Join(workers, s.ID)
			if err := os.Mkdir(s.Local.RunDir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		hs := []swarm.Handle{spawn(t, b, gone), spawn(t, b, kept), spawn(t, b, runs)}
		ended(t, b, hs[0])
		ended(t, b, hs[1])
		for _, s := range []swarm.Spec{gone, runs} {
			if err := os.RemoveAll(s.Local.RunDir); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Sweep(t.Context(), hs[:1], nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range []swarm.State{swarm.StateLost, swarm.StateExited, swarm.StateRunning} {
			if st, err := b.Status(t.Context(), hs[i]); err != nil || st.State != want {
				t.Errorf("worker %d: %+v, %v", i, st, err)
			}
		}
	})
}

// TestTerminal types at a worker on a terminal.
func TestTerminal(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.TTY = true
		b := open(t, c)
		h := spawn(t, b, specOf(t, "sh", "-c", `trap 'echo int' INT; test -t 0 && echo terminal; while read -r x; do echo "got $x"; done; echo over`))
		has := func(want string) func() bool {
			return func() bool { return strings.Contains(strings.Join(lines(t, b, h, swarm.OutputOptions{}), "\n"), want) }
		}
		until(t, "it is on a terminal", has("terminal"))
		for _, step := range []struct {
			in   swarm.Input
			want string
		}{
			{swarm.Input{Data: []byte("hello"), Enter: true}, "got hello"},
			{swarm.Input{Kind: swarm.InputKeys, Data: []byte("h i Enter")}, "got hi"},
			{swarm.Input{Kind: swarm.InputEOF}, "over"},
		} {
			if _, err := b.Input(t.Context(), h, step.in); err != nil {
				t.Fatalf("%+v: %v", step.in, err)
			}
			until(t, "it says "+step.want, has(step.want))
		}
		if a, err := b.Attach(t.Context(), h, swarm.AttachOptions{}); err == nil && !slices.Contains(a.Command, "attach") {
			t.Errorf("attach: %q", a.Command)
		}
		if st := ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// TestEngineKilled kills an engine of the test's own while workers run in it.
func TestEngineKilled(t *testing.T) {
	t.Parallel()
	for kind := range engines {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, kind)
			b := open(t, settings(e))
			stays := spawn(t, b, specOf(t, "sleep", "3600"))
			e.Kill()
			begun := time.Now()
			_, err := b.Status(t.Context(), stays)
			if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), e.Socket) || time.Since(begun) > 5*time.Second {
				t.Errorf("without an engine, after %v: %v", time.Since(begun), err)
			}
			if _, err := b.Spawn(t.Context(), specOf(t, "true")); !errors.Is(err, swarm.ErrUnavailable) {
				t.Errorf("spawn without an engine: %v", err)
			}
			if err := e.Start(); err != nil {
				t.Fatal(err)
			}
			// Docker ends its containers when it starts again, unless it is told to keep them.
			st, err := b.Status(t.Context(), stays)
			if err != nil || kind == enginetest.Podman && st.State != swarm.StateRunning {
				t.Errorf("afterwards: %+v, %v", st, err)
			}
		})
	}
}
