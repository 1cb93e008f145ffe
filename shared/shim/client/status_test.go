package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestExits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		want   swarm.Exit
	}{
		"success": {"exit 0", swarm.Exit{Cause: swarm.CauseExited}},
		"code":    {"exit 3", swarm.Exit{Code: 3, Cause: swarm.CauseExited}},
		"crash":   {"kill -SEGV $$", swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseExited}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sh", "-c", test.script)
			s := w.wait()
			if s.State != swarm.StateExited {
				t.Fatalf("status %+v", s)
			}
			if diff := cmp.Diff(test.want, *s.Exit, cmpopts.IgnoreFields(swarm.Exit{}, "Time", "Usage")); diff != "" {
				t.Error(diff)
			}
			if s.Exit.Time.Before(s.Started) || time.Since(s.Exit.Time) > time.Minute {
				t.Errorf("ended %v", s.Exit.Time)
			}
		})
	}
}

func TestStaleHandle(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	if _, err := client.Status(w.dir, "someone-else"); !errors.Is(err, swarm.ErrStaleHandle) {
		t.Errorf("status: %v", err)
	}
	if _, err := client.Kill(t.Context(), w.dir, "someone-else", gently); !errors.Is(err, swarm.ErrStaleHandle) {
		t.Errorf("kill: %v", err)
	}
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
}

func TestUnreadableStatus(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"damaged": `{"version":1,"id":"x"`,
		"newer":   `{"version":2,"id":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, rundir.StatusFile), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Status(dir, "x"); !errors.Is(err, swarm.ErrUnavailable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestNoRunDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	s, err := client.Status(dir, "x-"+randomID())
	if err != nil || s.State != swarm.StateLost || s.Reason == "" || len(s.Survivors) > 0 {
		t.Errorf("status %+v, %v", s, err)
	}
	err = client.Output(t.Context(), dir, swarm.OutputOptions{Follow: true}, nil)
	if !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("output: %v", err)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", "echo ready; sleep 999")
	ended := make(chan swarm.Status, 2)
	for range cap(ended) {
		go func() {
			s, err := await(t.Context(), w)
			if err != nil {
				t.Error(err)
			}
			ended <- s
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := await(ctx, w); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was given up: %v", err)
	}
	w.kill(gently)
	for range cap(ended) {
		if s := <-ended; s.State != swarm.StateExited {
			t.Errorf("status %+v", s)
		}
	}
}

// TestWaitForLost has the shim die under those who wait, with and without a
// socket to wait on.
func TestWaitForLost(t *testing.T) {
	t.Parallel()
	for name, socket := range map[string]bool{"socket": true, "no socket": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sleep", "999")
			if !socket {
				if err := os.Remove(filepath.Join(w.dir, rundir.Socket)); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan swarm.Status)
			go func() { ended <- w.wait() }()
			w.loseShim()
			if s := <-ended; s.State != swarm.StateLost {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func BenchmarkStatus(b *testing.B) {
	dir := b.TempDir()
	if err := client.Start(b.Context(), shimPath, dir, rundir.Launch{ID: "x", Command: []string{"sleep", "999"}, Dir: "/"}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s, err := client.Status(dir, "x"); err != nil || s.State != swarm.StateRunning {
			b.Fatalf("%+v, %v", s, err)
		}
	}
	if _, err := client.Kill(b.Context(), dir, "x", swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
		b.Fatal(err)
	}
}
