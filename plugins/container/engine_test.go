//go:build container

package container_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func open(t *testing.T, c container.Config) *container.Backend {
	t.Helper()
	b, err := container.New(c, os.Environ(), slog.New(slog.DiscardHandler))
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

func TestEnvironment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		c := settings(e)
		c.Env = []string{"LANG"}
		b := open(t, c)
		hostile := []string{"${x}", "$(id)", "`id`", `"`, "'", `\n`, "two\nlines", "", "-x", "--", "%s", "日本語 \u202e", strings.Repeat("x", 100<<10)}
		spec := specOf(t, append([]string{"sh", "-c", `printf '%s|%s|%s|%s\0' "$CALLERS_SECRET" "$LANG" "$GIVEN" "$SWARM_DIR"; printf '<%s>\0' "$@"`, "sh"}, hostile...)...)
		spec.Env = []string{"GIVEN=first", "GIVEN=a b\nc", "SWARM_DIR=/state"}
		h := workertest.Spawn(t, b, spec)
		if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
			t.Fatalf("%+v, %+v", st, st.Exit)
		}
		got := strings.Split(strings.Join(workertest.Lines(t, b, h, swarm.OutputOptions{}), "\n"), "\x00")
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
		if err := os.WriteFile(filepath.Join(workspace, ".git"), []byte("gitdir: /repo/.git/worktrees/w\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		spec := specOf(t, "sh", "-c", `(echo evil >.git; mv .git other; rm -f .git; mv other .git) 2>/dev/null; pwd; cat file; echo; cat /named/file; echo; ls "$0" 2>&1; echo mine >made; (echo x >/named/x) 2>&1; echo done`, secret)
		spec.Dir, spec.Local.Workspace = workspace, workspace
		spec.Options = map[string]string{"mount": shared + ":/named:ro", "user": "4242:4343"}
		h := workertest.Spawn(t, b, spec)
		workertest.Ended(t, b, h)
		got := workertest.Lines(t, b, h, swarm.OutputOptions{})
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
		if text, err := os.ReadFile(filepath.Join(workspace, ".git")); err != nil || string(text) != "gitdir: /repo/.git/worktrees/w\n" {
			t.Errorf("it exchanged .git: %s, %v", text, err)
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
		h := workertest.Spawn(t, b, specOf(t, "sh", "-c", `for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; head -c 50000 /dev/zero | tr '\000' x; echo; printf end`))
		workertest.Ended(t, b, h)
		var want [2][]string
		for i := range 5 {
			want[0] = append(want[0], fmt.Sprintf("out %d", i+1))
			want[1] = append(want[1], fmt.Sprintf("err %d", i+1))
		}
		want[0] = append(want[0], strings.Repeat("x", 50000), "end")
		all := workertest.Lines(t, b, h, swarm.OutputOptions{})
		if len(all) != len(want[0])+len(want[1]) {
			t.Errorf("got %d lines: %.200q", len(all), all)
		}
		two := 2
		for i, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
			got := workertest.Lines(t, b, h, swarm.OutputOptions{Stream: stream})
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %d lines: %.200q", stream, len(got), got)
			}
			if got := workertest.Lines(t, b, h, swarm.OutputOptions{Stream: stream, Tail: &two}); !slices.Equal(got, want[i][len(want[i])-2:]) {
				t.Errorf("the last two of %s: %.100q", stream, got)
			}
		}
		// Podman reads several lines at once, which have the same time then.
		var first time.Time
		if err := b.Output(t.Context(), h, swarm.OutputOptions{}, func(p swarm.Output) error {
			if first.IsZero() {
				first = p.Time
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if got := workertest.Lines(t, b, h, swarm.OutputOptions{Since: first}); !slices.Equal(got, all) {
			t.Errorf("since the first: %d lines of %d", len(got), len(all))
		}
		if got := workertest.Lines(t, b, h, swarm.OutputOptions{Tail: &two}); !slices.Equal(got, all[len(all)-2:]) {
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
		st := workertest.Ended(t, b, workertest.Spawn(t, b, spec))
		// Podman 4.3 does not say why.
		explained := st.Exit != nil && st.Exit.Cause == swarm.CauseOutOfMemory && st.Exit.Reason == "limit 32MiB"
		if st.Exit == nil || st.Exit.Signal != "SIGKILL" || !explained && e.Kind == enginetest.Docker {
			t.Errorf("%+v, %+v", st, st.Exit)
		}
	})
}

func TestLimitsAndPause(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		spec := specOf(t, "sh", "-c", `trap 'exit 6' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done`)
		h := workertest.Spawn(t, b, spec)
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
		before := len(workertest.Lines(t, b, h, swarm.OutputOptions{}))
		time.Sleep(200 * time.Millisecond) // nothing may happen meanwhile
		if now := len(workertest.Lines(t, b, h, swarm.OutputOptions{})); now != before {
			t.Errorf("it wrote %d lines while it was paused", now-before)
		}
		if err := b.SetPaused(t.Context(), h, false); err != nil {
			t.Fatalf("resume: %v", err)
		}
		workertest.Until(t, "it continues", func() bool { return len(workertest.Lines(t, b, h, swarm.OutputOptions{})) > before })
		if err := b.SetPaused(t.Context(), h, true); err != nil {
			t.Fatalf("pause: %v", err)
		}
		r, err := b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGTERM", Grace: workertest.Limit, Force: true})
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
		h := workertest.Spawn(t, b, spec)
		list, err := c.ContainerList(t.Context(), client.ContainerListOptions{Filters: make(client.Filters).Add("label", "swarm.worker="+spec.ID)})
		if err != nil || len(list.Items) != 1 || !slices.ContainsFunc(list.Items[0].Names, func(n string) bool { return strings.Contains(n, "swarm-w-"+spec.ID) }) {
			t.Fatalf("the engine has %+v, %v", list.Items, err)
		}
		if _, err := c.ContainerRemove(t.Context(), list.Items[0].ID, client.ContainerRemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		st := workertest.Ended(t, b, h)
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
		hs := []swarm.Handle{workertest.Spawn(t, b, gone), workertest.Spawn(t, b, kept), workertest.Spawn(t, b, runs)}
		workertest.Ended(t, b, hs[0])
		workertest.Ended(t, b, hs[1])
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

// TestFoundAfterStart finds a worker whose plugin was killed between its start and its note,
// and writes the note then.
func TestFoundAfterStart(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		spec := specOf(t, "sleep", "3600")
		h := workertest.Spawn(t, b, spec)
		path := filepath.Join(spec.Local.RunDir, "container.json")
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		found, err := b.Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name, Local: spec.Local})
		if err != nil || !bytes.Equal(found.Data, h.Data) {
			t.Fatalf("found %s, %v, want %s", found.Data, err, h.Data)
		}
		again, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(again, written) {
			t.Errorf("the note is %s, %v, want %s", again, err, written)
		}
		// The machine is restarted, and the engine invents an exit.
		self, err := proc.Identify(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(again, []byte(self.Boot), []byte("another")), 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err = b.Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name, Local: spec.Local}); err != nil {
			t.Fatal(err)
		}
		c, err := e.Client()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ContainerKill(t.Context(), "swarm-w-"+spec.ID, client.ContainerKillOptions{Signal: "SIGKILL"}); err != nil {
			t.Fatal(err)
		}
		if st := workertest.Ended(t, b, found); st.State != swarm.StateLost || !strings.Contains(st.Reason, "restarted") {
			t.Errorf("status %+v, %+v", st, st.Exit)
		}
	})
}

// TestSamePath has state directories of the same path share an engine, as those of two
// machines do.
func TestSamePath(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		b := open(t, settings(e))
		theirs := specOf(t, "true")
		h := workertest.Spawn(t, b, theirs)
		workertest.Ended(t, b, h)
		// The other machine has a directory of its own there.
		state := theirs.Local.StateDir
		entries, err := os.ReadDir(state)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if err := os.RemoveAll(filepath.Join(state, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
		ours := specOf(t, "true")
		ours.Local.StateDir, ours.Local.RunDir = state, filepath.Join(state, "workers", ours.ID)
		if err := os.MkdirAll(ours.Local.RunDir, 0o700); err != nil {
			t.Fatal(err)
		}
		own := workertest.Spawn(t, b, ours)
		workertest.Ended(t, b, own)
		if err := os.RemoveAll(ours.Local.RunDir); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Sweep(t.Context(), []swarm.Handle{own}, nil); err != nil {
			t.Fatal(err)
		}
		if st, err := b.Status(t.Context(), own); err != nil || st.State != swarm.StateLost {
			t.Errorf("our own: %+v, %v", st, err)
		}
		if st, err := b.Status(t.Context(), h); err != nil || st.State == swarm.StateLost {
			t.Errorf("theirs: %+v, %v", st, err)
		}
		l := swarm.Lookup{ID: theirs.ID, Name: theirs.Name, Local: theirs.Local}
		if _, err := b.Find(t.Context(), l); !errors.Is(err, swarm.ErrNotFound) {
			t.Errorf("theirs is found: %v", err)
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
		h := workertest.Spawn(t, b, specOf(t, "sh", "-c", `trap 'echo int' INT; until [ "$(stty size)" = "24 80" ]; do sleep 0.05; done; test -t 0 && echo terminal; while read -r x; do echo "got $x"; done; echo over`))
		has := func(want string) func() bool {
			return func() bool {
				return strings.Contains(strings.Join(workertest.Lines(t, b, h, swarm.OutputOptions{}), "\n"), want)
			}
		}
		workertest.Until(t, "it is on a terminal", has("terminal"))
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
			workertest.Until(t, "it says "+step.want, has(step.want))
		}
		if a, err := b.Attach(t.Context(), h, swarm.AttachOptions{}); err == nil && !slices.Contains(a.Command, "attach") {
			t.Errorf("attach: %q", a.Command)
		}
		if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
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
			stays := workertest.Spawn(t, b, specOf(t, "sleep", "3600"))
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
			// Docker ends its containers when it starts again, unless it is set to keep them.
			st, err := b.Status(t.Context(), stays)
			if err != nil || kind == enginetest.Podman && st.State != swarm.StateRunning {
				t.Errorf("afterwards: %+v, %v", st, err)
			}
		})
	}
}
