package backendtest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sdkKeeps are the rules that the host's side of the wire keeps, whatever the
// plugin does: no plugin can break them here.
var sdkKeeps = []string{
	"batch-of-none",
	"forward-to-no-port",
	"input-enter-after",
	"screens-of-none",
	"stats-of-none",
	"input-of-an-unknown-kind",
	"input-too-large",
	"kill-cancelled",
	"limits-that-make-no-sense",
	"list-stops",
	"output-callback-fails",
	"output-cancelled",
	"resize-to-no-size",
	"spawn-cancelled",
	"status-running",
	"watch-callback-fails",
	"watch-cancelled",
}

// TestBuiltPlugin: one that is right passes all cases, those about its death too.
func TestBuiltPlugin(t *testing.T) {
	t.Parallel()
	workers := fake.NewEngine()
	e := engine{t: t, backend: func() swarm.Backend { return workers.Backend() }}
	for _, r := range results(t, e.binary(), nil) {
		local := strings.HasPrefix(r.Name, "tree-") || strings.HasPrefix(r.Name, "transcript-") || strings.HasPrefix(r.Name, "owner-") || strings.HasPrefix(r.Name, "moved-") ||
			r.Name == "spawn-no-such-directory" || r.Name == "signal-mode" || r.Name == "stats-of-a-tree"
		if want := map[bool]harness.Outcome{true: harness.Skipped, false: harness.OK}[local]; r.Outcome != want {
			t.Errorf("%s: %s, want %s: %s %q", r.Name, r.Outcome, want, r.Why, r.Problems)
		}
	}
}

// TestBrokenPlugins: a built plugin that breaks one rule fails its case.
func TestBrokenPlugins(t *testing.T) {
	t.Parallel()
	for name, h := range allWays() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workers := fake.NewEngine()
			e := engine{t: t, backend: func() swarm.Backend {
				return &broken{
					Backend: workers.Backend(), hooks: &h,
					looks: map[string]int{}, kills: map[string]int{}, busy: map[string]bool{},
				}
			}}
			got := failed(t, e.binary(), func(n string) bool { return n == name })
			var want []string
			if !slices.Contains(sdkKeeps, name) {
				want = []string{name}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("failed cases (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAnnouncedOptions: a plugin whose backend does not take the options that it announces fails the case.
func TestAnnouncedOptions(t *testing.T) {
	t.Parallel()
	workers := fake.NewEngine()
	e := engine{t: t, backend: func() swarm.Backend { return workers.Backend() }}
	b := e.binary()
	b.Args = append(b.Args, "announces")
	const name = "spawn-announced-options"
	if got := failed(t, b, func(n string) bool { return n == name }); !slices.Equal(got, []string{name}) {
		t.Errorf("failed are %q", got)
	}
}

// tied ends its workers when its process is gone.
type tied struct {
	*fake.Backend
	mu      sync.Mutex
	handles []swarm.Handle
}

func (b *tied) Spawn(ctx context.Context, s swarm.Spec) (swarm.Handle, error) {
	h, err := b.Backend.Spawn(ctx, s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handles = append(b.handles, h)
	return h, err
}

// TestTiedWorkers: a plugin whose workers end with its process fails every case
// about its death, and no other.
func TestTiedWorkers(t *testing.T) {
	t.Parallel()
	workers := fake.NewEngine()
	e := engine{
		t:       t,
		backend: func() swarm.Backend { return &tied{Backend: workers.Backend()} },
		left: func(b swarm.Backend) {
			gone := b.(*tied)
			gone.mu.Lock()
			defer gone.mu.Unlock()
			for _, h := range gone.handles {
				_, _ = gone.Kill(context.WithoutCancel(t.Context()), h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
			}
		},
	}
	names := failed(t, e.binary(), nil)
	for _, name := range names {
		if !strings.HasPrefix(name, "crash-") && !strings.HasPrefix(name, "host-dies-") {
			t.Errorf("%s failed, which is about something else", name)
		}
	}
	// Some rules let a worker be gone, as those of a Spawn, or may have seen its
	// restart before.
	for _, name := range []string{
		"crash-in-kill", "crash-in-output", "crash-in-watch", "crash-in-input", "crash-in-signal",
		"crash-in-screen", "crash-in-complete", "crash-in-status", "crash-in-find", "crash-in-list",
		"crash-in-sweep", "crash-in-attach", "host-dies-in-kill", "host-dies-in-output",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s passed", name)
		}
	}
}
