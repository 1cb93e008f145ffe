package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestLives(t *testing.T) {
	t.Parallel()
	end := time.Now()
	begin := end.Add(-time.Hour)
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	here := runningWorker("here")
	here.Created = at(30)
	failed := exited("failed", 3)
	failed.Created, failed.Ended = at(-30), at(15)
	old := exited("old", 0)
	old.Created, old.Ended = at(-50), at(-40)
	r := newRig(t, nil, here, failed, old)
	lives := livesOf(r.feed.first(t.Context()).Items, []registry.Event{
		{Time: at(10), Worker: "gone", ID: "g", Kind: history.Spawned},
		{Time: at(12), Worker: "gone", ID: "g", Kind: history.Restarted},
		{Time: at(20), Worker: "gone", ID: "g", Kind: history.Died, Final: true},
		{Time: at(30), Worker: "gone", ID: "g", Kind: history.Cleaned},
		// This one ended before the span.
		{Time: at(30), Worker: "long gone", ID: "l", Kind: history.Cleaned},
	}, begin, end)
	place(lives, begin, end)
	var got []string
	for _, l := range lives {
		got = append(got, strings.Join([]string{l.Name, l.From, l.Width, string(l.Fate), strconv.FormatBool(l.Open), strconv.Itoa(len(l.Ticks))}, " "))
	}
	want := []string{"here 50.000% 50.000% runs true 0", "gone 16.667% 16.667% lost false 1", "failed 0.000% 25.000% failed false 0"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestFatesOfLives: every way to end is drawn in a way of its own, and a worker whose end no one
// saw is not shown as one that runs.
func TestFatesOfLives(t *testing.T) {
	t.Parallel()
	end := time.Now()
	begin := end.Add(-time.Hour)
	ended := func(name string, e *swarm.Exit) worker.Worker {
		w := exited(name, 0)
		w.Created, w.Exit = begin.Add(time.Minute), e
		return w
	}
	died := ended("died", nil)
	died.Ended = time.Time{}
	longGone := died
	longGone.ID, longGone.Name, longGone.Created = "id-longgone", "longgone", begin.Add(-time.Hour)
	lost := runningWorker("lost")
	lost.Status, lost.Created = worker.StatusLost, begin.Add(-time.Hour)
	asks := runningWorker("asks")
	asks.State = &judgement.State{State: profile.Blocked}
	paused := runningWorker("paused")
	paused.Paused = true
	wants := map[string]fate{
		"runs": fateRunning, "asks": fateAsking, "paused": fateWaiting, "died": fateLost, "lost": fateLost,
		"well": fateWell, "failed": fateFailed, "killed": fateKilled, "loop": fateLoop, "looped": fateLoop, "ended": fateKilled,
	}
	r := newRig(t, nil, runningWorker("runs"), asks, paused, died, longGone, lost,
		ended("well", &swarm.Exit{Cause: swarm.CauseExited}), ended("failed", &swarm.Exit{Cause: swarm.CauseExited, Code: 3}),
		ended("killed", &swarm.Exit{Cause: swarm.CauseKilled, Signal: "SIGTERM"}), ended("loop", &swarm.Exit{Cause: swarm.CauseCrashLoop, Code: 1}))
	r.host.events = []registry.Event{
		{Time: end.Add(-40 * time.Minute), Worker: "died", ID: "id-died", Kind: history.Died, Final: true},
		{Time: end.Add(-30 * time.Minute), Worker: "looped", ID: "looped", Kind: history.CrashLoop},
		{Time: end.Add(-30 * time.Minute), Worker: "looped", ID: "looped", Kind: history.Failed, Final: true},
		{Time: end.Add(-30 * time.Minute), Worker: "ended", ID: "ended", Kind: history.Killed, Final: true},
	}
	lives := livesOf(r.feed.first(t.Context()).Items, r.host.events, begin, end)
	for _, l := range lives {
		want, ok := wants[l.Name]
		if !ok || l.Fate != want {
			t.Errorf("%s looks as %q, want %q", l.Name, l.Fate, want)
		}
		if over := l.Fate == fateLost || l.Fate == fateKilled; over && l.Open {
			t.Errorf("%s has ended, and is shown as one that continues", l.Name)
		}
		delete(wants, l.Name)
	}
	for name := range wants {
		t.Errorf("%s is not shown", name)
	}
	// A row of the timeline looks like the others: only its bar has the colour.
	style := "\n" + string(files["style.css"].data)
	for _, l := range legends {
		if strings.Contains(style, "\n."+l.Class+" {") {
			t.Errorf("the style sheet changes all that is %q", l.Class)
		}
	}
	page := r.page("/timeline")
	for _, l := range legends {
		if !strings.Contains(page, `<span class="`+l.Class+`"><i`) || !strings.Contains(page, l.Label) {
			t.Errorf("the legend lacks %q:\n%s", l.Label, page)
		}
	}
}

func TestAxis(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	ago := func(d time.Duration) life { return life{begin: end.Add(-d)} }
	for _, c := range []struct {
		span  time.Duration
		lives []life
		want  time.Duration
		marks string
	}{
		{time.Hour, nil, time.Hour, "11:10 11:20 11:30 11:40 11:50"},
		{time.Hour, []life{ago(10 * time.Minute), ago(2 * time.Hour)}, time.Hour, "11:10 11:20 11:30 11:40 11:50"},
		{time.Hour, []life{ago(10 * time.Minute), ago(5 * time.Minute)}, 10*time.Minute + 12*time.Second, "11:51 11:54 11:57"},
		{7 * 24 * time.Hour, []life{ago(10 * time.Minute)}, 10*time.Minute + 12*time.Second, "11:51 11:54 11:57"},
		{time.Hour, []life{ago(time.Second)}, time.Minute, "11:59:10 11:59:20 11:59:30 11:59:40 11:59:50"},
	} {
		begin := beginOf(c.lives, end.Add(-c.span), end)
		if got := end.Sub(begin); got != c.want {
			t.Errorf("%d lives in %s: %s are shown, want %s", len(c.lives), c.span, got, c.want)
		}
		var marks []string
		for _, m := range marksOf(begin, end) {
			marks = append(marks, m.Label)
		}
		if got := strings.Join(marks, " "); got != c.marks {
			t.Errorf("%d lives in %s: marks %s, want %s", len(c.lives), c.span, got, c.marks)
		}
	}
}

// livesOf returns the lives between two moments, the newest first.
func livesOf(items []dash.Item, events []registry.Event, begin, end time.Time) []life {
	ls := newLives(items, begin, end)
	for _, e := range events {
		ls.add(e)
	}
	return ls.list()
}
