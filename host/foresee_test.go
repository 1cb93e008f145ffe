package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *fakeBackend) CheckSpawn(_ context.Context, c swarm.SpawnCheck) error {
	b.checks = append(b.checks, c)
	return b.refuses
}

// A plugin that refuses the new worker, or its workspace, keeps the old one as it is.
func TestRespawnAsksThePlugins(t *testing.T) {
	t.Parallel()
	refusal := fmt.Errorf("%w: no room", swarm.ErrInvalidSpec)
	for what, c := range map[string]struct {
		change func(r *rig, w Worker) RespawnRequest
		// workspace says that the workspace plugin refuses, not the backend.
		workspace bool
		// removed says that the old workspace is named as one that is about to be removed.
		removed bool
	}{
		"as its record says": {change: func(*rig, Worker) RespawnRequest { return RespawnRequest{} }},
		"in a new workspace": {change: func(*rig, Worker) RespawnRequest { return RespawnRequest{CleanFirst: true} }},
		"a workspace in place of the old one": {workspace: true, removed: true, change: func(*rig, Worker) RespawnRequest {
			return RespawnRequest{CleanFirst: true}
		}},
		"a workspace of another branch": {workspace: true, change: func(r *rig, _ Worker) RespawnRequest {
			as := r.request("w", "one")
			as.Workspace = &WorkspaceRequest{Plugin: "worktree", Branch: "other"}
			return RespawnRequest{As: &as}
		}},
	} {
		r := newRig(t)
		r.can("one", swarm.CapCheckSpawn)
		r.can("worktree", swarm.CapCheckCreate)
		old := r.spawn(t, "w", "one", withTree)
		if len(r.one.checks)+len(r.tree.checks) > 0 {
			t.Errorf("%s: a plain spawn asks beforehand", what)
		}
		if c.workspace {
			r.tree.refuses = refusal
		} else {
			r.one.refuses = refusal
		}
		_, err := r.Respawn(t.Context(), "w", c.change(r, old))
		if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%s: %v", what, err)
		}
		if w := r.get(t, "w"); w.ID != old.ID || w.Status != StatusRunning || len(r.one.kills["w"]) > 0 || gone(old.Workspace.Path) {
			t.Errorf("%s: it was touched: %+v", what, w)
		}
		if lines := strings.Join(r.linesOf(t, "w"), "\n"); strings.Contains(lines, "RESPAWN FAILED") || strings.Contains(lines, "KILL") {
			t.Errorf("%s: the history says\n%s", what, lines)
		}
		if c.workspace {
			check := r.tree.checks[0]
			if removed := check.Removed != nil && check.Removed.Path == old.Workspace.Path; removed != c.removed {
				t.Errorf("%s: the old workspace is %+v", what, check.Removed)
			}
			continue
		}
		check := r.one.checks[0]
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
	r := newRig(t)
	r.can("one", swarm.CapCheckSpawn)
	r.spawn(t, "w", "one", func(q *SpawnRequest) { q.Env, q.Options = []string{"A=1"}, map[string]string{"k": "v"} })
	w := r.respawn(t, "w")
	all := r.one.all(t)
	spawned := all[slices.IndexFunc(all, func(f fakeWorker) bool { return f.ID == w.ID })].Spec
	if diff := cmp.Diff(spawned, r.one.checks[0].Spec); diff != "" {
		t.Errorf("the check differs (-spawned +checked):\n%s", diff)
	}
	// A worker that has ended loses nothing, so the Spawn itself finds out.
	if _, err := r.Kill(t.Context(), Selection{Names: []string{"w"}}, KillRequest{}); err != nil {
		t.Fatal(err)
	}
	r.one.checks, r.one.refuses = nil, swarm.ErrInvalidSpec
	r.respawn(t, "w")
	if len(r.one.checks) > 0 {
		t.Errorf("it was asked %+v", r.one.checks)
	}
}

// The handle of another backend's worker says nothing to the new backend.
func TestRespawnElsewhereReplacesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("two", swarm.CapCheckSpawn)
	r.spawn(t, "w", "one")
	as := r.request("w", "two")
	as.Dir, as.DirGiven = filepath.Join(r.root, "cwd"), true
	if _, err := r.Respawn(t.Context(), "w", RespawnRequest{As: &as}); err != nil {
		t.Fatal(err)
	}
	if check := r.two.checks[0]; !check.Replaces.IsZero() || check.Spec.Local != nil {
		t.Errorf("it was asked %+v", check)
	}
}
