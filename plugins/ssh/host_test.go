//go:build ssh

package ssh_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func nullLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// output returns what a worker that ends has written.
func (s *scene) output(h swarm.Handle) string {
	s.Helper()
	var text strings.Builder
	err := s.backend.Output(s.Context(), h, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		text.Write(o.Data)
		text.WriteByte('\n')
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return text.String()
}

// TestSilentHost has two hosts, one of which accepts connections and says nothing. The
// workers of the other one are notified of, within the limit of both.
func TestSilentHost(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "otherbox")
	silent := s.spawn("exec sleep 3600")
	spec := specOf("exec sleep 3600")
	spec.Options = map[string]string{"host": "otherbox"}
	other, err := s.backend.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	s.ends(other)
	dir := t.TempDir()
	for i, limit := range []time.Duration{9 * time.Second, 4 * time.Second} {
		if i > 0 { // as the next call of swarm
			s.server.Cut()
		}
		s.backend = openIn(t, settings(s.set), dir)
		resume := s.server.Pause()
		began := time.Now()
		results, err := s.backend.StatusBatch(t.Context(), []swarm.Handle{silent, other, silent})
		took := time.Since(began)
		resume()
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(results[0].Err, swarm.ErrUnavailable) || !errors.Is(results[2].Err, swarm.ErrUnavailable) ||
			!strings.Contains(results[0].Err.Error(), "cutbox") {
			t.Errorf("the silent host: %+v", results[0])
		}
		if results[1].Err != nil || results[1].Status.State != swarm.StateRunning || results[1].Status.Where.Name != "otherbox" {
			t.Errorf("the other host: %+v", results[1])
		}
		if took > limit {
			t.Errorf("it took %s", took)
		}
		if i == 0 {
			continue
		}
		// The next calls wait for it only briefly, for a while.
		for until := time.Now().Add(time.Minute); ; {
			st, err := s.backend.Status(t.Context(), silent)
			if err == nil && st.State == swarm.StateRunning {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("once it continues: %+v, %v", st, err)
			}
		}
	}
}

// TestEnvironment looks at what a worker has of this machine's environment: nothing but what
// was named.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	spec := specOf("env")
	spec.Env = []string{"GIVEN=by name"}
	h, err := s.backend.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	text := s.output(h)
	if strings.Contains(text, "SECRET") || strings.Contains(text, "SSH_") || strings.Contains(text, "SWARM_DIR") ||
		!strings.Contains(text, "GIVEN=by name\n") || !strings.Contains(text, "HOME="+s.server.Home+"\n") {
		t.Errorf("the worker has\n%s", text)
	}
	spec = specOf("env")
	spec.Options = map[string]string{"env": "SECRET"}
	if h, err = s.backend.Spawn(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if text := s.output(h); !strings.Contains(text, "SECRET=of this machine\n") {
		t.Errorf("the worker has\n%s", text)
	}
}

// TestTree kills a worker with processes in other sessions and without parents.
func TestTree(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn(`setsid sh -c 'echo $$; exec sleep 3600' & sh -c 'sleep 3600 & echo $!'; echo $$; exec sleep 3600`)
	var pids []int
	enough := errors.New("enough")
	err := s.backend.Output(t.Context(), h, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		pid, err := strconv.Atoi(string(o.Data))
		if err != nil {
			return err
		}
		if pids = append(pids, pid); len(pids) == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if r, err := s.backend.Kill(t.Context(), h, swarm.KillOptions{Grace: time.Second, Force: true}); err != nil || len(r.Survivors) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, pid := range pids {
		if p, err := proc.Read(pid); err == nil && p.Alive() {
			t.Errorf("process %d is left", pid)
		}
	}
}

var bootID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestReboot has a worker whose record is from another boot of its machine: it is lost, and
// its exit is not made up.
func TestReboot(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("exec sleep 3600")
	paths, err := filepath.Glob(filepath.Join(s.server.Home, ".swarm-remote/workers/*/status.json"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	record, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	other := bootID.ReplaceAll(record, []byte("00000000-0000-4000-8000-000000000000"))
	write := func(data []byte) {
		if err := os.WriteFile(paths[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	running, err := s.backend.Status(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	main, err := proc.Read(running.PID)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{main.Parent, main.PID} { // the shim first: it would record the end
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	write(other)
	var st swarm.Status
	_ = sshtest.Until(t.Context(), func() bool { // the processes take a moment to end
		st, err = s.backend.Status(t.Context(), h)
		return err != nil || st.State != swarm.StateRunning
	})
	if err != nil || st.State != swarm.StateLost || st.Exit != nil || !strings.Contains(st.Reason, "machine restarted") {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestDamagedPrograms changes a program over there: it is not run, but copied again.
func TestDamagedPrograms(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	s.spawn("true")
	for _, name := range []string{"swarm-shim", "swarm-remote"} {
		paths, err := filepath.Glob(filepath.Join(s.server.Home, ".swarm-remote/bin/*", name))
		if err != nil || len(paths) != 1 {
			t.Fatal(paths, err)
		}
		if err := os.Remove(paths[0]); err != nil {
			t.Fatal(err)
		}
		if err := buildtest.Write(paths[0], []byte("#!/bin/sh\necho something else\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.backend = open(t, settings(s.set))
		h := s.spawn("echo here")
		if text := s.output(h); text != "here\n" {
			t.Errorf("it says %q", text)
		}
	}
	if info, err := os.Stat(filepath.Join(s.server.Home, ".swarm-remote")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestUnreachable says why a host can't be reached.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	if err := s.server.Stop(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err := s.backend.Spawn(ctx, specOf("true"))
	if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "cutbox") || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	if err := s.server.Start(); err != nil {
		t.Fatal(err)
	}
}

// TestHostNames refuses what is more than a name.
func TestHostNames(t *testing.T) {
	t.Parallel()
	b := open(t, settings(shared))
	for _, host := range []string{"-oProxyCommand=touch /tmp/x", "a b", "a;b", "$(x)", "`x`", "a|b", "me@-x", "@x", "x@", "a\nb", strings.Repeat("x", 256)} {
		spec := specOf("true")
		spec.Options = map[string]string{"host": host}
		if _, err := b.Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%q: %v", host, err)
		}
	}
}
