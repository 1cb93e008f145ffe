package tmux_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestKill(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w1 := f.spawn("w1", "sh", "-c", "setsid sleep 999 & echo ready; exec sleep 999")
	w10 := f.spawn("w10", "sleep", "999")
	session := w1.parts().Session
	w1.says("ready")
	r := w1.kill(gently)
	if r.Status.State != swarm.StateExited || r.Signal != "SIGHUP" || r.Forced || r.AlreadyEnded {
		t.Errorf("result %+v", r)
	}
	if e := r.Status.Exit; e == nil || e.Cause != swarm.CauseKilled || e.Signal != "SIGHUP" {
		t.Errorf("exit %+v", e)
	}
	if left := w1.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if diff := cmp.Diff([]string{session + ":w10"}, f.windows()); diff != "" {
		t.Error(diff)
	}
	// The window of w1 is gone, and its name is the beginning of another's.
	if r := w1.kill(gently); !r.AlreadyEnded {
		t.Errorf("a second kill: %+v", r)
	}
	if s := w10.status(); s.State != swarm.StateRunning {
		t.Errorf("w10: %+v", s)
	}
}

func TestKillForces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", stubborn)
	w.says("ready")
	r := w.kill(swarm.KillOptions{Grace: 100 * time.Millisecond, Force: true})
	if !r.Forced || r.Status.State != swarm.StateExited {
		t.Errorf("result %+v", r)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestKillWithoutForce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", stubborn)
	w.says("ready")
	r, err := f.backend.Kill(t.Context(), w.handle, swarm.KillOptions{Grace: 50 * time.Millisecond})
	if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) < 3 || r.Status.State != swarm.StateRunning {
		t.Errorf("result %+v, %v", r, err)
	}
	if got := f.windows(); len(got) != 1 {
		t.Errorf("windows %v", got)
	}
	willing := f.spawn("willing", "sleep", "999")
	if r := willing.kill(swarm.KillOptions{Grace: 20 * time.Second}); r.Status.State != swarm.StateExited {
		t.Errorf("result %+v", r)
	}
	if got := f.windows(); len(got) != 1 {
		t.Errorf("windows %v", got)
	}
}

// TestKillWithSignal has a worker say goodbye to its terminal.
func TestKillWithSignal(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `trap 'sleep 0.2; echo goodbye; exit 4' INT; trap '' HUP; echo ready; while :; do sleep 0.05; done`)
	w.says("ready")
	r := w.kill(swarm.KillOptions{Signal: "INT", Grace: 20 * time.Second, Force: true})
	if r.Signal != "SIGINT" || r.Status.Exit == nil || r.Status.Exit.Code != 4 {
		t.Errorf("result %+v", r)
	}
	if diff := cmp.Diff([]string{"ready", "goodbye"}, w.lines()); diff != "" {
		t.Error(diff)
	}
	if got := f.windows(); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

func TestKillDetached(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", stubborn)
	w.says("ready")
	r := w.kill(swarm.KillOptions{Grace: 100 * time.Millisecond, Force: true, Detach: true})
	if r.Status.State != swarm.StateRunning {
		t.Errorf("result %+v", r)
	}
	if s := w.wait(); s.State != swarm.StateExited || s.Exit.Cause != swarm.CauseKilled {
		t.Errorf("status %+v", s)
	}
	eventually(t, "the window is gone", func() bool { return len(f.windows()) == 0 })
	w.wantScreen(0, swarm.Screen{Lines: []string{"ready"}, Taken: true})
}

// TestClosedFromOutside has the user, or tmux itself, end the window.
func TestClosedFromOutside(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture, w *worker){
		"window":  func(f *fixture, w *worker) { f.mustTmux("kill-window", "-t", w.parts().Window) },
		"pane":    func(f *fixture, w *worker) { f.mustTmux("kill-pane", "-t", w.parts().Pane) },
		"session": func(f *fixture, w *worker) { f.mustTmux("kill-session", "-t", "="+w.parts().Session) },
		"server":  func(f *fixture, _ *worker) { f.mustTmux("kill-server") },
		"server, killed": func(f *fixture, _ *worker) {
			pid, err := strconv.Atoi(f.mustTmux("display-message", "-p", "#{pid}"))
			if err == nil {
				err = syscall.Kill(pid, syscall.SIGKILL)
			}
			if err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			w := f.spawn("w", "sh", "-c", "setsid sleep 999 & echo ready; exec sleep 999")
			w.says("ready")
			end(f, w)
			if s := w.wait(); s.Exit == nil || s.Exit.Cause != swarm.CauseHangup {
				t.Errorf("status %+v, exit %+v", s, s.Exit)
			}
			if left := w.carriers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if s := w.status(); s.State != swarm.StateExited || s.Where.Parts["window"] != "w" {
				t.Errorf("status %+v", s)
			}
			if r := w.kill(gently); !r.AlreadyEnded {
				t.Errorf("result %+v", r)
			}
			if diff := cmp.Diff([]string{"ready"}, w.lines()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestServerIsAnother has a new server give the window's id to another window, while
// the worker is still there and after its end.
func TestServerIsAnother(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.newWorker("w", "sh", "-c", stubborn)
	w.spec.Kill = swarm.KillOptions{Grace: 10 * time.Minute}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.says("ready")
	f.mustTmux("kill-server")
	eventually(t, "there is another server", func() bool {
		_, err := f.tmux("new-session", "-d", "-s", w.parts().Session, "-n", "w", "sleep 999")
		return err == nil
	})
	if got := f.mustTmux("list-panes", "-a", "-F", "#{window_id} #{pane_id}"); got != w.parts().Window+" "+w.parts().Pane {
		t.Fatalf("the ids are others: %s", got)
	}
	if s := w.status(); s.State != swarm.StateRunning || s.Where.Kind == "" || s.Where.Name != "" || s.Where.Parts["window"] != "" {
		t.Errorf("status %+v", s)
	}
	for _, ended := range []bool{false, true} {
		r := w.kill(swarm.KillOptions{Grace: 10 * time.Millisecond, Force: true})
		if r.Status.State != swarm.StateExited || r.AlreadyEnded != ended {
			t.Errorf("result %+v", r)
		}
		if _, err := f.backend.Sweep(t.Context(), []swarm.Handle{w.handle}, nil); err != nil {
			t.Error(err)
		}
		if got := f.windows(); len(got) != 1 {
			t.Errorf("windows %v", got)
		}
	}
}

// TestSplitWindow has the user open a pane next to the worker's.
func TestSplitWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", "echo ready; read line; echo got $line")
	w.says("ready")
	f.mustTmux("split-window", "-d", "-t", w.parts().Pane, "sleep 999")
	f.mustTmux("send-keys", "-t", w.parts().Pane, "x", "Enter")
	if s := w.wait(); s.Exit == nil || s.Exit.Code != 0 {
		t.Errorf("status %+v", s)
	}
	w.kill(gently)
	// The worker ended by itself, so the rest of the window is the user's.
	if got := f.windows(); len(got) != 1 {
		t.Errorf("windows %v", got)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", stubborn)
	w.says("ready")
	w.loseShim()
	s := w.status()
	if s.State != swarm.StateLost || s.Reason != "shim died, exit unknown" || len(s.Survivors) < 3 {
		t.Errorf("status %+v", s)
	}
	r := w.kill(swarm.KillOptions{Grace: 50 * time.Millisecond, Force: true})
	if r.Status.State != swarm.StateLost || len(r.Survivors) > 0 {
		t.Errorf("result %+v", r)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLostTerminal has what a worker that lost its shim left behind without a proof,
// but with the worker's terminal open, somewhere else. It is named and left alone.
// The test is not parallel: another lost worker may get the number of the terminal.
func TestLostTerminal(t *testing.T) {
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `sh -c 'cd /; env -i HOME=/ setsid sleep 999 & echo $!'; echo ready; exec sleep 999`)
	w.says("ready")
	pid, err := strconv.Atoi(w.lines()[0])
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is on its own", func() bool {
		p, err := proc.Read(pid)
		return err == nil && p.Name == "sleep" && p.Session == pid
	})
	left, err := proc.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	w.loseShim()
	r, err := f.backend.Kill(t.Context(), w.handle, swarm.KillOptions{Grace: time.Second, Force: true})
	if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) != 1 || r.Survivors[0].PID != pid {
		t.Errorf("result %+v, %v", r, err)
	}
	if err := left.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("it was killed: %v", err)
	}
	eventually(t, "it is gone", func() bool { return !left.Alive() })
}

// TestRecycledPID has a record whose processes are now someone else.
// It is not parallel, as [TestLostTerminal] is not.
func TestRecycledPID(t *testing.T) {
	f := newFixture(t)
	bystander := exec.CommandContext(t.Context(), "sleep", "999")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	now, err := proc.Identify(bystander.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	w := f.spawn("w", "sleep", "999")
	w.loseShim()
	w.kill(gently)
	st := w.facts()
	before := now
	before.Start--
	st.Shim, st.Main, st.Session = before, before, before.PID
	b, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.spec.Local.RunDir, rundir.StatusFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true}); !r.AlreadyEnded || r.Status.State != swarm.StateLost {
		t.Errorf("result %+v", r)
	}
	if !now.Alive() {
		t.Error("the bystander was killed")
	}
	if err := bystander.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = bystander.Wait()
}

// TestKillWithSilentServer has a tmux server that is stopped, so that the window can't
// be closed: the worker gets one SIGHUP, and no more time than its grace.
func TestKillWithSilentServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.spawn("w", "sh", "-c", `trap 'echo hup >> hups' HUP; trap '' TERM; echo ready; while :; do sleep 0.05; done`)
	w.says("ready")
	server, err := strconv.Atoi(f.mustTmux("display-message", "-p", "#{pid}"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGCONT) })
	// Before the worker gets the signal the server has half of the grace, not more.
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	r, err := f.backend.Kill(ctx, w.handle, swarm.KillOptions{Grace: time.Second, Force: true})
	if err != nil || !r.Forced || r.Signal != "SIGHUP" || r.Status.State != swarm.StateExited {
		t.Errorf("result %+v, %v", r, err)
	}
	got, err := os.ReadFile(filepath.Join(f.state, "hups"))
	if string(got) != "hup\n" {
		t.Errorf("signals %q, %v", got, err)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
