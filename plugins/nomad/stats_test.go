//go:build nomad

package nomad_test

import (
	"errors"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Nomad's client counts the processes of a task every few seconds.
func TestStats(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	h := workertest.Spawn(t, b, specOf("figures", "sh", "-c", "sleep 600 & while :; do :; done"))
	var s swarm.Stats
	var err error
	for deadline := time.Now().Add(workertest.Limit); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		results, batchErr := b.Stats(t.Context(), []swarm.Handle{h})
		if batchErr != nil {
			t.Fatal(batchErr)
		}
		s, err = results[0].Stats, results[0].Err
		if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			t.Fatal(err)
		}
		if err == nil && s.CPUShare != nil && *s.CPUShare > 0.01 && s.Processes != nil && *s.Processes >= 2 {
			break
		}
	}
	if err != nil || s.CPUShare == nil || *s.CPUShare <= 0.01 || *s.CPUShare > 2 || s.Processes == nil || *s.Processes < 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.Memory == nil || *s.Memory < 100<<10 || s.MemoryKind != swarm.MemoryRSS {
		t.Errorf("memory %v %q", s.Memory, s.MemoryKind)
	}
	if s.CPUTime != nil || s.Read != nil || s.Threads != nil {
		t.Errorf("what Nomad can't know is %+v", s)
	}
}
