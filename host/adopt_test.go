package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// elsewhere returns a host with a state directory of its own on the same engine.
func (r *rig) elsewhere(t *testing.T) *rig {
	t.Helper()
	other := newRig(t)
	other.two.dir = r.two.dir
	return other
}

// adopt adopts what must be adopted without a warning.
func (r *rig) adopt(t *testing.T, req AdoptRequest) []AdoptOutcome {
	t.Helper()
	req.Backend = "two"
	outcomes, warnings, err := r.Adopt(t.Context(), req)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Adopt(%+v): %v, %v", req, warnings, err)
	}
	return outcomes
}

// takenOver are the names of those that were entered.
func takenOver(outcomes []AdoptOutcome) []string {
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
	here := newRig(t)
	policy := swarm.KillOptions{Signal: "SIGINT", Grace: 7, Mode: swarm.KillMain}
	a := here.spawn(t, "a", "two", func(req *SpawnRequest) { req.Tags, req.Kill = []string{"blue"}, &policy })
	here.spawn(t, "b", "two", func(req *SpawnRequest) { req.Env = []string{"SECRET=1"} })
	here.spawn(t, "ended", "two")
	here.two.end(t, "ended", swarm.Exit{Code: 3, Cause: swarm.CauseExited})

	there := here.elsewhere(t)
	if diff := cmp.Diff([]string{"a", "b"}, takenOver(there.adopt(t, AdoptRequest{All: true}))); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	got := there.get(t, "a")
	if got.ID != a.ID || got.Status != StatusRunning || got.Backend != "two" || got.Kill != policy ||
		!slices.Equal(got.Command, a.Command) || !slices.Equal(got.Tags, a.Tags) || got.Retain != registry.RetainUntilClean {
		t.Errorf("the adopted worker is %+v, spawned was %+v", got, a)
	}
	if env := there.get(t, "b").Env; env != nil {
		t.Errorf("the environment was adopted too: %v", env)
	}
	there.told(t, "a", "ADOPTED: from backend 'two'")

	for _, out := range there.adopt(t, AdoptRequest{All: true}) {
		if !out.Known {
			t.Errorf("adopted again: %+v", out)
		}
	}
	if outs, err := there.Kill(t.Context(), Selection{Names: []string{"a"}}, KillRequest{}); err != nil || outs[0].Err != nil {
		t.Fatalf("kill of an adopted worker: %v, %v", err, outs)
	}
	there.told(t, "a", "ADOPTED: from backend 'two'", "KILL REQUESTED", "KILLED: by orchestrator")
	if w := here.get(t, "a"); w.Status != StatusStopped {
		t.Errorf("where it was spawned it is %s", w.Status)
	}
	if alive := here.two.alive(t); !slices.Equal(alive, []string{"b"}) {
		t.Errorf("alive are %v", alive)
	}
}

func TestAdoptEnded(t *testing.T) {
	t.Parallel()
	here := newRig(t)
	w := here.spawn(t, "w", "two")
	here.two.end(t, "w", swarm.Exit{Code: 3, Cause: swarm.CauseExited})
	there := here.elsewhere(t)
	if out := there.adopt(t, AdoptRequest{All: true}); len(out) > 0 {
		t.Errorf("all that have not ended are %+v", out)
	}
	there.adopt(t, AdoptRequest{Names: []string{w.ID, "w"}})
	if got := there.get(t, "w"); got.Status != StatusStopped || got.Exit == nil || got.Exit.Code != 3 {
		t.Errorf("adopted as %+v", got)
	}
	there.told(t, "w", "ADOPTED: from backend 'two'", "FAILED: exit status 3")
}

func TestAdoptOfSeveralOfOneName(t *testing.T) {
	t.Parallel()
	one := newRig(t)
	one.spawn(t, "w", "two")
	one.two.end(t, "w", swarm.Exit{Cause: swarm.CauseExited})
	two := one.elsewhere(t)
	running := two.spawn(t, "w", "two")
	three := one.elsewhere(t)
	out := three.adopt(t, AdoptRequest{Names: []string{"w"}})
	if len(out) != 1 || out[0].Worker.ID != running.ID {
		t.Errorf("adopted was %+v, not %s, which runs", out, running.ID)
	}
}

func TestAdoptTakenName(t *testing.T) {
	t.Parallel()
	here := newRig(t)
	here.spawn(t, "w", "two")
	here.spawn(t, "x", "two")
	there := here.elsewhere(t)
	mine := there.spawn(t, "w", "one")
	out := there.adopt(t, AdoptRequest{All: true})
	if diff := cmp.Diff([]string{"x"}, takenOver(out)); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	if err := out[0].Err; !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "cannot adopt 'w'") {
		t.Errorf("of a taken name: %v", err)
	}
	if got := there.get(t, "w"); got.ID != mine.ID {
		t.Errorf("the worker of that name is another one now: %+v", got)
	}
}

func TestAdoptRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "two")
	there := r.elsewhere(t)
	for what, c := range map[string]struct {
		req  AdoptRequest
		want error
		text string
	}{
		"nothing":             {AdoptRequest{Backend: "two"}, ErrNoSelection, "must specify worker name or --all"},
		"an unknown name":     {AdoptRequest{Backend: "two", Names: []string{"w", "ghost"}}, ErrNotFound, "backend 'two' has no worker 'ghost'"},
		"a backend of no use": {AdoptRequest{Backend: "one", All: true}, swarm.ErrUnsupported, "backend 'one' does not support list"},
	} {
		if _, _, err := there.Adopt(t.Context(), c.req); !errors.Is(err, c.want) || err.Error() != c.text {
			t.Errorf("%s: %v, want %q", what, err, c.text)
		}
	}
	if got := there.summary(t); len(got) > 0 {
		t.Errorf("there are workers now: %v", got)
	}
}

// TestAdoptFromAnIncompleteList has an engine of which a part can't be asked: the workers of the
// other part are adopted, and the reason is told.
func TestAdoptFromAnIncompleteList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "a", "two")
	r.spawn(t, "b", "two")
	there := r.elsewhere(t)
	broken := fmt.Errorf("%w: can't reach dead", swarm.ErrUnavailable)
	there.two.onList = func(each func(swarm.Listed) error) error {
		plain := &fakeBackend{dir: there.two.dir}
		return errors.Join(plain.List(t.Context(), each), broken)
	}
	outs, warnings, err := there.Adopt(t.Context(), AdoptRequest{Backend: "two", Names: []string{"a"}})
	if err != nil || len(outs) != 1 || outs[0].Err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Text, "can't reach dead") {
		t.Errorf("by name: %+v, %v, %v", outs, warnings, err)
	}
	outs, warnings, err = there.Adopt(t.Context(), AdoptRequest{Backend: "two", Names: []string{"ghost"}})
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "can't reach dead") || len(outs) > 0 {
		t.Errorf("a name that is not listed: %+v, %v, %v", outs, warnings, err)
	}
	outs, warnings, err = there.Adopt(t.Context(), AdoptRequest{Backend: "two", All: true})
	if diff := cmp.Diff([]string{"b"}, takenOver(outs)); diff != "" || !errors.Is(err, swarm.ErrUnavailable) || len(warnings) > 0 {
		t.Errorf("all: %s, %v, %v", diff, warnings, err)
	}
	there.two.onList = func(func(swarm.Listed) error) error { return broken }
	if outs, _, err := there.Adopt(t.Context(), AdoptRequest{Backend: "two", All: true}); !errors.Is(err, swarm.ErrUnavailable) || len(outs) > 0 {
		t.Errorf("of nothing: %+v, %v", outs, err)
	}
}

func TestAdoptBelievesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good := swarm.Spec{ID: "good", Name: "good", Command: []string{"true"}}
	r.two.onList = func(each func(swarm.Listed) error) error {
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
	out, warnings, err := r.Adopt(t.Context(), AdoptRequest{Backend: "two", All: true})
	if err != nil || len(warnings) != 8 || !slices.Equal(takenOver(out), []string{"good"}) {
		t.Errorf("adopted %v, %d warnings, %v", takenOver(out), len(warnings), err)
	}
}

func TestAdoptedWorkerSurvivesTheLossOfTheRegistry(t *testing.T) {
	t.Parallel()
	here := newRig(t)
	w := here.spawn(t, "w", "two")
	there := here.elsewhere(t)
	there.adopt(t, AdoptRequest{Names: []string{"w"}})
	f, err := there.dir.ReadWorkerFile(w.ID)
	if err != nil || f.Name != "w" || f.Backend != "two" {
		t.Errorf("worker.json says %+v, %v", f, err)
	}
}

// Of many workers that can't be adopted some are named and the others counted, and a
// list ends with the caller's patience.
func TestAdoptFromAnEndlessList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.two.onList = func(each func(swarm.Listed) error) error {
		for range 1000 {
			if err := each(swarm.Listed{Spec: swarm.Spec{ID: "not an id"}}); err != nil {
				return err
			}
		}
		return nil
	}
	_, warnings, err := r.Adopt(t.Context(), AdoptRequest{Backend: "two", All: true})
	if err != nil || len(warnings) != spawn.MaxListWarnings+1 || !strings.Contains(warnings[spawn.MaxListWarnings].Text, "980 more") {
		t.Errorf("%d warnings, %v", len(warnings), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.two.onList = func(each func(swarm.Listed) error) error {
		for n := 0; ; n++ {
			if n == 10 {
				cancel()
			}
			if err := each(swarm.Listed{Spec: swarm.Spec{ID: "not an id"}}); err != nil {
				return err
			}
		}
	}
	if _, _, err := r.Adopt(ctx, AdoptRequest{Backend: "two", All: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("Adopt = %v", err)
	}
}

// TestAdoptedHasTheDefaults: what an adopted worker runs without, its next start has.
func TestAdoptedHasTheDefaults(t *testing.T) {
	t.Parallel()
	here := newRig(t)
	here.can("two", swarm.CapLimitNice, swarm.CapList)
	here.spawn(t, "a", "two")
	here.spawn(t, "b", "two", func(req *SpawnRequest) { req.Limits.Nice = 3 })
	there := here.elsewhere(t)
	there.can("two", swarm.CapLimitNice, swarm.CapList)
	there.opts.Defaults = Defaults{Limits: swarm.Limits{Nice: 7}}
	there.adopt(t, AdoptRequest{Names: []string{"a", "b"}})
	for name, nice := range map[string]int{"a": 0, "b": 3} {
		if got := there.record(t, name).Limits.Nice; got != nice {
			t.Errorf("%s runs with a niceness of %d, and its record says %d", name, nice, got)
		}
		w, err := there.Respawn(t.Context(), name, RespawnRequest{})
		if err != nil || w.Limits.Nice != 7 {
			t.Errorf("%s is started again with %+v, %v", name, w.Limits, err)
		}
	}
}
