package spawn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A plugin that refuses the new worker, or its workspace, keeps the old one as it is.
func TestRespawnAsksThePlugins(t *testing.T) {
	t.Parallel()
	refusal := fmt.Errorf("%w: no space", swarm.ErrInvalidSpec)
	for what, c := range map[string]struct {
		change func(r *hosttest.Rig, w worker.Worker) spawn.RespawnRequest
		// workspace says that the workspace plugin refuses, not the backend.
		workspace bool
		// removed says that the old workspace is named as one that is about to be removed.
		removed bool
	}{
		"as its record says": {change: func(*hosttest.Rig, worker.Worker) spawn.RespawnRequest { return spawn.RespawnRequest{} }},
		"in a new workspace": {change: func(*hosttest.Rig, worker.Worker) spawn.RespawnRequest { return spawn.RespawnRequest{CleanFirst: true} }},
		"a workspace in place of the old one": {workspace: true, removed: true, change: func(*hosttest.Rig, worker.Worker) spawn.RespawnRequest {
			return spawn.RespawnRequest{CleanFirst: true}
		}},
		"a workspace of another branch": {workspace: true, change: func(r *hosttest.Rig, _ worker.Worker) spawn.RespawnRequest {
			as := r.Request("w", "one")
			as.Workspace = &spawn.WorkspaceRequest{Plugin: "worktree", Branch: "other"}
			return spawn.RespawnRequest{As: &as}
		}},
	} {
		r := hosttest.New(t)
		r.Announce("one", swarm.CapCheckSpawn)
		r.Announce("worktree", swarm.CapCheckCreate)
		old := r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
		if len(r.One.Checks)+len(r.Tree.Checks) > 0 {
			t.Errorf("%s: a plain spawn asks beforehand", what)
		}
		if c.workspace {
			r.Tree.Refuses = refusal
		} else {
			r.One.Refuses = refusal
		}
		_, err := r.Spawn().Respawn(t.Context(), "w", c.change(r, old))
		if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "no space") {
			t.Errorf("%s: %v", what, err)
		}
		if w := r.Worker(t, "w"); w.ID != old.ID || w.Status != worker.StatusRunning || len(r.One.Kills["w"]) > 0 || gone(old.Workspace.Path) {
			t.Errorf("%s: it was touched: %+v", what, w)
		}
		if lines := strings.Join(r.HistoryLines(t, "w"), "\n"); strings.Contains(lines, "RESPAWN FAILED") || strings.Contains(lines, "KILL") {
			t.Errorf("%s: the history says\n%s", what, lines)
		}
		if c.workspace {
			check := r.Tree.Checks[0]
			if removed := check.Removed != nil && check.Removed.Path == old.Workspace.Path; removed != c.removed {
				t.Errorf("%s: the old workspace is %+v", what, check.Removed)
			}
			continue
		}
		check := r.One.Checks[0]
		if string(check.Replaces.Data) != old.ID || check.Spec.ID == old.ID || !gone(check.Spec.Local.RunDir) {
			t.Errorf("%s: the backend was asked %+v", what, check)
		}
		if fresh := check.NoWorkspace; fresh != (what == "in a new workspace") {
			t.Errorf("%s: without a workspace: %v", what, fresh)
		}
	}
}

// The backend is asked beforehand about exactly the spec that it has to spawn then.
func TestRespawnChecksWhatItSpawns(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapCheckSpawn)
	r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Env, q.Options = []string{"A=1"}, map[string]string{"k": "v"} })
	w := r.MustRespawn(t, "w")
	all := r.One.All(t)
	spawned := all[slices.IndexFunc(all, func(f hosttest.Worker) bool { return f.ID == w.ID })].Spec
	if diff := cmp.Diff(spawned, r.One.Checks[0].Spec); diff != "" {
		t.Errorf("the check differs (-spawned +checked):\n%s", diff)
	}
	// A worker that has ended loses nothing, so the Spawn itself finds out.
	if _, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w"}}, kill.Request{}); err != nil {
		t.Fatal(err)
	}
	r.One.Checks, r.One.Refuses = nil, swarm.ErrInvalidSpec
	r.MustRespawn(t, "w")
	if len(r.One.Checks) > 0 {
		t.Errorf("it was asked %+v", r.One.Checks)
	}
}

// The handle of another backend's worker says nothing to the new backend.
func TestRespawnElsewhereReplacesNothing(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("two", swarm.CapCheckSpawn)
	r.MustSpawn(t, "w", "one")
	as := r.Request("w", "two")
	as.Dir, as.DirGiven = filepath.Join(r.Root, "cwd"), true
	if _, err := r.Spawn().Respawn(t.Context(), "w", spawn.RespawnRequest{As: &as}); err != nil {
		t.Fatal(err)
	}
	if check := r.Two.Checks[0]; !check.Replaces.IsZero() || check.Spec.Local != nil {
		t.Errorf("it was asked %+v", check)
	}
}
