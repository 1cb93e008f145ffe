package display_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func runs(command ...string) func(*spawn.Request) {
	return func(r *spawn.Request) { r.Command = command }
}

// states returns the state of each worker that has one, by its name.
func states(t *testing.T, r *hosttest.Rig) map[string]string {
	t.Helper()
	ws, _, err := r.Workers(t.Context(), worker.Selection{States: true})
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, w := range ws {
		if w.State != nil {
			states[w.Name] = string(w.State.State) + " " + w.State.Source
		}
	}
	return states
}

func TestStates(t *testing.T) {
	t.Parallel()
	for what, caps := range map[string][]swarm.Capability{
		"one look":  {swarm.CapScreen, swarm.CapBatchScreen},
		"one each":  {swarm.CapScreen},
		"no screen": nil,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.Announce("one", caps...)
			var mu sync.Mutex
			var looked []string
			r.One.OnScreen = func(w hosttest.Worker, _ swarm.ScreenOptions) (swarm.Screen, error) {
				mu.Lock()
				defer mu.Unlock()
				looked = append(looked, w.Spec.Name)
				lines := []string{"──────────────", "❯ ", "──────────────"}
				if w.Spec.Name == "strange" || w.Spec.Name == "shell" {
					lines = []string{"what is this"}
				}
				return swarm.Screen{Lines: lines, Taken: w.State != swarm.StateRunning}, nil
			}
			r.MustSpawn(t, "plain", "one", runs("sleep", "1"))
			if got := states(t, r); len(got) > 0 || len(looked) > 0 {
				t.Fatalf("without agents: %v, looked at %v", got, looked)
			}
			r.MustSpawn(t, "agent", "one", runs("claude"))
			r.MustSpawn(t, "strange", "one", runs("claude"))
			r.MustSpawn(t, "shell", "one", runs("bash"), func(q *spawn.Request) { q.Name = "shell" })
			r.MustSpawn(t, "headless", "one", runs("claude", "-p", "hi"))
			r.MustSpawn(t, "off", "one", runs("claude"), func(q *spawn.Request) { q.Profile = profile.None })
			r.MustSpawn(t, "given", "one", runs("my-agent"), func(q *spawn.Request) { q.Profile = "claude" })
			want := map[string]string{"agent": "idle screen", "given": "idle screen", "strange": "unknown ", "headless": "working process"}
			if caps == nil {
				want["agent"], want["given"] = "unknown ", "unknown "
			}
			if diff := cmp.Diff(want, states(t, r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, name := range []string{"plain", "headless", "off"} {
				for _, l := range looked {
					if l == name {
						t.Errorf("the screen of '%s' was looked at", name)
					}
				}
			}
			// A caller that does not ask for states gets none, and no screen is read.
			looked = nil
			if ws, _, err := r.Workers(t.Context(), worker.Selection{}); err != nil || ws[1].State != nil || len(looked) > 0 {
				t.Errorf("not asked for: %+v, %v, looked at %v", ws[1].State, err, looked)
			}
			// No state outlives its process.
			for _, name := range []string{"agent", "headless", "strange", "given"} {
				r.One.End(t, name, swarm.Exit{Code: 0})
			}
			if got := states(t, r); len(got) > 0 {
				t.Errorf("after the end: %v", got)
			}
		})
	}
}
