package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *worker) stats() swarm.Stats {
	w.t.Helper()
	s, err := client.Stats(w.dir, w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *worker) begun() {
	w.t.Helper()
	eventually(w.t, "the worker has begun", func() bool {
		_, err := os.Stat(filepath.Join(w.dir, "begun"))
		return err == nil
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	// A child that computes and ends, an orphan, a child in a session of its own.
	w := start(t, "sh", "-c", "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); (sleep 600 &); setsid sleep 600 & touch begun; wait")
	w.begun()
	var s swarm.Stats
	eventually(t, "all processes are counted", func() bool {
		s = w.stats()
		return *s.Processes == 3
	})
	if *s.Threads != 3 || *s.CPUTime < 10*time.Millisecond || s.Time.IsZero() || s.CPUShare != nil {
		t.Errorf("stats %+v", s)
	}
	if *s.Memory < 100<<10 || *s.Memory > 100<<20 || *s.Peak < *s.Memory || s.MemoryKind != swarm.MemoryPSS && s.MemoryKind != swarm.MemoryRSS {
		t.Errorf("memory %d %s, peak %d", *s.Memory, s.MemoryKind, *s.Peak)
	}
	if _, err := client.Stats(w.dir, "another"); !errors.Is(err, swarm.ErrStaleHandle) {
		t.Errorf("another worker: %v", err)
	}
	if c, err := client.CPUTimes(w.dir, w.id); err != nil || c.Time.IsZero() || c.CPUTime == nil || *c.CPUTime < *s.CPUTime || c.Memory != nil {
		t.Errorf("the CPU time alone: %+v, %v", c, err)
	}
	before := *s.CPUTime
	w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true})
	if _, err := client.Stats(w.dir, w.id); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("an ended worker: %v", err)
	}
	// A step of the CPU time in /proc is 10 ms.
	if u := w.status().Exit.Usage; u == nil || *u.CPUTime < before-10*time.Millisecond || *u.Peak < 100<<10 || u.Read == nil || u.Written == nil {
		t.Errorf("in all it used %+v", u)
	}
}

// TestStatsOfAnOutput checks that the shim's own writing is not the worker's.
func TestStatsOfAnOutput(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", "dd if=/dev/zero bs=1048576 count=20 2>/dev/null | tr '\\000' x | fold -w 1000; touch begun; exec sleep 600")
	w.begun()
	eventually(t, "the log is written", func() bool {
		info, err := os.Stat(filepath.Join(w.dir, "output.log"))
		return err == nil && info.Size() > 1<<20
	})
	if s := w.stats(); s.Written == nil || *s.Written > 5<<20 {
		t.Errorf("20 MiB of output are %d bytes written to storage", *s.Written)
	}
}

// The processes of a worker that lost its shim belong to no worker that could be measured.
func TestStatsWithoutShim(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "600")
	w.loseShim()
	if _, err := client.Stats(w.dir, w.id); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := client.Stats(t.TempDir(), w.id); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("without a status: %v", err)
	}
}

// The CPU time continues to grow through a restart.
func TestStatsAcrossRestarts(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	l := w.launch("sh", "-c", "[ -e once ] && { touch begun; exec sleep 600; }; touch once; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 1")
	withRestarts(&l)
	if err := w.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	w.begun()
	if s := w.stats(); *s.CPUTime < 10*time.Millisecond {
		t.Errorf("CPU time %v", *s.CPUTime)
	}
}

func BenchmarkStats(b *testing.B) {
	w := &worker{t: &testing.T{}, dir: b.TempDir(), id: "w-" + randomID()}
	if err := client.Start(b.Context(), shimPath, w.dir, w.launch("sleep", "600")); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := client.Kill(context.WithoutCancel(b.Context()), w.dir, w.id, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		if _, err := client.Stats(w.dir, w.id); err != nil {
			b.Fatal(err)
		}
	}
}
