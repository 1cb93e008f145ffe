package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// A worker that respawns itself is answered first; then another process does it,
// which is not part of the worker.
func TestRespawnFromInside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	me := r.spawn(t, "me", "one")
	r.setEnv("OUT="+filepath.Join(r.root, "out"), "PATH="+os.Getenv("PATH"), "SWARM_TOKEN=secret", swarm.EnvWorkerID+"="+me.ID)
	out := filepath.Join(r.root, "out")
	script := `cat; echo "$0" > "$OUT.new"; env | grep ^SWARM_ | sort >> "$OUT.new"; mv "$OUT.new" "$OUT"`
	r.opts.Executable = "/bin/sh"
	answered := false
	_, err := r.Respawn(t.Context(), "me", RespawnRequest{
		Helper: []string{"-c", script},
		Answer: func(w Worker) {
			answered = w.ID == me.ID && w.Status == StatusRunning
			if _, err := os.Stat(out); err == nil {
				t.Error("it was begun before the answer")
			}
		},
	})
	if err != nil || !answered {
		t.Errorf("answered %v, %v", answered, err)
	}
	waitFor(t, func() bool { _, err := os.Stat(out); return err == nil })
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{me.ID, "SWARM_DIR=" + r.opts.Dir, "SWARM_SHIM=respawn"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(got)), "\n")); diff != "" {
		t.Errorf("the helper (-want +got):\n%s", diff)
	}
	if w := r.get(t, "me"); w.ID != me.ID || len(r.one.kills) > 0 {
		t.Errorf("this process touched it: %+v", w)
	}

	// The helper is in no worker, wherever it was started, and what goes wrong in it
	// is told by the history.
	r.setEnv(append(r.opts.Env, swarm.EnvShim+"=respawn")...)
	if w := r.respawn(t, "me"); w.ID == me.ID || len(r.one.kills["me"]) != 1 {
		t.Errorf("the helper respawned %+v", w)
	}
	r.plugins.errs["one"] = swarm.ErrUnavailable
	if _, err := r.Respawn(t.Context(), "me", RespawnRequest{}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if history := r.linesOf(t, "me"); history[len(history)-1] != "[me] RESPAWN FAILED: unavailable" {
		t.Errorf("the history: %q", history)
	}
}

func TestRespawnFromInsideRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	me := r.spawn(t, "me", "one")
	r.setEnv(swarm.EnvWorkerID + "=" + me.ID)
	as := r.request("me", "one")
	for _, req := range []RespawnRequest{{}, {As: &as, Helper: []string{"again"}}} {
		if _, err := r.Respawn(t.Context(), "me", req); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%+v: %v", req, err)
		}
	}
	if w := r.get(t, "me"); w.ID != me.ID || w.Status != StatusRunning {
		t.Errorf("it was touched: %+v", w)
	}
}

// waitFor waits for what another process does.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not happen in time")
		}
	}
}
