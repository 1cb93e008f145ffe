package tmux_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// panes are the ids of all panes of the server, each once.
func (f *fixture) panes() []string {
	out, err := f.tmux("list-panes", "-a", "-F", "#{pane_id}")
	if err != nil || out == "" {
		return nil
	}
	ids := strings.Split(out, "\n")
	slices.Sort(ids)
	return slices.Compact(ids)
}

// pane opens something of the user's, with split-window or the like, and returns its pane.
func (f *fixture) pane(args ...string) string {
	f.t.Helper()
	args = slices.Concat(args[:1], []string{"-d", "-P", "-F", "#{pane_id}"}, args[1:], []string{"sleep 999"})
	return f.mustTmux(args...)
}

// moves are ways in which panes of workers get into windows with others. Each has a worker, its
// neighbour, which is a worker too, and a pane of the user's in another session.
var moves = map[string]func(f *fixture, w, other *worker, mine string){
	"joined to another worker": func(f *fixture, w, other *worker, _ string) {
		f.mustTmux("join-pane", "-d", "-s", w.parts().Pane, "-t", other.parts().Pane)
	},
	"another worker joined": func(f *fixture, w, other *worker, _ string) {
		f.mustTmux("join-pane", "-d", "-s", other.parts().Pane, "-t", w.parts().Pane)
	},
	"joined to the user's": func(f *fixture, w, _ *worker, mine string) {
		f.mustTmux("join-pane", "-d", "-s", w.parts().Pane, "-t", mine)
	},
	"the user's joined": func(f *fixture, w, _ *worker, mine string) {
		f.mustTmux("join-pane", "-d", "-s", mine, "-t", w.parts().Pane)
	},
	"swapped with another worker": func(f *fixture, w, other *worker, _ string) {
		f.mustTmux("swap-pane", "-d", "-s", w.parts().Pane, "-t", other.parts().Pane)
	},
	"swapped with the user's": func(f *fixture, w, _ *worker, mine string) {
		f.mustTmux("swap-pane", "-d", "-s", w.parts().Pane, "-t", mine)
	},
	"joined and broken out": func(f *fixture, w, other *worker, mine string) {
		f.mustTmux("join-pane", "-d", "-s", mine, "-t", w.parts().Pane)
		f.mustTmux("join-pane", "-d", "-s", other.parts().Pane, "-t", w.parts().Pane)
		f.mustTmux("break-pane", "-d", "-s", w.parts().Pane, "-t", "mine:")
	},
	"moved to another session": func(f *fixture, w, other *worker, _ string) {
		f.mustTmux("join-pane", "-d", "-s", other.parts().Pane, "-t", w.parts().Pane)
		f.mustTmux("move-window", "-d", "-s", w.parts().Window, "-t", "mine:")
	},
	"in two sessions": func(f *fixture, w, other *worker, _ string) {
		f.mustTmux("join-pane", "-d", "-s", other.parts().Pane, "-t", w.parts().Pane)
		f.mustTmux("link-window", "-d", "-s", w.parts().Window, "-t", "mine:")
	},
	"next to a pane that was respawned": func(f *fixture, w, _ *worker, _ string) {
		own := f.pane("split-window", "-t", w.parts().Pane)
		f.mustTmux("respawn-pane", "-k", "-t", own, "sleep 998")
	},
	"in the active pane's shadow": func(f *fixture, w, other *worker, mine string) {
		f.mustTmux("join-pane", "-s", mine, "-t", w.parts().Pane)
		f.mustTmux("join-pane", "-s", other.parts().Pane, "-t", w.parts().Pane)
		f.mustTmux("select-pane", "-t", mine)
		f.mustTmux("resize-pane", "-Z", "-t", mine)
	},
}

// TestKillLeavesOtherPanes has a worker end by all ways, wherever its pane is: no other pane is
// closed, and the other worker and its end are not affected.
func TestKillLeavesOtherPanes(t *testing.T) {
	t.Parallel()
	ends := map[string]func(w *worker){
		"killed":          func(w *worker) { w.kill(gently) },
		"by a signal":     func(w *worker) { w.kill(swarm.KillOptions{Signal: "INT", Grace: patience, Force: true}) },
		"without force":   func(w *worker) { w.kill(swarm.KillOptions{Grace: patience}) },
		"from its inside": func(w *worker) { w.kill(swarm.KillOptions{Grace: patience, Force: true, Detach: true}); w.wait() },
		"completed": func(w *worker) {
			if err := w.backend.Complete(w.t.Context(), w.handle, "done", swarm.KillOptions{Force: true}); err != nil {
				w.t.Error(err)
			}
			w.wait()
		},
	}
	order := slices.Sorted(maps.Keys(ends))
	for i, name := range slices.Sorted(maps.Keys(moves)) {
		how := order[i%len(order)]
		t.Run(name+", "+how, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.mustTmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "60", "-s", "mine", "sleep 999")
			mine := f.pane("split-window", "-t", "mine:")
			w := f.spawn("w", "sh", "-c", "echo this is w; exec sleep 999")
			other := f.spawn("other", "sh", "-c", "echo this is other; exec sleep 999")
			w.shows("this is w")
			other.shows("this is other")
			before := f.panes()
			moves[name](f, w, other, mine)
			rest := slices.DeleteFunc(f.panes(), func(id string) bool { return id == w.parts().Pane })
			if len(rest) < len(before)-1 {
				t.Fatalf("the move has lost panes: %q, then %q", before, rest)
			}
			w.wantScreen(0, swarm.Screen{Lines: []string{"this is w"}})
			other.wantScreen(0, swarm.Screen{Lines: []string{"this is other"}})
			want := f.mustTmux("display-message", "-p", "-t", w.parts().Pane, "#{window_name}")
			if s := w.status(); s.Where.Parts["window"] != want {
				t.Errorf("it is in %+v, want the window %q", s.Where, want)
			}
			ends[how](w)
			eventually(t, "its own pane is closed", func() bool { return !slices.Contains(f.panes(), w.parts().Pane) })
			if diff := cmp.Diff(rest, f.panes()); diff != "" {
				t.Errorf("other panes (-before +after):\n%s", diff)
			}
			w.wantScreen(0, swarm.Screen{Lines: []string{"this is w"}, Taken: true})
			if s := other.status(); s.State != swarm.StateRunning {
				t.Errorf("the other worker: %+v, exit %+v", s, s.Exit)
			}
			other.wantScreen(0, swarm.Screen{Lines: []string{"this is other"}})
			if r := other.kill(gently); r.Status.Exit == nil || r.Status.Exit.Cause != swarm.CauseKilled {
				t.Errorf("the kill of the other: %+v", r)
			}
			if _, err := f.backend.Sweep(t.Context(), []swarm.Handle{w.handle, other.handle}, nil); err != nil {
				t.Error(err)
			}
			left := slices.DeleteFunc(rest, func(id string) bool { return id == other.parts().Pane })
			if diff := cmp.Diff(left, f.panes()); diff != "" {
				t.Errorf("the user's panes (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRespawnedPane has the user start something else in the worker's own pane, which keeps its
// id and its mark. The worker ignores that its terminal has closed.
func TestRespawnedPane(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.newWorker("w", "sh", "-c", stubborn)
	w.spec.Kill = swarm.KillOptions{Grace: 10 * time.Minute}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.says("ready")
	f.mustTmux("respawn-pane", "-k", "-t", w.parts().Pane, "echo the secret; exec sleep 999")
	if s := w.status(); s.State != swarm.StateRunning || s.Where.Name != "" {
		t.Errorf("status %+v", s)
	}
	if s, err := f.backend.Screen(t.Context(), w.handle, swarm.ScreenOptions{}); err == nil {
		t.Errorf("the screen of another program: %q", s.Lines)
	}
	lookup := swarm.Lookup{ID: w.spec.ID, Name: "w", Options: w.spec.Options, Local: w.spec.Local}
	if h, err := f.backend.Find(t.Context(), lookup); err != nil || strings.Contains(string(h.Data), `"pane"`) {
		t.Errorf("found %s, %v", h.Data, err)
	}
	w.kill(swarm.KillOptions{Grace: 10 * time.Millisecond, Force: true})
	w.kill(gently)
	warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{w.handle}, nil)
	if err != nil || len(warnings) != 1 {
		t.Errorf("%q, %v", warnings, err)
	}
	if diff := cmp.Diff([]string{w.parts().Pane}, f.panes()); diff != "" {
		t.Error(diff)
	}
}

// TestHooksThatSplit has hooks of the user's open panes in the windows of workers, and make them
// the active ones. A start that fails, and the end of a worker, close the worker's pane alone.
func TestHooksThatSplit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.config("set -g remain-on-exit on",
		"set-hook -g after-new-window 'split-window -b \"exec sleep 999\"'",
		"set-hook -g after-new-session 'split-window -b \"exec sleep 999\"'")
	first := f.spawn("first", "sh", "-c", "echo this is first; exec sleep 999")
	second := f.spawn("second", "sh", "-c", "echo this is second; exec sleep 999")
	bad := f.newWorker("bad", "swarm-no-such-command")
	if err := bad.start(); err == nil {
		t.Error("a command that does not exist was started")
	}
	if got := f.panes(); len(got) != 5 {
		t.Errorf("panes %q: want those of two workers and three of the hooks", got)
	}
	for _, w := range []*worker{first, second} {
		w.shows("this is " + w.spec.Name)
		if got := w.status().Where.Parts["window"]; got != w.spec.Name {
			t.Errorf("%s is in the window %q", w.spec.Name, got)
		}
		w.kill(gently)
	}
	if got := f.panes(); len(got) != 3 || slices.Contains(got, first.parts().Pane) || slices.Contains(got, second.parts().Pane) {
		t.Errorf("panes %q: want three of the hooks", got)
	}
}

// TestDeadPaneElsewhere has a worker end by itself in a window of the user's, where panes stay.
func TestDeadPaneElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.config("set -g remain-on-exit on")
	f.mustTmux("new-session", "-d", "-x", "80", "-y", "24", "-s", "mine", "sleep 999")
	mine := f.pane("split-window", "-t", "mine:")
	w := f.spawn("w", "sh", "-c", "echo ready; read line")
	w.says("ready")
	rest := slices.DeleteFunc(f.panes(), func(id string) bool { return id == w.parts().Pane })
	f.mustTmux("join-pane", "-d", "-s", w.parts().Pane, "-t", mine)
	f.mustTmux("send-keys", "-t", w.parts().Pane, "Enter")
	w.wait()
	eventually(t, "the pane is dead", func() bool {
		return f.mustTmux("display-message", "-p", "-t", w.parts().Pane, "#{pane_dead}") == "1"
	})
	if warnings, err := f.backend.Sweep(t.Context(), []swarm.Handle{w.handle}, nil); err != nil || len(warnings) > 0 {
		t.Errorf("%q, %v", warnings, err)
	}
	if diff := cmp.Diff(rest, f.panes()); diff != "" {
		t.Errorf("the user's panes (-before +after):\n%s", diff)
	}
}

// TestBrokenOutInView has the user break a worker's pane out into a view: it is nowhere else, and
// does not end with the view.
func TestBrokenOutInView(t *testing.T) {
	t.Parallel()
	f, terminal := newFixture(t), newFixture(t)
	w := f.spawn("w", "sleep", "999")
	f.pane("split-window", "-t", w.parts().Pane)
	terminal.mustTmux("new-session", "-d", "-x", "80", "-y", "24", runs(w.attach()))
	w.seen()
	v := f.views()[0]
	f.mustTmux("break-pane", "-d", "-s", w.parts().Pane, "-t", "="+v+":")
	f.mustTmux("detach-client", "-s", "="+v)
	eventually(t, "the client left", func() bool { return f.mustTmux("list-clients") == "" })
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v, exit %+v", s, s.Exit)
	}
}
