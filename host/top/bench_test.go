package top

import (
	"strconv"
	"testing"

	"github.com/swarmhost/swarm/host/worker"
)

// BenchmarkKey is a key with 1,000 workers: the move of the selection, and the new view.
func BenchmarkKey(b *testing.B) {
	var ws []worker.Worker
	for i := range 1000 {
		ws = append(ws, runningWorker("worker-"+strconv.Itoa(i)))
	}
	r := newRig(b, 120, 40, ws...)
	for b.Loop() {
		r.send(keyNamed("down"))
		_ = r.View()
	}
}
