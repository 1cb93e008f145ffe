package watch_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Whichever process is first, there is one end, and each watcher reports it once.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	const workers = 20
	r := hosttest.New(t)
	r.Announce("one", swarm.CapWatch)
	first, second := r.StartWatch(t), r.StartWatch(t)
	for i := range workers {
		r.MustSpawn(t, fmt.Sprintf("w%d", i), "one", func(q *spawn.Request) {
			if i%2 == 0 {
				hosttest.Ephemeral(q)
			}
		})
	}
	var racing sync.WaitGroup
	for i := range 4 {
		other := hosttest.NewIn(t, r.Root)
		other.UsePlugins(t, r)
		racing.Go(func() {
			switch i {
			case 0:
				for n := range workers {
					r.One.End(t, fmt.Sprintf("w%d", n), swarm.Exit{Code: n % 2})
				}
			case 1:
				if _, err := other.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{}); err != nil {
					t.Error(err)
				}
			default:
				if _, err := other.Watch().Collect(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	racing.Wait()
	for _, w := range []*hosttest.Watcher{first, second} {
		ends := map[string]int{}
		for n := 0; n < workers; {
			select {
			case line := <-w.Lines:
				if !strings.Contains(line, "SPAWNED") && !strings.Contains(line, "KILL REQUESTED") {
					ends[line[:strings.Index(line, "]")]]++
					n++
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("reported %d ends", len(ends))
			}
		}
		if len(ends) != workers {
			t.Errorf("reported the ends of %d workers", len(ends))
		}
	}
	finals := map[string]int{}
	for _, e := range r.AllEvents(t, "") {
		if e.Final {
			finals[e.Worker]++
		}
	}
	for name, n := range finals {
		if n != 1 {
			t.Errorf("%s ended %d times", name, n)
		}
	}
	if len(finals) != workers {
		t.Errorf("%d workers ended", len(finals))
	}
}

const watchRoot = "HOST_TEST_WATCH"

// TestHelperWatch is not a test but the main of another process: it watches until
// it is killed.
func TestHelperWatch(t *testing.T) {
	root := os.Getenv(watchRoot)
	if root == "" {
		return
	}
	r := hosttest.NewIn(t, root)
	r.Announce("one", swarm.CapWatch)
	err := r.Watch().Watch(t.Context(), watch.Request{Event: func(e registry.Event) error {
		fmt.Println(e)
		return nil
	}})
	t.Fatal(err)
}

// A watcher that is killed at any moment loses nothing and writes nothing twice.
func TestKilledWatchers(t *testing.T) {
	t.Parallel()
	const workers = 24
	root := t.TempDir()
	r := hosttest.NewIn(t, root)
	for i := range workers {
		r.MustSpawn(t, fmt.Sprintf("w%d", i), "one", hosttest.Ephemeral)
	}
	var ending sync.WaitGroup
	ending.Go(func() {
		for i := range workers {
			r.One.End(t, fmt.Sprintf("w%d", i), swarm.Exit{Code: i % 3, Time: time.Unix(int64(1700000000+i), 0)})
		}
	})
	for over := false; !over; {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperWatch$")
		cmd.Env = append(os.Environ(), watchRoot+"="+root)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// It is killed in the middle of its work, as soon as it reported something.
		buf := make([]byte, 1)
		n, _ := out.Read(buf)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		// Once none is left, all have ended, and the next watcher would have nothing to report.
		over = n == 0 || len(r.Statuses(t)) == 0
	}
	ending.Wait()
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range r.AllEvents(t, "") {
		if !e.Final {
			continue
		}
		if before, twice := got[e.Worker]; twice {
			t.Errorf("%s ended twice: %s and %s", e.Worker, before, e.Text)
		}
		got[e.Worker] = fmt.Sprintf("%s %s %d", e.Kind, e.Text, e.Time.Unix())
	}
	want := map[string]string{}
	for i := range workers {
		text := fmt.Sprintf("FAILED exit status %d", i%3)
		if i%3 == 0 {
			text = "EXITED success"
		}
		want[fmt.Sprintf("w%d", i)] = fmt.Sprintf("%s %d", text, 1700000000+i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(r.StateDir().RunDir(""))
	if err != nil || len(entries) != 0 {
		t.Errorf("%d run directories are left, %v", len(entries), err)
	}
}
