//go:build linux

package server_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func completeLine(summary string, grace time.Duration) string {
	return rundir.Request{
		Verb: rundir.VerbComplete, Signal: "SIGTERM", GraceMS: grace.Milliseconds(), Force: true, Summary: summary,
	}.String()
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		after        func(*shim)
		code         int
		signal       string
		forced       bool
	}{
		{name: "leaves", script: "trap 'exit 3' USR1; echo ready; while :; do sleep 0.02; done", grace: limit, after: func(s *shim) {
			s.ask("signal signal=SIGUSR1 mode=main")
		}, code: 3},
		{name: "stays", script: "echo ready; exec sleep 999", grace: time.Second, code: -1, signal: "SIGTERM"},
		{name: "ignores", script: stubborn, grace: 50 * time.Millisecond, code: -1, signal: "SIGKILL", forced: true},
		{name: "is killed", script: "echo ready; exec sleep 999", grace: limit, after: func(s *shim) {
			s.kill("SIGINT", limit, true)
		}, code: -1, signal: "SIGINT"},
		{name: "outlives a kill without force", script: stubborn, grace: 100 * time.Millisecond, after: func(s *shim) {
			if a := s.kill("SIGTERM", 500*time.Millisecond, false); a.Kind != rundir.AnswerSurvivors {
				s.t.Errorf("answer %+v", a)
			}
		}, code: -1, signal: "SIGKILL", forced: true},
		{name: "is killed hard", script: stubborn, grace: limit, after: func(s *shim) {
			s.kill("SIGKILL", limit, true)
		}, code: -1, signal: "SIGKILL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, restartLaunch("always", tt.script), options{})
			s.says("ready")
			before := time.Now().UnixNano()
			if got := s.ask(completeLine("All \"done\",\n100 %", tt.grace)); got[0] != "ok" {
				t.Fatalf("answer %q", got)
			}
			if st := s.status(); tt.grace == limit && st.State != rundir.StateRunning || st.Completion == nil || st.Completion.Summary != "All \"done\",\n100 %" || st.Completion.TimeNS < before {
				t.Errorf("status %+v", st)
			}
			if tt.after != nil {
				tt.after(s)
			}
			st := s.end()
			if st.Cause != "completed" || st.Reason != "" || st.Code != tt.code || st.Signal != tt.signal || st.Forced != tt.forced ||
				st.Completion == nil || st.Restarts != 0 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

func TestTooLateToComplete(t *testing.T) {
	t.Parallel()
	s := start(t, launch(stubborn), options{})
	s.says("ready")
	k := s.send(killLine("SIGTERM", limit, true))
	if line, err := k.ReadString('\n'); err != nil || line != "accepted\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if got := s.ask(completeLine("x", 0)); got[0] != "late" {
		t.Errorf("answer %q", got)
	}
	s.kill("SIGKILL", limit, true)
	if st := s.end(); st.Cause != "killed" || st.Completion != nil {
		t.Errorf("status %+v", st)
	}

	s = start(t, launch("echo ready; exec sleep 999"), options{})
	s.says("ready")
	if got := s.ask(completeLine("first", limit)); got[0] != "ok" {
		t.Errorf("answer %q", got)
	}
	if got := s.ask(completeLine("second", 0)); got[0] != "late" {
		t.Errorf("answer %q", got)
	}
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.Completion.Summary != "first" {
		t.Errorf("status %+v", st)
	}
}

// The exit was first, even if something is left of the worker.
func TestCompleteAfterExit(t *testing.T) {
	t.Parallel()
	l := launch(`(trap "" TERM; echo ready; while :; do sleep 0.1; done) & while [ -z "$(cat /proc/$!/status | grep -i 'SigIgn.*[4-7c-f]...$')" ]; do sleep 0.02; done; exit 0`)
	l.GraceMS = 60_000
	s := start(t, l, options{})
	s.says("ready")
	s.until("the main process has ended", func() bool { return !s.status().Main.Alive() })
	if got := s.ask(completeLine("x", 0)); got[0] != "late" {
		t.Errorf("answer %q", got)
	}
	s.kill("SIGKILL", limit, true)
	if st := s.end(); st.Cause != "exited" || st.Completion != nil {
		t.Errorf("status %+v", st)
	}
}

// However a kill and a completion meet, one of them was first, and all agree on it.
func TestCompleteMeetsKill(t *testing.T) {
	t.Parallel()
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	var mu sync.Mutex
	seen := make(map[swarm.Cause]int)
	next := make(chan struct{}, rounds)
	for range rounds {
		next <- struct{}{}
	}
	close(next)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range next {
				cause := meet(t)
				mu.Lock()
				seen[cause]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("causes: %v", seen)
}

// meet lets a kill and a completion race once and returns the cause.
func meet(t *testing.T) swarm.Cause {
	s := start(t, launch("exec sleep 999"), options{})
	var wg sync.WaitGroup
	var completed, killed []string
	// Connected before, so that only the requests race.
	a, b := s.dial(), s.dial()
	wg.Go(func() { completed = answers(a, completeLine("sum", limit)) })
	wg.Go(func() { killed = answers(b, killLine("SIGTERM", limit, true)) })
	wg.Wait()
	st := s.end()
	if len(killed) != 2 || !strings.HasPrefix(killed[1], "ended ") {
		t.Errorf("the kill got %q", killed)
	}
	switch {
	case st.Cause == "completed" && completed[0] == "ok" && st.Completion != nil:
	case st.Cause == "killed" && (completed[0] == "late" || completed[0] == "") && st.Completion == nil:
	default:
		t.Errorf("complete got %q, the status is %+v", completed, st)
	}
	return st.Cause
}

// answers returns all lines of an answer; a shim that left gives an empty one.
func answers(c net.Conn, request string) []string {
	_, _ = io.WriteString(c, request+"\n")
	b, _ := io.ReadAll(c)
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// An answered completion is on disk, even if the shim dies at the same moment.
func TestDeathAfterComplete(t *testing.T) {
	t.Parallel()
	s := start(t, launch("echo ready; exec sleep 999"), options{
		program: failingPath,
		env:     []string{"SWARM_SHIM_FAIL=completed"},
	})
	s.says("ready")
	if got := s.ask(completeLine("sum", limit)); got[0] != "" {
		t.Errorf("answer %q", got)
	}
	s.leaves()
	if st := s.status(); st.State != rundir.StateRunning || st.Completion == nil || st.Completion.Summary != "sum" {
		t.Errorf("status %+v", st)
	}
}

// A completion that nothing has read yet is on disk under the name at which a reader on a later
// boot looks for it.
func TestDeathBeforeTheRenameOfACompletion(t *testing.T) {
	t.Parallel()
	s := start(t, launch("echo ready; exec sleep 999"), options{
		program: failingPath,
		env:     []string{"SWARM_SHIM_FAIL=kept"},
	})
	s.says("ready")
	if got := s.ask(completeLine("sum", limit)); got[0] != "" {
		t.Errorf("answer %q", got)
	}
	s.leaves()
	if st := s.status(); st.Completion != nil {
		t.Errorf("status %+v", st)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, rundir.UpdateFile))
	must(t, err)
	if !strings.Contains(string(b), `"completion":{"summary":"sum"`) {
		t.Errorf("%s holds %s", rundir.UpdateFile, b)
	}
}

// TestCompletionIsDurable traces the system calls of a shim: the content and both names of a
// completion are on the disk before the answer, and before the rename makes it visible.
func TestCompletionIsDurable(t *testing.T) {
	t.Parallel()
	machinetest.Strace(t)
	trace := filepath.Join(t.TempDir(), "trace")
	s := start(t, launch("echo ready; exec sleep 999"), options{prepare: func(cmd *exec.Cmd) {
		strace, err := exec.LookPath("strace")
		must(t, err)
		cmd.Args = append([]string{strace, "-f", "-y", "-o", trace, "-s", "2000", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2,write,pwrite64,sendto,sendmsg"}, cmd.Args...)
		cmd.Path = strace
	}})
	s.says("ready")
	if got := s.ask(completeLine("sum", limit)); got[0] != "ok" {
		t.Fatalf("answer %q", got)
	}
	s.kill("SIGKILL", limit, true)
	s.end()
	b, err := os.ReadFile(trace)
	must(t, err)
	// Each is looked for after the one before it.
	rest := string(b)
	for _, call := range []string{
		`\"completion\":{`, // the write of the content
		"fsync(%<" + s.dir + "/" + rundir.UpdateFile + ">)",
		"fsync(%<" + s.dir + ">)",
		`"` + rundir.StatusFile + `"`, // the rename
		"fsync(%<" + s.dir + ">)",
		`"ok\n"`,
	} {
		at := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(call), "%", "[0-9]+")).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("no %s follows in:\n%s", call, b)
		}
		rest = rest[at[1]:]
	}
}

// A completion that can't be written has not happened.
func TestCompleteUnwritten(t *testing.T) {
	t.Parallel()
	s := start(t, launch("echo ready; exec sleep 999"), options{})
	s.says("ready")
	must(t, os.Mkdir(filepath.Join(s.dir, rundir.StatusFile+".tmp"), 0o700))
	if got := s.ask(completeLine("first", limit)); got[0] != "busy the completion can't be written: is a directory" {
		t.Errorf("answer %q", got)
	}
	if st := s.status(); st.Completion != nil {
		t.Errorf("status %+v", st)
	}
	if got := s.ask(completeLine("second", limit)); got[0] != "ok" {
		t.Errorf("answer %q", got)
	}
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.Completion == nil || st.Completion.Summary != "second" {
		t.Errorf("status %+v", st)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	l := restartLaunch("on-failure", `[ -e once ] && { echo again; exec sleep 999; }; touch once; while [ ! -e go ]; do sleep 0.02; done; exit 1`)
	s := start(t, l, options{})
	r := s.send("watch")
	next := func() string {
		t.Helper()
		line, err := r.ReadString('\n')
		must(t, err)
		return line
	}
	if line := next(); line != "ok\n" {
		t.Fatalf("%q", line)
	}
	s.touch("go")
	// It pauses, and is started again.
	for range 2 {
		if line := next(); line != "changed\n" {
			t.Fatalf("%q", line)
		}
	}
	if st := s.status(); st.Restarts != 1 {
		t.Errorf("status %+v", st)
	}
	s.ask(completeLine("sum", limit))
	if line := next(); line != "changed\n" {
		t.Fatalf("%q", line)
	}
	s.kill("SIGTERM", limit, true)
	if line := next(); !strings.HasPrefix(line, "ended ") {
		t.Fatalf("%q", line)
	}
	s.end()
}
