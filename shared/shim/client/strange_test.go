package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// strange puts what a worker may leave in the place of a file of its run directory.
var strange = map[string]func(path string) error{
	"FIFO":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
	"device":    func(p string) error { return os.Symlink("/dev/zero", p) },
	"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	"huge":      func(p string) error { return os.Truncate(p, 4<<40) },
}

func replace(t *testing.T, path, kind string) {
	t.Helper()
	if kind != "huge" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := strange[kind](path); errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("this file system holds no file of that size: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// TestStrangeStatus has a worker that replaced its status.json. Each caller gets an error at
// once, and a kill ends it all the same.
func TestStrangeStatus(t *testing.T) {
	t.Parallel()
	for kind := range strange {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sleep", "999")
			record := filepath.Join(w.dir, rundir.StatusFile)
			replace(t, record, kind)
			for name, ask := range map[string]func() error{
				"status": func() error { _, err := client.Status(w.dir, w.id); return err },
				"watch": func() error {
					return client.Watch(t.Context(), w.dir, w.id, func(swarm.Status) error { return nil })
				},
			} {
				if err := ask(); !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), rundir.StatusFile) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if r := w.kill(gently); r.Status.State != swarm.StateExited {
				t.Errorf("kill: %+v", r)
			}
			if left := w.carriers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestStrangeLastStatus has a worker that took away the file which its shim holds
// ready for the last status. The end is recorded all the same.
func TestStrangeLastStatus(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"gone": "", "FIFO": "FIFO", "link": "device", "directory": "directory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sleep", "999")
			last := filepath.Join(w.dir, rundir.StatusFile+".end")
			if kind != "" {
				replace(t, last, kind)
			} else if err := os.Remove(last); err != nil {
				t.Fatal(err)
			}
			r := w.kill(gently)
			if r.Status.State != swarm.StateExited || r.Status.Exit.Cause != swarm.CauseKilled {
				t.Errorf("kill: %+v", r)
			}
		})
	}
}

// TestStrangeLog has a log with invalid contents.
func TestStrangeLog(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"FIFO", "device", "directory"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := logOf(t, 0, records("01 stdout F a"))
			replace(t, filepath.Join(dir, rundir.LogFile), kind)
			for _, follow := range []bool{false, true} {
				err := client.Output(t.Context(), dir, swarm.OutputOptions{Follow: follow}, func(swarm.Output) error { return nil })
				if err == nil || !strings.Contains(err.Error(), rundir.LogFile) {
					t.Errorf("follow %v: %v", follow, err)
				}
			}
		})
	}
}

// TestHugeLog has logs with more than anybody could read.
func TestHugeLog(t *testing.T) {
	t.Parallel()
	dir := logOf(t, 0, records("01 stdout F a", "02 stdout F b"), records("03 stdout F c"))
	replace(t, filepath.Join(dir, rundir.LogFile+".1"), "huge")
	log := filepath.Join(dir, rundir.LogFile)
	replace(t, log, "huge")
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\n" + records("04 stdout F d") + strings.Repeat("x", 3<<20) + "\n" + records("05 stdout F e"))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for tail, want := range map[int][]string{
		-1: {"a", "b", "c", "d", "e"}, 9: {"a", "b", "c", "d", "e"}, 4: {"b", "c", "d", "e"}, 3: {"c", "d", "e"}, 1: {"e"},
	} {
		var o swarm.OutputOptions
		if tail >= 0 {
			o.Tail = &tail
		}
		if diff := cmp.Diff(want, read(t, dir, o)); diff != "" {
			t.Errorf("tail %d: %s", tail, diff)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	last := 9
	err = client.Output(ended, dir, swarm.OutputOptions{Tail: &last}, func(swarm.Output) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
