//go:build linux

package server_test

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const stubborn = `trap "" TERM HUP INT; echo ready; while :; do sleep 1; done`

// A harsher kill in the grace of another one takes effect at once, and both callers get the truth.
func TestHarsherKill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, signal string
		grace        time.Duration
		forced       bool
	}{
		{"SIGKILL", "SIGKILL", time.Minute, false},
		{"no grace", "SIGTERM", 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch(stubborn), options{})
			s.says("ready")
			patient := s.send(killLine("SIGTERM", 10*time.Minute, true))
			if line, err := patient.ReadString('\n'); err != nil || line != "accepted\n" {
				t.Fatalf("%q, %v", line, err)
			}
			want := rundir.Answer{Kind: "ended", Forced: tt.forced, Signal: tt.signal}
			if diff := cmp.Diff(want, s.kill(tt.signal, tt.grace, true)); diff != "" {
				t.Error(diff)
			}
			s.wantNothingLeft()
			want.Signal = "SIGTERM"
			line, err := patient.ReadString('\n')
			if err != nil || line != want.String()+"\n" {
				t.Errorf("the patient caller reads %q, %v; want %q", line, err, want)
			}
			if st := s.end(); st.Cause != "killed" || st.Signal != "SIGKILL" || st.Forced != tt.forced {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// A kill that does not force leaves a worker as it was, which may be killed again
// or end by itself.
func TestKillWithoutForce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(*shim)
		want rundir.Status
	}{
		{"killed again", func(s *shim) {
			if a := s.kill("SIGTERM", 10*time.Millisecond, true); !a.Forced {
				s.t.Errorf("answer %+v", a)
			}
		}, rundir.Status{Code: -1, Signal: "SIGKILL", Cause: "killed", Forced: true}},
		{"ends by itself", func(s *shim) {
			if got := s.ask("signal signal=SIGUSR1 mode=main"); got[0] != "ok" {
				s.t.Errorf("answer %q", got)
			}
		}, rundir.Status{Code: 9, Cause: "exited"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch(`trap "" TERM; trap "exit 9" USR1; echo ready; while :; do sleep 0.05; done`), options{})
			s.says("ready")
			a := s.kill("SIGTERM", 50*time.Millisecond, false)
			if a.Kind != "survivors" || a.Forced || a.Signal != "SIGTERM" || len(a.Survivors) == 0 ||
				a.Survivors[0].Name != "sh" || a.Survivors[0].PID != s.status().Main.PID {
				t.Errorf("answer %+v", a)
			}
			if st := s.status(); st.State != "running" || !st.Main.Alive() {
				t.Errorf("status %+v", st)
			}
			tt.end(s)
			st := s.end()
			got := rundir.Status{Code: st.Code, Signal: st.Signal, Cause: st.Cause, Forced: st.Forced}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A kill continues without the client that asked for it.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	s := start(t, launch(stubborn), options{})
	s.says("ready")
	c := s.dial()
	_, err := io.WriteString(c, killLine("SIGTERM", 100*time.Millisecond, true)+"\n")
	must(t, err)
	must(t, c.Close())
	if st := s.end(); st.Cause != "killed" || !st.Forced {
		t.Errorf("status %+v", st)
	}
}

// Clients that say nothing, or don't read, or say nonsense, don't stop any other client.
func TestHangingClients(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	for range 20 {
		s.dial()
		c := s.dial()
		_, err := io.WriteString(c, "kill signal=")
		must(t, err)
		s.send(rundir.VerbWatch)
	}
	if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" {
		t.Errorf("answer %+v", a)
	}
	s.end()
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	for _, request := range []string{
		"", "stop", "kill", "kill signal=SIGTERM", "watch now", "KILL",
		"kill signal=SIGNOT grace=1 force=1 mode=tree",
		"kill signal=9 grace=1 force=1 mode=tree",
		"kill signal=SIGTERM grace=-1 force=1 mode=tree",
		"kill signal=SIGTERM grace=99999999999999999999 force=1 mode=tree",
		"kill signal=SIGTERM grace=1 force=yes mode=tree",
		"kill signal=SIGTERM grace=1 force=1 mode=all",
		"kill signal=SIGTERM grace=1 force=1 mode=tree pid=1",
		"kill signal=SIGKILL signal=SIGTERM grace=1 force=1 mode=tree",
		"signal signal=SIGKILL",
		"\x00\xff\xfe",
		strings.Repeat("x", 100_000),
	} {
		c := s.dial()
		_, _ = io.WriteString(c, request+"\n")
		b, err := io.ReadAll(c)
		// A client that is cut off in the middle of a line may find the connection reset.
		if !strings.HasPrefix(string(b), "error ") || strings.Count(string(b), "\n") != 1 {
			t.Errorf("%.50q: got %q, %v", request, b, err)
		}
	}
	if st := s.status(); !st.Main.Alive() {
		t.Error("the worker ended")
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}

func TestWait(t *testing.T) {
	t.Parallel()
	// It ends when the waiting clients were heard: nothing answers them before.
	leave := filepath.Join(t.TempDir(), "leave")
	s := start(t, launch(`trap "echo asked; until test -e `+leave+`; do sleep 0.01; done; exit" TERM; echo ready; while :; do sleep 0.01; done`), options{})
	s.says("ready")
	waiting := s.send(rundir.VerbWatch)
	// This side may be closed for sending, as by nc -N.
	half := s.dial().(*net.UnixConn)
	_, err := io.WriteString(half, "watch\n")
	must(t, err)
	must(t, half.CloseWrite())
	killed := s.send(killLine("SIGTERM", limit, true))
	s.says("asked")
	// Clients are heard in the order in which they come.
	if line, err := s.send(rundir.VerbWatch).ReadString('\n'); line != "ok\n" {
		t.Errorf("watch: got %q, %v", line, err)
	}
	must(t, os.WriteFile(leave, nil, 0o600))
	if b, err := io.ReadAll(killed); !strings.HasPrefix(string(b), rundir.AnswerAccepted+"\nended ") {
		t.Errorf("kill: got %q, %v", b, err)
	}
	const want = "ok\nended forced=0 already=0 signal=\n"
	if b, err := io.ReadAll(waiting); string(b) != want {
		t.Errorf("got %q, %v", b, err)
	}
	if b, err := io.ReadAll(half); string(b) != want {
		t.Errorf("half-closed: got %q, %v", b, err)
	}
	s.end()
}

// In mode main only the main process gets the signal; what it leaves is ended
// after it.
func TestKillMain(t *testing.T) {
	t.Parallel()
	s := start(t, launch(`sh -c 'trap "echo child got INT" INT; trap "echo child got TERM; exit" TERM; echo ready; while :; do sleep 0.02; done' & trap "echo main got INT; exit 5" INT; wait`), options{})
	s.says("ready")
	request := rundir.Request{Verb: rundir.VerbKill, Signal: "SIGINT", GraceMS: limit.Milliseconds(), Force: true, MainOnly: true}
	lines := s.ask(request.String())
	if len(lines) != 2 || lines[1] != "ended forced=0 already=0 signal=SIGINT" {
		t.Errorf("answer %q", lines)
	}
	if st := s.end(); st.Code != 5 || st.Cause != "killed" {
		t.Errorf("status %+v", st)
	}
	if diff := cmp.Diff("ready\nmain got INT\nchild got TERM\n", s.text("stdout")); diff != "" {
		t.Error(diff)
	}
}

// No process gets the signal of a kill twice: many programs take that for impatience.
func TestOneSignalEach(t *testing.T) {
	t.Parallel()
	const count = `trap "n=x\$n; echo \$n; [ \$0 = main ] && exit" TERM; echo ready; i=0; while [ $((i=i+1)) -lt 30 ]; do sleep 0.01; done; echo "$0 done $n"`
	s := start(t, launch(`sh -c '`+count+`' child & exec sh -c '`+count+`' main`), options{})
	s.until("both are ready", func() bool { return strings.Count(s.text("stdout"), "ready") == 2 })
	s.kill("SIGTERM", limit, true)
	s.end()
	if got := s.text("stdout"); !strings.Contains(got, "child done x\n") {
		t.Errorf("output %q", got)
	}
}

// The end of a worker that the system asked for is not taken for its own.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		s := start(t, launch(`trap "" INT; sleep 999 & exec sleep 999`), options{})
		s.family(2)
		must(t, unix.Kill(s.cmd.Process.Pid, sig))
		st := s.end()
		s.wantNothingLeft()
		if st.Cause != "shutdown" || st.Signal != "SIGTERM" || st.Reason != "the shim got "+unix.SignalName(sig) {
			t.Errorf("%v: status %+v", sig, st)
		}
	}
}

// A system that goes down signals the worker and its shim one after the other. Here the
// shim learns of both at once, and may look at either first.
func TestShutdownSignalsWorkerFirst(t *testing.T) {
	t.Parallel()
	for i := range 10 {
		sig := []unix.Signal{unix.SIGTERM, unix.SIGHUP}[i%2]
		l := launch("exec sleep 999")
		l.Restart.When = swarm.RestartAlways
		s := start(t, l, options{})
		pid := s.cmd.Process.Pid
		for _, step := range []struct {
			pid int
			sig unix.Signal
		}{{pid, unix.SIGSTOP}, {s.status().Main.PID, sig}, {pid, unix.SIGTERM}, {pid, unix.SIGCONT}} {
			must(t, unix.Kill(step.pid, step.sig))
		}
		if st := s.end(); st.Cause != "shutdown" || st.Signal != unix.SignalName(sig) || st.Restarts != 0 {
			t.Errorf("%v: status %+v", sig, st)
		}
	}
}

func TestHarmlessSignals(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	for _, sig := range []unix.Signal{unix.SIGPIPE, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGWINCH, unix.SIGCONT} {
		must(t, unix.Kill(s.cmd.Process.Pid, sig))
	}
	if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" {
		t.Errorf("answer %+v", a)
	}
	if st := s.end(); st.Cause != "killed" {
		t.Errorf("status %+v", st)
	}
}

// Kills at the same time each get a true answer.
func TestManyKills(t *testing.T) {
	t.Parallel()
	s := start(t, launch(stubborn), options{})
	s.says("ready")
	var answers []*bufio.Reader
	for i := range 30 {
		answers = append(answers, s.send(killLine("SIGTERM", time.Duration(2000+i)*time.Millisecond, i%2 == 0)))
	}
	ended := 0
	for _, r := range answers {
		b, err := io.ReadAll(r)
		must(t, err)
		switch a := strings.TrimPrefix(string(b), "accepted\n"); {
		case a == "ended forced=1 already=0 signal=SIGTERM\n":
			ended++
		case !strings.HasPrefix(a, "survivors forced=0 signal=SIGTERM "):
			t.Errorf("answer %q", a)
		}
	}
	if ended == 0 {
		t.Error("no client was notified of the end")
	}
	s.end()
	s.wantNothingLeft()
}

// The shim can't import the contract, which links fmt: its own words for the
// causes and the marker must be the same.
func TestWordsOfTheContract(t *testing.T) {
	t.Parallel()
	want := []string{string(swarm.CauseExited), string(swarm.CauseKilled), string(swarm.CauseHangup), string(swarm.CauseShutdown), swarm.EnvShim}
	if diff := cmp.Diff(want, []string{"exited", "killed", "hangup", "shutdown", "SWARM_SHIM"}); diff != "" {
		t.Error(diff)
	}
}

// TestRequestForAnother asks for a worker that is not this shim's.
func TestRequestForAnother(t *testing.T) {
	t.Parallel()
	l := launch("exec sleep 999")
	l.ID = "id-1"
	s := start(t, l, options{})
	for _, request := range []string{
		"kill id=not-" + l.ID + " signal=SIGKILL grace=0 force=1 mode=tree",
		"signal id=not-" + l.ID + " signal=SIGKILL mode=main",
		"watch id=not-" + l.ID,
	} {
		if got := s.ask(request); len(got) != 1 || got[0] != "stale" {
			t.Errorf("%q is answered %q", request, got)
		}
	}
	if st := s.status(); st.State != "running" || len(s.left()) != 1 {
		t.Errorf("status %+v", st)
	}
	if got := s.ask("kill id=" + l.ID + " signal=SIGTERM grace=5000 force=1 mode=tree"); len(got) != 2 || got[0] != "accepted" {
		t.Errorf("answer %q", got)
	}
}
