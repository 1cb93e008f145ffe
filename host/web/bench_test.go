package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/worker"
)

// BenchmarkList makes the page of 1,000 workers.
func BenchmarkList(b *testing.B) {
	var ws []worker.Worker
	for i := range 1000 {
		ws = append(ws, runningWorker(fmt.Sprintf("worker-%d", i)))
	}
	s := New(Options{Host: &fakeHost{workers: ws, changed: make(chan struct{})}})
	go s.feed.run(b.Context())
	s.feed.first(b.Context())
	r := &rig{Server: s}
	for b.Loop() {
		l := listOf(r.feed.now(), dash.View{Sort: dash.SortUrgency}, time.Now())
		if _, err := s.render("layout", page{server: s, Title: "Workers", Part: "list", Nav: "workers", Data: l}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLog makes the events of a worker that writes 1,000 new lines at a time.
func BenchmarkLog(b *testing.B) {
	var old, now []dash.Line
	for i := range 1000 {
		old = append(old, dash.Line{Text: fmt.Sprintf("12:00:00 \x1b[32mINFO\x1b[0m GET /v1/items/%d 200", i)})
		now = append(now, dash.Line{Text: fmt.Sprintf("12:00:01 \x1b[32mINFO\x1b[0m GET /v1/items/%d 200", i)})
	}
	for b.Loop() {
		difference(old, 0, now, 1000)
	}
}
