//go:build ssh

package ssh_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// changed returns a handle with another origin; nil: without one.
func changed(t *testing.T, h swarm.Handle, origin map[string]string) swarm.Handle {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal(h.Data, &data); err != nil {
		t.Fatal(err)
	}
	worker := data["worker"].(map[string]any)
	if len(worker["origin"].(map[string]any)) == 0 {
		t.Fatalf("the handle %s has no origin", h.Data)
	}
	if worker["origin"] = origin; origin == nil {
		delete(worker, "origin")
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return swarm.Handle{Version: h.Version, Data: text}
}

// wantUnknown checks that neither a status nor a kill says anything of a worker.
func (s *scene) wantUnknown(h swarm.Handle, why string) {
	s.Helper()
	// The kill is first: it waits for the programs to be copied, a status only for some seconds.
	r, err := s.backend.Kill(s.Context(), h, swarm.KillOptions{Force: true})
	if !errors.Is(err, swarm.ErrUnavailable) {
		s.Errorf("kill %+v, %v", r, err)
	}
	st, err := s.backend.Status(s.Context(), h)
	if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), why) {
		s.Errorf("status %+v, %v", st, err)
	}
}

// TestOtherMachine asks a machine for a worker that was started on another one of its name.
func TestOtherMachine(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("exec sleep 3600")
	s.wantUnknown(changed(t, h, map[string]string{"machine": "another"}), "'cutbox' is another machine than the one where the worker was started")
	s.wantUnknown(changed(t, h, map[string]string{"store": "another"}), "is not the directory where the worker was started")
	s.wantRunning(h)
	s.wantRunning(changed(t, h, nil)) // as of a machine without ids
}

func (s *scene) wantRunning(h swarm.Handle) {
	s.Helper()
	if st, err := s.backend.Status(s.Context(), h); err != nil || st.State != swarm.StateRunning {
		s.Errorf("status %+v, %v", st, err)
	}
}

// TestUnmounted takes away the home directory of a worker that runs, as an unmount does: the
// worker is not lost.
func TestUnmounted(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("exec sleep 3600")
	dir := filepath.Join(s.server.Home, ".swarm-remote")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	s.backend.Close()
	s.backend = open(t, settings(s.set))
	s.wantUnknown(h, "is the home directory mounted?")
	s.wantUnknown(changed(t, h, nil), "is the home directory mounted?")
	s.backend.Close()
	s.backend = open(t, settings(s.set))
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	s.wantRunning(h)
}

// TestFoundWhereStarted looks for a worker whose handle was lost after the default host has
// changed, and where the host's name has come to mean another machine.
func TestFoundWhereStarted(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, "otherbox")
	dir := t.TempDir()
	spec := specOf("exec sleep 3600")
	note := filepath.Join(dir, "state", "workers", spec.ID)
	if err := os.MkdirAll(note, 0o700); err != nil { // as the host does
		t.Fatal(err)
	}
	b := openIn(t, settings(s.set), dir)
	h, err := b.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	s.ends(h)
	for _, host := range []string{"otherbox", ""} {
		c := settings(s.set)
		c.Host = host
		found, err := openIn(t, c, dir).Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name})
		if err != nil || string(found.Data) != string(h.Data) {
			t.Errorf("with the host %q: found %s, %v", host, found.Data, err)
		}
	}
	path := filepath.Join(note, "ssh.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"store":"`, `"store":"X`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := openIn(t, settings(s.set), dir).Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("on another machine: found %s, %v", found.Data, err)
	}
}

// TestSwept removes what a worker has left over there once its run directory on this side is
// gone, and what those before it have left.
func TestSwept(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	dir := t.TempDir()
	workers := filepath.Join(dir, "state", "workers")
	if err := os.MkdirAll(workers, 0o700); err != nil {
		t.Fatal(err)
	}
	b := openIn(t, settings(s.set), dir)
	spawn := func(script string, owned bool) (swarm.Spec, swarm.Handle) {
		spec := specOf(script)
		if owned {
			if err := os.Mkdir(filepath.Join(workers, spec.ID), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		h, err := b.Spawn(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return spec, h
	}
	earlier, he := spawn("true", true)
	gone, hg := spawn("true", true)
	kept, hk := spawn("true", true)
	others, ho := spawn("true", false)
	runs, hr := spawn("exec sleep 3600", true)
	s.ends(hr)
	for _, h := range []swarm.Handle{he, hg, hk, ho} {
		if err := b.Watch(t.Context(), h, func(swarm.Status) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (ids []string) {
		paths, err := filepath.Glob(filepath.Join(s.server.Home, ".swarm-remote/workers/*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			ids = append(ids, filepath.Base(p))
		}
		return ids
	}
	sweep := func() {
		if lines, err := b.Sweep(t.Context(), []swarm.Handle{hg, hk, ho}, []swarm.Handle{hr}); err != nil || len(lines) > 0 {
			t.Fatal(lines, err)
		}
	}
	sweep() // after their ends
	if all := left(); len(all) != 5 {
		t.Errorf("after their ends there are %v", all)
	}
	for _, spec := range []swarm.Spec{earlier, gone, runs} {
		if err := os.RemoveAll(filepath.Join(workers, spec.ID)); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	want := map[string]bool{kept.ID: true, others.ID: true, runs.ID: true}
	all := left()
	for _, id := range all {
		if !want[id] {
			t.Errorf("%s is left", id)
		}
	}
	if len(all) != len(want) {
		t.Errorf("there are %v, not %v", all, want)
	}
}
