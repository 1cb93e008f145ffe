package spawn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// elsewhere returns a host with a state directory of its own on the same engine.
func elsewhere(t *testing.T, r *hosttest.Rig) *hosttest.Rig {
	t.Helper()
	other := hosttest.New(t)
	other.Two.Dir = r.Two.Dir
	return other
}

// adopt adopts what must be adopted without a warning.
func adopt(t *testing.T, r *hosttest.Rig, req spawn.AdoptRequest) []spawn.AdoptOutcome {
	t.Helper()
	req.Backend = "two"
	outcomes, warnings, err := r.Spawn().Adopt(t.Context(), req)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Adopt(%+v): %v, %v", req, warnings, err)
	}
	return outcomes
}

// takenOver are the names of those that were entered.
func takenOver(outcomes []spawn.AdoptOutcome) []string {
	var names []string
	for _, out := range outcomes {
		if out.Err == nil && !out.Known {
			names = append(names, out.Worker.Name)
		}
	}
	return names
}

func TestAdoptAll(t *testing.T) {
	t.Parallel()
	here := hosttest.New(t)
	policy := swarm.KillOptions{Signal: "SIGINT", Grace: 7, Mode: swarm.KillMain}
	a := here.MustSpawn(t, "a", "two", func(req *spawn.Request) { req.Tags, req.Kill = []string{"blue"}, &policy })
	here.MustSpawn(t, "b", "two", func(req *spawn.Request) { req.Env = []string{"SECRET=1"} })
	here.MustSpawn(t, "ended", "two")
	here.Two.End(t, "ended", swarm.Exit{Code: 3, Cause: swarm.CauseExited})

	there := elsewhere(t, here)
	if diff := cmp.Diff([]string{"a", "b"}, takenOver(adopt(t, there, spawn.AdoptRequest{All: true}))); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	got := there.Worker(t, "a")
	if got.ID != a.ID || got.Status != worker.StatusRunning || got.Backend != "two" || got.Kill != policy ||
		!slices.Equal(got.Command, a.Command) || !slices.Equal(got.Tags, a.Tags) || got.Retain != registry.RetainUntilClean {
		t.Errorf("the adopted worker is %+v, spawned was %+v", got, a)
	}
	if env := there.Worker(t, "b").Env; env != nil {
		t.Errorf("the environment was adopted too: %v", env)
	}
	there.WantHistory(t, "a", "ADOPTED: from backend 'two'")

	for _, out := range adopt(t, there, spawn.AdoptRequest{All: true}) {
		if !out.Known {
			t.Errorf("adopted again: %+v", out)
		}
	}
	if outs, err := there.Kill().Kill(t.Context(), worker.Selection{Names: []string{"a"}}, kill.Request{}); err != nil || outs[0].Err != nil {
		t.Fatalf("kill of an adopted worker: %v, %v", err, outs)
	}
	there.WantHistory(t, "a", "ADOPTED: from backend 'two'", "KILL REQUESTED", "KILLED: by orchestrator")
	if w := here.Worker(t, "a"); w.Status != worker.StatusStopped {
		t.Errorf("where it was spawned it is %s", w.Status)
	}
	if alive := here.Two.Alive(t); !slices.Equal(alive, []string{"b"}) {
		t.Errorf("alive are %v", alive)
	}
}

func TestAdoptEnded(t *testing.T) {
	t.Parallel()
	here := hosttest.New(t)
	w := here.MustSpawn(t, "w", "two")
	here.Two.End(t, "w", swarm.Exit{Code: 3, Cause: swarm.CauseExited})
	there := elsewhere(t, here)
	if out := adopt(t, there, spawn.AdoptRequest{All: true}); len(out) > 0 {
		t.Errorf("all that have not ended are %+v", out)
	}
	adopt(t, there, spawn.AdoptRequest{Names: []string{w.ID, "w"}})
	if got := there.Worker(t, "w"); got.Status != worker.StatusStopped || got.Exit == nil || got.Exit.Code != 3 {
		t.Errorf("adopted as %+v", got)
	}
	there.WantHistory(t, "w", "ADOPTED: from backend 'two'", "FAILED: exit status 3")
}

func TestAdoptOfSeveralOfOneName(t *testing.T) {
	t.Parallel()
	one := hosttest.New(t)
	one.MustSpawn(t, "w", "two")
	one.Two.End(t, "w", swarm.Exit{Cause: swarm.CauseExited})
	two := elsewhere(t, one)
	running := two.MustSpawn(t, "w", "two")
	three := elsewhere(t, one)
	out := adopt(t, three, spawn.AdoptRequest{Names: []string{"w"}})
	if len(out) != 1 || out[0].Worker.ID != running.ID {
		t.Errorf("adopted was %+v, not %s, which runs", out, running.ID)
	}
}

func TestAdoptTakenName(t *testing.T) {
	t.Parallel()
	here := hosttest.New(t)
	here.MustSpawn(t, "w", "two")
	here.MustSpawn(t, "x", "two")
	there := elsewhere(t, here)
	mine := there.MustSpawn(t, "w", "one")
	out := adopt(t, there, spawn.AdoptRequest{All: true})
	if diff := cmp.Diff([]string{"x"}, takenOver(out)); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	if err := out[0].Err; !errors.Is(err, worker.ErrExists) || !strings.Contains(err.Error(), "cannot adopt 'w'") {
		t.Errorf("of a taken name: %v", err)
	}
	if got := there.Worker(t, "w"); got.ID != mine.ID {
		t.Errorf("the worker of that name is another one now: %+v", got)
	}
}

func TestAdoptRefused(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "two")
	there := elsewhere(t, r)
	for what, c := range map[string]struct {
		req  spawn.AdoptRequest
		want error
		text string
	}{
		"nothing":             {spawn.AdoptRequest{Backend: "two"}, worker.ErrNoSelection, "must specify worker name or --all"},
		"an unknown name":     {spawn.AdoptRequest{Backend: "two", Names: []string{"w", "ghost"}}, store.ErrNotFound, "backend 'two' has no worker 'ghost'"},
		"an unsuited backend": {spawn.AdoptRequest{Backend: "one", All: true}, swarm.ErrUnsupported, "backend 'one' does not support list"},
	} {
		if _, _, err := there.Spawn().Adopt(t.Context(), c.req); !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("%s: %v, want %q", what, err, c.text)
		}
	}
	if got := there.Statuses(t); len(got) > 0 {
		t.Errorf("there are workers now: %v", got)
	}
}

// TestAdoptFromAnIncompleteList has an engine of which a part can't be asked: the workers of the
// other part are adopted, and the reason is reported.
func TestAdoptFromAnIncompleteList(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "a", "two")
	r.MustSpawn(t, "b", "two")
	there := elsewhere(t, r)
	broken := fmt.Errorf("%w: can't reach dead", swarm.ErrUnavailable)
	there.Two.OnList = func(each func(swarm.Listed) error) error {
		plain := &hosttest.Backend{Dir: there.Two.Dir}
		return errors.Join(plain.List(t.Context(), each), broken)
	}
	outs, warnings, err := there.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", Names: []string{"a"}})
	if err != nil || len(outs) != 1 || outs[0].Err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "can't reach dead") {
		t.Errorf("by name: %+v, %v, %v", outs, warnings, err)
	}
	outs, warnings, err = there.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", Names: []string{"ghost"}})
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "can't reach dead") || len(outs) > 0 {
		t.Errorf("a name that is not listed: %+v, %v, %v", outs, warnings, err)
	}
	outs, warnings, err = there.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", All: true})
	if diff := cmp.Diff([]string{"b"}, takenOver(outs)); diff != "" || !errors.Is(err, swarm.ErrUnavailable) || len(warnings) > 0 {
		t.Errorf("all: %s, %v, %v", diff, warnings, err)
	}
	there.Two.OnList = func(func(swarm.Listed) error) error { return broken }
	if outs, _, err := there.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", All: true}); !errors.Is(err, swarm.ErrUnavailable) || len(outs) > 0 {
		t.Errorf("of nothing: %+v, %v", outs, err)
	}
}

func TestAdoptBelievesNothing(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	good := swarm.Spec{ID: "good", Name: "good", Command: []string{"true"}}
	r.Two.OnList = func(each func(swarm.Listed) error) error {
		for _, change := range []func(*swarm.Spec){
			func(s *swarm.Spec) { s.ID = "../../etc" },
			func(s *swarm.Spec) { s.ID = "" },
			func(s *swarm.Spec) { s.Name = "a b" },
			func(s *swarm.Spec) { s.Command = nil },
			func(s *swarm.Spec) { s.Dir = "relative" },
			func(s *swarm.Spec) { s.Tags = []string{"\x1b[2J"} },
			func(s *swarm.Spec) { s.Kill.Signal = "SIGNOTHING" },
			func(s *swarm.Spec) { s.Restart.When = "maybe" },
			func(*swarm.Spec) {},
		} {
			spec := good
			change(&spec)
			if err := each(swarm.Listed{Spec: spec, Handle: swarm.Handle{Version: 1, Data: []byte("good")}, Status: swarm.Status{State: swarm.StateRunning}}); err != nil {
				return err
			}
		}
		return nil
	}
	out, warnings, err := r.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", All: true})
	if err != nil || len(warnings) != 8 || !slices.Equal(takenOver(out), []string{"good"}) {
		t.Errorf("adopted %v, %d warnings, %v", takenOver(out), len(warnings), err)
	}
}

func TestAdoptedWorkerSurvivesTheLossOfTheRegistry(t *testing.T) {
	t.Parallel()
	here := hosttest.New(t)
	w := here.MustSpawn(t, "w", "two")
	there := elsewhere(t, here)
	adopt(t, there, spawn.AdoptRequest{Names: []string{"w"}})
	f, err := there.StateDir().ReadWorkerFile(w.ID)
	if err != nil || f.Name != "w" || f.Backend != "two" {
		t.Errorf("worker.json says %+v, %v", f, err)
	}
}

// Of many workers that can't be adopted some are named and the others counted, and a
// list ends with the caller's patience.
func TestAdoptFromAnEndlessList(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Two.OnList = func(each func(swarm.Listed) error) error {
		for range 1000 {
			if err := each(swarm.Listed{Spec: swarm.Spec{ID: "not an id"}}); err != nil {
				return err
			}
		}
		return nil
	}
	_, warnings, err := r.Spawn().Adopt(t.Context(), spawn.AdoptRequest{Backend: "two", All: true})
	if err != nil || len(warnings) != spawn.MaxListWarnings+1 || !strings.Contains(warnings[spawn.MaxListWarnings].Text, "980 more") {
		t.Errorf("%d warnings, %v", len(warnings), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Two.OnList = func(each func(swarm.Listed) error) error {
		for n := 0; ; n++ {
			if n == 10 {
				cancel()
			}
			if err := each(swarm.Listed{Spec: swarm.Spec{ID: "not an id"}}); err != nil {
				return err
			}
		}
	}
	if _, _, err := r.Spawn().Adopt(ctx, spawn.AdoptRequest{Backend: "two", All: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("Adopt = %v", err)
	}
}

// TestAdoptedHasTheDefaults: what an adopted worker runs without, its next start has.
func TestAdoptedHasTheDefaults(t *testing.T) {
	t.Parallel()
	here := hosttest.New(t)
	here.Announce("two", swarm.CapLimitNice, swarm.CapList)
	here.MustSpawn(t, "a", "two")
	here.MustSpawn(t, "b", "two", func(req *spawn.Request) { req.Limits.Nice = 3 })
	there := elsewhere(t, here)
	there.Announce("two", swarm.CapLimitNice, swarm.CapList)
	there.Configure(t, func(o *host.Options) { o.Defaults.Limits.Nice = 7 })
	adopt(t, there, spawn.AdoptRequest{Names: []string{"a", "b"}})
	for name, nice := range map[string]int{"a": 0, "b": 3} {
		if got := there.Record(t, name).Limits.Nice; got != nice {
			t.Errorf("%s runs with a niceness of %d, and its record says %d", name, nice, got)
		}
		w, err := there.Spawn().Respawn(t.Context(), name, spawn.RespawnRequest{})
		if err != nil || w.Limits.Nice != 7 {
			t.Errorf("%s is started again with %+v, %v", name, w.Limits, err)
		}
	}
}
