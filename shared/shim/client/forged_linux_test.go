package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func names(ps []swarm.Process, pid int) bool {
	return slices.ContainsFunc(ps, func(p swarm.Process) bool { return p.PID == pid })
}

// TestForgedStatus has a worker that wrote another process of the user into its
// status.json, in every role. The result names that process, which gets no signal.
func TestForgedStatus(t *testing.T) {
	t.Parallel()
	// It leads a session, and has a mark of its own in one of the tests.
	for name, env := range map[string][]string{
		"plain": {"PATH=" + os.Getenv("PATH")}, "marked": {"PATH=" + os.Getenv("PATH"), swarm.EnvShim + "=tmux"},
	} {
		for _, role := range []string{"main", "session", "shim"} {
			t.Run(name+" "+role, func(t *testing.T) {
				t.Parallel()
				bystander := exec.CommandContext(t.Context(), "setsid", "-w", "sleep", "999")
				bystander.Env = env
				if err := bystander.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() {
					_ = bystander.Process.Kill()
					_ = bystander.Wait()
				}()
				victim, err := proc.Identify(bystander.Process.Pid)
				if err != nil {
					t.Fatal(err)
				}
				w := newWorker(t)
				gone := rundir.Identity{PID: 1 << 22, Start: 1, Boot: victim.Boot}
				st := rundir.Status{Version: rundir.StatusVersion, ID: w.id, State: rundir.StateRunning, Shim: gone, Main: gone}
				switch role {
				case "shim":
					st.Shim = victim
				case "main":
					st.Main, st.Session = victim, victim.PID
				case "session":
					p, err := proc.Read(victim.PID)
					if err != nil {
						t.Fatal(err)
					}
					st.Session, st.Main = p.Session, victim
				}
				if err := os.WriteFile(filepath.Join(w.dir, rundir.StatusFile), rundir.EncodeStatus(st), 0o600); err != nil {
					t.Fatal(err)
				}
				r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: 50 * time.Millisecond, Force: true})
				if role != "shim" && (!errors.Is(err, swarm.ErrSurvivors) || !names(r.Survivors, victim.PID)) {
					t.Errorf("it is not named: %+v, %v", r, err)
				}
				if !victim.Alive() {
					t.Error("it was killed")
				}
				if s, err := client.Status(w.dir, w.id); err != nil || s.State != swarm.StateLost {
					t.Errorf("status %+v, %v", s, err)
				}
				if client.IsKept(w.dir, st) {
					t.Error("it is taken for the shim")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if s, err := await(ctx, w); err != nil || s.State != swarm.StateLost {
					t.Errorf("waited: %+v, %v", s, err)
				}
			})
		}
	}
}

// TestForgedForeigner has a status that names a process of another user as the shim:
// the run directory is not that user's.
func TestForgedForeigner(t *testing.T) {
	t.Parallel()
	foreigner, err := proc.Identify(1)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(t)
	st := rundir.Status{Version: rundir.StatusVersion, ID: w.id, State: rundir.StateRunning, Shim: foreigner, Main: foreigner}
	if err := os.WriteFile(filepath.Join(w.dir, rundir.StatusFile), rundir.EncodeStatus(st), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := client.Status(w.dir, w.id); err != nil || s.State != swarm.StateLost {
		t.Errorf("status %+v, %v", s, err)
	}
	if _, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: 50 * time.Millisecond}); errors.Is(err, swarm.ErrPermission) {
		t.Errorf("kill: %v", err)
	}
}

// TestLeftBehind has what a worker that lost its shim left behind without a proof. It
// is named and left alone. Not parallel: others would see it too.
func TestLeftBehind(t *testing.T) {
	const silent = "</dev/null >/dev/null 2>&1"
	for name, command := range map[string]string{
		"holds the output": "env -i setsid sleep 999",
		"marked":           "env SWARM_WORKER_ID=0000000000000000 setsid sleep 999",
		"in the directory": "env -i setsid sleep 999 " + silent,
		"by a shell":       "env -i PATH=$PATH setsid sh -c \"exec sleep 999\" " + silent,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "sh", "-c", fmt.Sprintf(`
				sh -c '%s & echo $! >left'
				cat left; exec sleep 999`, command))
			pid, err := strconv.Atoi(w.firstLine())
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is on its own", func() bool {
				p, err := proc.Read(pid)
				return err == nil && p.Name == "sleep" && p.Session == pid && p.Parent == w.facts().Shim.PID
			})
			left, err := proc.Identify(pid)
			if err != nil {
				t.Fatal(err)
			}
			w.loseShim()
			for range 2 {
				r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: time.Second, Force: true})
				if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) != 1 || r.Survivors[0].PID != pid {
					t.Errorf("result %+v, %v", r, err)
				}
			}
			if carriers := w.carriers(); len(carriers) > 0 {
				t.Errorf("left: %v", carriers)
			}
			if err := left.Signal(9); err != nil {
				t.Errorf("it was killed: %v", err)
			}
			eventually(t, "it is gone", func() bool { return !left.Alive() })
		})
	}
}
