package client_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestLost(t *testing.T) {
	t.Parallel()
	// A process in the session without the id, another with the id outside of the session,
	// and a child of the other with neither.
	w := start(t, "sh", "-c", `
		env -i sleep 901 &
		setsid sh -c 'env -i setsid sleep 902 & exec sleep 903' &
		echo ready; exec sleep 904`)
	w.firstLine()
	eventually(t, "all are there", func() bool { return len(namesOf(w)) == 4 })
	w.loseShim()
	s := w.status()
	if s.State != swarm.StateLost || s.Reason != "shim died, exit unknown" || s.PID == 0 {
		t.Errorf("status %+v", s)
	}
	if len(s.Survivors) != 4 {
		t.Errorf("survivors %v", s.Survivors)
	}
	if err := client.Output(t.Context(), w.dir, swarm.OutputOptions{Follow: true}, func(swarm.Output) error { return nil }); err != nil {
		t.Errorf("output does not end: %v", err)
	}
	r := w.kill(gently)
	if r.Status.State != swarm.StateLost || len(r.Status.Survivors) > 0 || r.Signal != "SIGTERM" || r.Forced {
		t.Errorf("result %+v", r)
	}
	if left := namesOf(w); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if r := w.kill(gently); !r.AlreadyEnded || r.Status.State != swarm.StateLost {
		t.Errorf("a second kill: %+v", r)
	}
}

// namesOf are the sleepers of TestLost that live.
func namesOf(w *worker) []int {
	w.t.Helper()
	var pids []int
	st := w.facts()
	found, err := proc.Find(func(p proc.Process) bool { return p.Name == "sleep" && p.Start >= st.Shim.Start })
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range found {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
		switch string(line) {
		case "sleep\x00901\x00", "sleep\x00902\x00", "sleep\x00903\x00", "sleep\x00904\x00":
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func TestLostStubborn(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	w.loseShim()
	r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: 50 * time.Millisecond})
	if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) < 3 || r.Status.State != swarm.StateLost {
		t.Errorf("without force: %+v, %v", r, err)
	}
	r = w.kill(swarm.KillOptions{Grace: 50 * time.Millisecond, Force: true})
	if !r.Forced || len(r.Survivors) > 0 {
		t.Errorf("with force: %+v", r)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLostLeavesInnerShim has a worker that started another one, and loses the
// shim of the outer one.
func TestLostLeavesInnerShim(t *testing.T) {
	t.Parallel()
	inner := newWorker(t)
	inner.end()
	outer := newWorker(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := outer.launch("sh", "-c", `"$0" || exit; echo ready; exec sleep 999`, self)
	l.Env = append(l.Env, envStart+"="+inner.id, envDir+"="+inner.dir, envShim+"="+shimPath)
	if err := outer.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if got := outer.firstLine(); got != "ready" {
		t.Fatalf("the inner worker was not started: %s", got)
	}
	outer.loseShim()
	outer.kill(gently)
	if s := inner.status(); s.State != swarm.StateRunning {
		t.Errorf("the inner worker: %+v", s)
	}
	if left := outer.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRecycledPID has records that name pids which now belong to other
// processes: as shim, as main process, and as the session.
func TestRecycledPID(t *testing.T) {
	t.Parallel()
	bystander := exec.CommandContext(t.Context(), "setsid", "-w", "sleep", "999")
	bystander.Env = []string{"PATH=" + os.Getenv("PATH")}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	now, err := proc.Identify(bystander.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	before := now
	before.Start--
	otherBoot := now
	otherBoot.Boot = "00000000-0000-0000-0000-000000000000"
	for name, recorded := range map[string]proc.Identity{"start time": before, "boot": otherBoot} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			b, err := json.Marshal(rundir.Status{
				Version: rundir.StatusVersion, ID: w.id, State: rundir.StateRunning,
				Shim: recorded, Main: recorded, Session: recorded.PID, StartedNS: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.dir, rundir.StatusFile), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if s := w.status(); s.State != swarm.StateLost || len(s.Survivors) > 0 {
				t.Errorf("status %+v", s)
			}
			if r := w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true}); !r.AlreadyEnded {
				t.Errorf("result %+v", r)
			}
		})
	}
	if !now.Alive() {
		t.Error("the bystander was killed")
	}
	if err := bystander.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = bystander.Wait()
}

// TestLostPerhapsAlive has workers whose processes prove nothing of themselves once the shim is
// gone: they are reported, the main process by its recorded identity, and not signalled.
func TestLostPerhapsAlive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		// main says that the main process is among them, count how many there are.
		main  bool
		count int
	}{
		"main":                   {`echo ready; exec env -i sleep 911`, true, 1},
		"main elsewhere":         {`cd /; echo ready; exec env -i sleep 911 > /dev/null 2>&1 < /dev/null`, true, 1},
		"child in its session":   {`env -i sleep 911 & echo ready; exec env -i sleep 912`, true, 2},
		"daemon with its output": {`env -i setsid sleep 911 & echo ready; exec env -i sleep 912`, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, "sh", "-c", c.command)
			w.firstLine()
			// The identity stays that of the shell, which becomes the other program.
			main := w.facts().Main
			var ps []proc.Process
			eventually(t, "all are there", func() bool {
				ps = sleepersOf(t, w)
				return len(ps) == c.count
			})
			w.loseShim()
			s := w.status()
			if s.State != swarm.StateLost || len(s.Survivors) != 0 || len(s.PerhapsAlive) != c.count {
				t.Fatalf("status %+v", s)
			}
			if first := s.PerhapsAlive[0]; c.main && (s.PID != main.PID || first.PID != main.PID || first.Name != "sleep" || time.Since(first.Started) > time.Hour) {
				t.Errorf("status %+v, main process %+v", s, main)
			}
			r, err := client.Kill(t.Context(), w.dir, w.id, gently)
			if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) != c.count || len(r.Status.PerhapsAlive) != c.count || r.Signal != "" {
				t.Errorf("kill: %+v, %v", r, err)
			}
			for _, p := range ps {
				if !p.Alive() {
					t.Errorf("pid %d was signalled without proof", p.PID)
				}
				if err := errors.Join(p.Signal(9), proc.AwaitEnd(t.Context(), p.Identity)); err != nil {
					t.Error(err)
				}
			}
			if s := w.status(); s.State != swarm.StateLost || len(s.PerhapsAlive) != 0 || s.PID != 0 {
				t.Errorf("after their end: %+v", s)
			}
		})
	}
}

// sleepersOf returns the processes of a worker of TestLostPerhapsAlive, by its shim.
func sleepersOf(t *testing.T, w *worker) []proc.Process {
	t.Helper()
	all, err := proc.Tree(w.facts().Shim.PID, func(proc.Process) (bool, error) { return false, nil })
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p proc.Process) bool { return p.Name != "sleep" })
}

// TestLostNextToOthers has workers in one directory whose environments are empty and whose shims are
// gone: the kill of one does not take the processes of the others for its own, unless nothing
// proves whose they are.
func TestLostNextToOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// command is that of the other worker. proven says that its record proves that its
		// sleepers are its own, count how many there are.
		command string
		proven  bool
		count   int
	}{
		"main":                  {`exec env -i sleep 921`, true, 1},
		"children of main":      {`exec env -i sh -c 'sleep 921 & setsid sleep 922 & wait'`, true, 2},
		"orphan in its session": {`exec env -i sh -c '(sleep 921 &); exec sleep 922'`, true, 2},
		"daemon":                {`(env -i setsid sleep 921 &); exec tail -f /dev/null`, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, other := newWorker(t), newWorker(t)
			other.end()
			for _, one := range []struct {
				*worker
				command string
			}{{w, `exec env -i sleep 923`}, {other, c.command}} {
				l := one.launch("sh", "-c", one.command)
				l.Dir = w.dir
				if err := client.Start(t.Context(), shimPath, one.dir, l); err != nil {
					t.Fatal(err)
				}
			}
			var own, foreign []proc.Process
			eventually(t, "all are there", func() bool {
				own, foreign = sleepersOf(t, w), sleepersOf(t, other)
				return len(own) == 1 && len(foreign) == c.count
			})
			w.loseShim()
			other.loseShim()
			more := 0
			if !c.proven {
				more = c.count
			}
			r, err := client.Kill(t.Context(), w.dir, w.id, gently)
			if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) != 1+more || !slices.ContainsFunc(r.Survivors, func(p swarm.Process) bool { return p.PID == own[0].PID }) {
				t.Errorf("with its main process: %+v, %v", r, err)
			}
			end := func(ps []proc.Process) {
				for _, p := range ps {
					if err := errors.Join(p.Signal(syscall.SIGKILL), proc.AwaitEnd(t.Context(), p.Identity)); err != nil {
						t.Error(err)
					}
				}
			}
			end(own)
			r, err = client.Kill(t.Context(), w.dir, w.id, gently)
			if errors.Is(err, swarm.ErrSurvivors) != (more > 0) || len(r.Survivors) != more {
				t.Errorf("without its main process: %+v, %v", r, err)
			}
			end(foreign)
			eventually(t, "the main process of the other one ends too", func() bool {
				_, err := client.Kill(t.Context(), other.dir, other.id, gently)
				return err == nil
			})
		})
	}
}
