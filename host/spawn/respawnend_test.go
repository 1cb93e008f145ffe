package spawn_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A worker that respawns itself is answered first; then another process does it,
// which is not part of the worker.
func TestRespawnFromInside(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	me := r.MustSpawn(t, "me", "one")
	r.SetEnv(t, "OUT="+filepath.Join(r.Root, "out"), "PATH="+os.Getenv("PATH"), "SWARM_TOKEN=secret", swarm.EnvWorkerID+"="+me.ID)
	out := filepath.Join(r.Root, "out")
	script := `cat; echo "$0" > "$OUT.new"; env | grep ^SWARM_ | sort >> "$OUT.new"; mv "$OUT.new" "$OUT"`
	if err := errors.Join(os.Remove(r.Options.Executable), os.Symlink("/bin/sh", r.Options.Executable)); err != nil {
		t.Fatal(err)
	}
	answered := false
	_, err := r.Spawn().Respawn(t.Context(), "me", spawn.RespawnRequest{
		Helper: []string{"-c", script},
		Answer: func(w worker.Worker) {
			answered = w.ID == me.ID && w.Status == worker.StatusRunning
			if _, err := os.Stat(out); err == nil {
				t.Error("it was begun before the answer")
			}
		},
	})
	if err != nil || !answered {
		t.Errorf("answered %v, %v", answered, err)
	}
	hosttest.WaitFor(t, func() bool { _, err := os.Stat(out); return err == nil })
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{me.ID, "SWARM_DIR=" + r.Dir(), "SWARM_SHIM=respawn"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(got)), "\n")); diff != "" {
		t.Errorf("the helper (-want +got):\n%s", diff)
	}
	if w := r.Worker(t, "me"); w.ID != me.ID || len(r.One.Kills) > 0 {
		t.Errorf("this process touched it: %+v", w)
	}

	// The helper is in no worker, wherever it was started, and what goes wrong in it
	// is in the history.
	r.SetEnv(t, append(r.Options.Env, swarm.EnvShim+"=respawn")...)
	if w := r.MustRespawn(t, "me"); w.ID == me.ID || len(r.One.Kills["me"]) != 1 {
		t.Errorf("the helper respawned %+v", w)
	}
	r.Starter.Errors["one"] = swarm.ErrUnavailable
	if _, err := r.Spawn().Respawn(t.Context(), "me", spawn.RespawnRequest{}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if history := r.HistoryLines(t, "me"); history[len(history)-1] != "[me] RESPAWN FAILED: unavailable" {
		t.Errorf("the history: %q", history)
	}
}

func TestRespawnFromInsideRefused(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	me := r.MustSpawn(t, "me", "one")
	r.SetEnv(t, swarm.EnvWorkerID+"="+me.ID)
	as := r.Request("me", "one")
	for _, req := range []spawn.RespawnRequest{{}, {As: &as, Helper: []string{"again"}}} {
		if _, err := r.Spawn().Respawn(t.Context(), "me", req); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%+v: %v", req, err)
		}
	}
	if w := r.Worker(t, "me"); w.ID != me.ID || w.Status != worker.StatusRunning {
		t.Errorf("it was touched: %+v", w)
	}
}
