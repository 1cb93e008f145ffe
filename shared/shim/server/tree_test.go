//go:build linux

package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// family is the number of processes that a script must have started before it is
// killed.
func (s *shim) family(n int) {
	s.t.Helper()
	s.until(strconv.Itoa(n)+" processes run", func() bool { return len(s.left()) >= n })
}

func TestKillEndsTheTree(t *testing.T) {
	t.Parallel()
	const stubborn = `trap "" TERM HUP INT; `
	for _, tt := range []struct {
		name, script string
		processes    int
		forced       bool
		signal       string
	}{
		{"one process", "exec sleep 999", 1, false, "SIGTERM"},
		{"double fork", "(sleep 999 &) ; exec sleep 999", 2, false, "SIGTERM"},
		{"own session", "setsid sleep 999 & exec sleep 999", 2, false, "SIGTERM"},
		{"own session, forked away", "setsid -f setsid -f sleep 999; exec sleep 999", 2, false, "SIGTERM"},
		{"ignores SIGTERM", stubborn + "sleep 999 & setsid -f sleep 999; while :; do sleep 1; done", 4, true, "SIGKILL"},
		{"child ignores SIGTERM", "sh -c '" + stubborn + "while :; do sleep 1; done' & exec sleep 999", 3, true, "SIGTERM"},
		{"stopped", "sleep 999 & kill -STOP $!; kill -STOP $$; exec sleep 999", 2, false, "SIGTERM"},
		{"stopped, ignores SIGTERM", stubborn + "sleep 999 & kill -STOP $!; kill -STOP $$; while :; do sleep 1; done", 2, true, "SIGKILL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch(tt.script), options{})
			s.family(tt.processes)
			a := s.kill("SIGTERM", 300*time.Millisecond, true)
			// The answer is the promise: nothing is left at that moment.
			s.wantNothingLeft()
			st := s.status()
			if a.Kind != "ended" || a.Forced != tt.forced || a.Already || a.Signal != "SIGTERM" {
				t.Errorf("answer %+v", a)
			}
			if st.State != "ended" || st.Cause != "killed" || st.Code != -1 || st.Signal != tt.signal || st.Forced != tt.forced {
				t.Errorf("status %+v", st)
			}
			s.end()
		})
	}
}

// Processes that outlive the main process are ended after it, gently first.
func TestLeaderGoneFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		forced       bool
	}{
		{"gentle", "sleep 999 & (setsid sleep 999 &) ; exit 7", false},
		{"stopped", "sleep 999 & kill -STOP $!; exit 7", false},
		{"ignores SIGTERM", `trap "" TERM; sleep 999 & exit 7`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := launch(tt.script)
			l.GraceMS = 300
			began := time.Now()
			s := start(t, l, options{})
			st := s.end()
			s.wantNothingLeft()
			if st.Code != 7 || st.Cause != "exited" || st.Forced != tt.forced {
				t.Errorf("status %+v", st)
			}
			if took := time.Since(began); tt.forced && took < 300*time.Millisecond {
				t.Errorf("forced after %v, before the grace period ended", took)
			}
		})
	}
}

// Without force what outlives the main process may stay, until a kill.
func TestLeftoverWithoutForce(t *testing.T) {
	t.Parallel()
	l := launch(`trap "" TERM; sleep 999 & exit 7`)
	l.GraceMS, l.Force = 10, false
	s := start(t, l, options{})
	s.until("the main process ends", func() bool { return !s.status().Main.Alive() })
	if a := s.kill("SIGTERM", 50*time.Millisecond, false); a.Kind != "survivors" || len(a.Survivors) != 1 || a.Survivors[0].Name != "sleep" {
		t.Errorf("answer %+v", a)
	}
	if a := s.kill("SIGKILL", limit, true); a.Kind != "ended" || a.Forced {
		t.Errorf("answer %+v", a)
	}
	if st := s.end(); st.Cause != "exited" || st.Code != 7 {
		t.Errorf("status %+v", st)
	}
	s.wantNothingLeft()
}

// A process that forks faster than it can be read is stopped first.
func TestForkStorm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script string }{
		{"wide", `trap "" TERM; f() { while :; do sleep 0.05 & done; }; f & f & wait`},
		{"fleeing", `trap "" TERM; f() { sh -c 'trap "" TERM; f() { sh -c "$1" x "$1" & exit; }; f "$1"' x 'sh -c "$1" x "$1" & exit' & }; f; f; sleep 999`},
		{"fleeing sessions", `trap "" TERM; c='setsid sh -c "$1" x "$1" & exit'; sh -c "$c" x "$c"; sh -c "$c" x "$c"; sleep 999`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// Bounded, whatever goes wrong: a user's limit would not hold for root.
			s := start(t, launch("ulimit -t 20; "+tt.script), options{})
			s.family(2)
			a := s.kill("SIGTERM", 100*time.Millisecond, true)
			if a.Kind != "ended" {
				t.Errorf("answer %+v", a)
			}
			s.wantNothingLeft()
			s.end()
		})
	}
}

// A tree ends at the next shim: it stays, with all below it.
func TestNestedShimStays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script string }{
		{"main runs", `"$SHIM" "$INNER" & SWARM_SHIM=tmux sh -c 'printf "tmux: server" >/proc/self/comm; sleep 999 & wait' & echo started; exec sleep 999`},
		{"main exits", `"$SHIM" "$INNER" & SWARM_SHIM=tmux sh -c 'printf "tmux: server" >/proc/self/comm; sleep 999 & wait' & sleep 999 & echo started; read x < gate`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inner := &shim{t: t, dir: t.TempDir(), work: t.TempDir(), done: make(chan struct{})}
			l := launch("sleep 999 & exec sleep 999")
			l.ID, l.Dir, l.Env = "inner", inner.work, []string{"PATH=" + os.Getenv("PATH"), "INNER_MARK=" + inner.work}
			b, err := rundir.EncodeLaunch(l)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(inner.dir, rundir.LaunchFile), b, 0o600))

			l = launch(tt.script)
			l.Env = []string{"SHIM=" + shimPath, "INNER=" + inner.dir}
			l.Dir = t.TempDir()
			must(t, unix.Mkfifo(filepath.Join(l.Dir, "gate"), 0o600))
			s := start(t, l, options{})
			s.says("started")
			s.until("the inner worker runs", func() bool {
				_, err := os.Stat(filepath.Join(inner.dir, rundir.StatusFile))
				return err == nil && len(s.left()) >= 4
			})
			if tt.name == "main exits" {
				must(t, os.WriteFile(filepath.Join(l.Dir, "gate"), []byte("go\n"), 0o600))
			} else if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" || a.Forced {
				t.Errorf("answer %+v", a)
			}
			s.end()
			// The remaining processes with the mark are the tmux server, the other shim,
			// and the processes below them.
			servers := 0
			for _, p := range s.left() {
				switch v, _ := proc.Getenv(p.PID, "SWARM_SHIM"); v {
				case "tmux":
					servers++
				case "1":
				default:
					t.Errorf("still alive: %+v", p)
				}
			}
			if servers != 2 {
				t.Errorf("%d processes of the tmux server are left", servers)
			}
			st := inner.status()
			if !st.Shim.Alive() || !st.Main.Alive() {
				t.Errorf("the inner worker did not survive: %+v", st)
			}
			if a := inner.kill("SIGTERM", limit, true); a.Kind != "ended" {
				t.Errorf("answer of the inner shim: %+v", a)
			}
		})
	}
}

// The mark of a shim in an environment proves nothing. A process with it belongs to the
// worker, unless a run directory or the name of a tmux server proves otherwise; a process
// that carries the worker's id belongs to the worker below a tmux server too.
func TestMarkIsNoProof(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		left         int
	}{
		{"marked", `SWARM_SHIM=x setsid sh -c 'trap "" HUP; echo ready; sleep 999 & wait' & exec sleep 999`, 0},
		{"marked as tmux", `SWARM_SHIM=tmux setsid sh -c 'echo ready; sleep 999 & wait' & exec sleep 999`, 0},
		{"with the id of the worker", `SWARM_SHIM=w1 setsid sh -c 'echo ready; sleep 999 & wait' & exec sleep 999`, 0},
		{"with another's status", `mkdir d; cp "$RUN"/status.json d; cd d; SWARM_SHIM=x setsid sh -c 'echo ready; sleep 999 & wait' & exec sleep 999`, 0},
		{
			"below a tmux server",
			`SWARM_SHIM=tmux sh -c 'printf "tmux: server" >/proc/self/comm; unset SWARM_SHIM; SWARM_WORKER_ID=w1 sleep 998 & sleep 999 & echo ready; wait' & exec sleep 999`, 2,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := launch(tt.script)
			l.Env = append(l.Env, "RUN="+dir)
			s := start(t, l, options{dir: dir})
			s.says("ready")
			// A process has the environment that is looked at once it is exec'd.
			s.until("the processes are what they are to be", func() bool {
				sleeps := 0
				for _, p := range s.left() {
					if p.Name == "sleep" {
						sleeps++
					}
				}
				return sleeps == strings.Count(tt.script, "sleep")
			})
			if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" {
				t.Errorf("answer %+v", a)
			}
			s.end()
			if left := s.left(); len(left) != tt.left {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// Nothing of another worker, nor of anybody else, is touched.
func TestBystanders(t *testing.T) {
	t.Parallel()
	bystander := exec.Command("sleep", "999")
	must(t, bystander.Start())
	t.Cleanup(func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait()
	})
	other := start(t, launch("exec sleep 999"), options{})
	s := start(t, launch("sleep 999 & exec sleep 999"), options{})
	s.kill("SIGTERM", limit, true)
	s.end()
	id, err := proc.Identify(bystander.Process.Pid)
	if err != nil || !id.Alive() || !other.status().Main.Alive() {
		t.Error("a bystander was hit")
	}
}

// The worker gets a clean start: a session of its own, its three streams and
// nothing else, no signal blocked or ignored, and not the shim's marker.
func TestWorkerStartsClean(t *testing.T) {
	t.Parallel()
	leak, err := os.Open(os.DevNull)
	must(t, err)
	defer leak.Close()
	script := `ls /proc/self/fd | tr '\n' ' '; echo; grep -E '^Sig(Blk|Ign):' /proc/self/status; env; umask; readlink /proc/self/fd/0; cut -d' ' -f5,6 /proc/$$/stat; echo $$`
	l := launch(script)
	l.Env = []string{"SWARM_SHIM=leaked", "SWARM_SHIMS=mine", "PLUGIN_X=1"}
	s := start(t, l, options{prepare: func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = os.Args[0], append([]string{os.Args[0]}, cmd.Args...)
		cmd.Args[1] = shimPath
		cmd.Env = []string{envHelper + "=hostile-parent"}
		cmd.ExtraFiles = []*os.File{leak, leak}
	}})
	s.end()
	lines := strings.Split(s.text("stdout"), "\n")
	// The fourth descriptor is that of ls reading the directory.
	if lines[0] != "0 1 2 3 " {
		t.Errorf("open in the worker: %q", lines[0])
	}
	for _, line := range lines[1:3] {
		if !strings.HasSuffix(line, "\t0000000000000000") {
			t.Errorf("signals of the worker: %q", line)
		}
	}
	all := strings.Join(lines, "\n")
	if strings.Contains(all, "SWARM_SHIM=") || !strings.Contains(all, "SWARM_SHIMS=mine") || !strings.Contains(all, "PLUGIN_X=1") {
		t.Errorf("environment: %s", all)
	}
	n := len(lines)
	if pid := lines[n-2]; lines[n-3] != pid+" "+pid {
		t.Errorf("group and session %q of process %s", lines[n-3], pid)
	}
	if lines[n-4] != os.DevNull {
		t.Errorf("standard input is %q", lines[n-4])
	}
	mask := syscall.Umask(0o022)
	syscall.Umask(mask)
	if want := "0" + strconv.FormatInt(int64(mask), 8); !strings.HasSuffix(lines[n-5], strings.TrimPrefix(want, "0")) {
		t.Errorf("umask %q, want %q", lines[n-5], want)
	}
}

// A run directory may be deeper than a socket's path can be.
func TestDeepDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 5 {
		dir = filepath.Join(dir, strings.Repeat("d", 100))
	}
	must(t, os.MkdirAll(dir, 0o700))
	s := start(t, launch("exec sleep 999"), options{dir: dir})
	if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" {
		t.Errorf("answer %+v", a)
	}
	s.end()
}

// The shim takes over no orphans of other workers and leaves no zombie.
func TestNoZombies(t *testing.T) {
	t.Parallel()
	s := start(t, launch("for i in 1 2 3 4 5 6 7 8; do (sleep 0.01 &) ; done; echo started; exec sleep 999"), options{})
	s.says("started")
	s.until("the orphans are reaped", func() bool {
		n, err := proc.Find(func(p proc.Process) bool { return p.Parent == s.cmd.Process.Pid })
		zombies := 0
		entries, _ := filepath.Glob("/proc/[0-9]*")
		for _, e := range entries {
			pid, _ := strconv.Atoi(filepath.Base(e))
			if p, err := proc.Read(pid); err == nil && p.Parent == s.cmd.Process.Pid && p.Ended {
				zombies++
			}
		}
		return err == nil && len(n) == 1 && zombies == 0
	})
	s.kill("SIGTERM", limit, true)
	s.end()
	if err := unix.Kill(s.cmd.Process.Pid, 0); err == nil {
		t.Log("the pid was used again")
	}
}
