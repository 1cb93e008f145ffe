package view

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// measured is a worker about whose figures all is known.
func measured() host.Figures {
	return host.Figures{
		Worker: jsontest.Full(), CPU: new(1.5),
		Stats: &swarm.Stats{
			Time:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Usage:  swarm.Usage{CPUTime: new(1500 * time.Millisecond), Peak: new(int64(9)), Read: new(int64(4096)), Written: new(int64(0))},
			Memory: new(int64(7)), MemoryKind: swarm.MemoryPSS, Processes: new(2), Threads: new(5),
		},
	}
}

func TestStatsJSON(t *testing.T) {
	t.Parallel()
	const want = `{"name":"w.1","id":"k3x9","status":"lost","time":"2026-01-02T03:04:05Z","cpu":1.5,"cpu_seconds":1.5,` +
		`"memory":7,"memory_kind":"pss","peak":9,"processes":2,"threads":5,"read":4096,"written":0}`
	if diff := cmp.Diff(want, jsontest.Compact(t, StatsJSONOf(measured()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const wantEmpty = `{"name":"w","id":"k3x9","status":"unknown","time":null,"cpu":null,"cpu_seconds":null,` +
		`"memory":null,"memory_kind":null,"peak":null,"processes":null,"threads":null,"read":null,"written":null}`
	if diff := cmp.Diff(wantEmpty, jsontest.Compact(t, StatsJSONOf(host.Figures{Worker: empty()}))); diff != "" {
		t.Errorf("without figures (-want +got):\n%s", diff)
	}
	ended := empty()
	ended.Exit = &swarm.Exit{Usage: &swarm.Usage{CPUTime: new(time.Second)}}
	if got := StatsJSONOf(host.Figures{Worker: ended}); got.CPUSeconds == nil || *got.CPUSeconds != 1 || got.Peak != nil {
		t.Errorf("an ended worker: %+v", got)
	}
	schema := jsontest.ReadSchema(t, "stats")
	for _, f := range []host.Figures{measured(), {Worker: empty()}} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, StatsJSONOf(f))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("stats", schema, v) {
			t.Error(problem)
		}
	}
}
