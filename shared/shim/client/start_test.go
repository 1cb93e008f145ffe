package client_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestStart(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", "echo hello; exec sleep 999")
	s := w.status()
	if s.State != swarm.StateRunning || s.PID == 0 || time.Since(s.Started) > time.Minute {
		t.Errorf("status %+v", s)
	}
	if got := w.firstLine(); got != "hello" {
		t.Errorf("first line %q", got)
	}
	for _, name := range []string{rundir.LaunchFile, rundir.ReadyFIFO} {
		if _, err := os.Lstat(filepath.Join(w.dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	err := client.Start(t.Context(), shimPath, w.dir, w.launch("true"))
	if !errors.Is(err, swarm.ErrExists) {
		t.Errorf("a second start: %v", err)
	}
}

// TestStartSharesNothing looks at what the shim has of the process that started
// it: no descriptor, no session, and no environment.
func TestStartSharesNothing(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	r, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.startElsewhere(inherited)
	inherited.Close()

	// No process holds the other end, though that process was given it for its own.
	if err := r.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the pipe is still held: %d, %v", n, err)
	}
	st := w.facts()
	p, err := proc.Read(st.Shim.PID)
	if err != nil {
		t.Fatal(err)
	}
	if p.Session != p.PID {
		t.Errorf("the shim is in session %d", p.Session)
	}
	if got, _ := proc.Getenv(p.PID, swarm.EnvShim); got != w.id {
		t.Errorf("%s=%q", swarm.EnvShim, got)
	}
	if _, ok := proc.Getenv(p.PID, "HOME"); ok {
		t.Error("the shim has the caller's environment")
	}
	if _, ok := proc.Getenv(st.Main.PID, swarm.EnvShim); ok {
		t.Error("the worker has the shim's marker")
	}
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("the worker did not outlive who started it: %+v", s)
	}
}

func TestStartRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*rundir.Launch){
		"no such command":   func(l *rundir.Launch) { l.Command = []string{"swarm-no-such-command"} },
		"no such directory": func(l *rundir.Launch) { l.Dir = "/swarm/no/such/directory" },
		"zero byte":         func(l *rundir.Launch) { l.Command = []string{"echo", "a\x00b"} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorker(t)
			l := w.launch("sleep", "999")
			change(&l)
			err := w.start(t.Context(), l)
			if !errors.Is(err, swarm.ErrInvalidSpec) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			for _, name := range []string{rundir.LaunchFile, rundir.ReadyFIFO, rundir.Socket} {
				if _, err := os.Lstat(filepath.Join(w.dir, name)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		})
	}
}

func TestStartWithoutShim(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	err := client.Start(t.Context(), "/swarm/no/such/shim", w.dir, w.launch("true"))
	if !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("no such file: %v", err)
	}
	// A program that is no shim ends without a word.
	err = client.Start(t.Context(), "/bin/true", w.dir, w.launch("true"))
	if !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("not a shim: %v", err)
	}
}

// TestStartUnnamed: a shim whose identity can't be read, before and after it has
// started its worker, does not stay without anybody who knows of it. The test is not
// parallel: it replaces what names shims.
func TestStartUnnamed(t *testing.T) {
	for name, started := range map[string]bool{"at once": false, "after the worker started": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			var shimID proc.Identity
			defer client.SetIdentify(func(pid int) (proc.Identity, error) {
				var err error
				if shimID, err = proc.Identify(pid); err != nil {
					t.Error(err)
				}
				if started {
					eventually(t, "a worker", func() bool { return len(w.carriers()) > 0 })
				}
				return proc.Identity{}, syscall.EMFILE
			})()
			err := w.start(t.Context(), w.launch("sh", "-c", "trap '' TERM HUP; setsid sleep 999 & sleep 999"))
			if !errors.Is(err, swarm.ErrUnavailable) || !errors.Is(err, syscall.EMFILE) {
				t.Errorf("error %v", err)
			}
			if shimID.Alive() {
				t.Error("the shim is left")
			}
			if left := w.carriers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestStartHangs: a shim that has started its worker and hangs before it records that, as when
// a disk hangs, ends with all that it started. The worker need not carry its id. The test is
// not parallel: it replaces a limit.
func TestStartHangs(t *testing.T) {
	defer client.SetUndoLimit(time.Second)()
	w := newWorker(t)
	hanging := filepath.Join(t.TempDir(), "hanging-shim")
	script := "#!/bin/sh\ntrap '' TERM\ncd \"$1\" && rm launch || exit 1\nenv -i sleep 999 & a=$!\n" +
		"setsid env -i sh -c 'sleep 999 & echo $! >third; wait' & b=$!\nuntil test -s third; do sleep 0.01; done\n" +
		"echo $a $b $(cat third) >pids.new && mv pids.new pids; wait\n"
	if err := buildtest.Write(hanging, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pids []byte
	go func() {
		defer cancel()
		for ctx.Err() == nil && len(pids) == 0 {
			time.Sleep(time.Millisecond)
			pids, _ = os.ReadFile(filepath.Join(w.dir, "pids"))
		}
	}()
	if err := client.Start(ctx, hanging, w.dir, w.launch("true")); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	fields := strings.Fields(string(pids))
	if len(fields) != 3 {
		t.Fatalf("pids %q", pids)
	}
	for _, field := range fields {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := proc.Identify(pid); err == nil && id.Alive() {
			t.Errorf("process %d of %s is left", pid, pids)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestStartCancelled ends the context at all stages of a start.
func TestStartCancelled(t *testing.T) {
	t.Parallel()
	for i := range 30 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			w := newWorker(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*500*time.Microsecond)
			defer cancel()
			err := w.start(ctx, w.launch("sh", "-c", "trap '' TERM HUP; sleep 999 & setsid sleep 999; sleep 999"))
			if err == nil {
				return
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if left := w.carriers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if st, err := client.Status(w.dir, w.id); err != nil || st.State == swarm.StateRunning {
				t.Errorf("status %+v, %v", st, err)
			}
		})
	}
}
