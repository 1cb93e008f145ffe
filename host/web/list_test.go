package web

import (
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func runningWorker(name string) worker.Worker {
	return worker.Worker{Spec: registry.Spec{ID: "id-" + name, Name: name, Backend: "process", Command: []string{"sleep", "9"}}, Status: worker.StatusRunning, PID: 7, Started: time.Now().Add(-2 * time.Hour)}
}

func exited(name string, code int) worker.Worker {
	return worker.Worker{
		Spec:   registry.Spec{ID: "id-" + name, Name: name, Backend: "process", Command: []string{"false"}},
		Status: worker.StatusStopped, Exit: &swarm.Exit{Cause: swarm.CauseExited, Code: code}, Ended: time.Now().Add(-5 * time.Minute),
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	hostile := runningWorker("<script>alert(1)</script>\u202e\x1b[31m")
	hostile.ID = "id-hostile"
	hostile.Tags = []string{`"><img src=x onerror=alert(2)>`}
	hostile.Command = []string{"sh", "-c", "</code><script>alert(3)</script>\x1b]0;x\a"}
	r := newRig(t, nil, runningWorker("one"), exited("two", 3), exited("three", 0), hostile)
	page := r.page("/")
	for _, want := range []string{
		"Needs attention", "exited 3", "running <time", "2h</time>", "5m ago", "<b>1</b> failed", "<b>2</b> running", "read-only",
		"<title>(1) Workers · swarm</title>", "&lt;script&gt;alert(1)", `\u202e`, `\x1b[31m`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script>alert", "<img src=x", "\x1b", "\u202e", "style=", "onclick"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if at := strings.Index; at(page, ">two<") > at(page, ">one<") || at(page, ">one<") > at(page, ">three<") {
		t.Errorf("the order is wrong:\n%s", page)
	}
	if page := r.page("/?q=TWO+exited"); strings.Contains(page, ">one<") || !strings.Contains(page, ">two<") {
		t.Errorf("the filter:\n%s", page)
	}
	if page := r.page("/?q=none+such"); !strings.Contains(page, "No worker matches") {
		t.Errorf("the filter:\n%s", page)
	}
	if page := newRig(t, nil).page("/"); !strings.Contains(page, "No workers yet") {
		t.Errorf("without workers:\n%s", page)
	}
}

func TestLiveList(t *testing.T) {
	t.Parallel()
	one := runningWorker("one")
	r := newRig(t, nil, one)
	go func() {
		r.feed.first(t.Context())
		r.host.mu.Lock()
		r.host.workers = []worker.Worker{one, exited("two", 3)}
		r.host.mu.Unlock()
		r.host.changed <- struct{}{}
	}()
	got := r.events("/live", `id-one`, `exited 3`, `"Workers · swarm"`, `"(1) Workers · swarm"`)
	if strings.Count(got, `\"w-id-one\"`) != 1 {
		t.Errorf("a row that did not change was sent again:\n%s", got)
	}
}
