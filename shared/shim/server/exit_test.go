//go:build linux

package server_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func TestExitIsRecorded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		code         int
		signal       string
	}{
		{"0", "exit 0", 0, ""},
		{"3", "exit 3", 3, ""},
		{"SIGSEGV", "kill -SEGV $$", -1, "SIGSEGV"},
		{"SIGKILL", "kill -KILL $$", -1, "SIGKILL"},
		{"SIGTERM", "kill -TERM $$", -1, "SIGTERM"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := time.Now().UnixNano()
			s := start(t, launch(tt.script), options{})
			st := s.end()
			if st.Code != tt.code || st.Signal != tt.signal || st.Cause != "exited" || st.Forced {
				t.Errorf("status %+v", st)
			}
			if st.StartedNS < before || st.EndedNS < st.StartedNS || st.EndedNS > time.Now().UnixNano() {
				t.Errorf("started %d, ended %d, test began %d", st.StartedNS, st.EndedNS, before)
			}
			if st.Shim.PID != s.cmd.Process.Pid || st.Session != st.Main.PID || st.Main.Start == 0 || st.Main.Boot == "" {
				t.Errorf("identities %+v", st)
			}
		})
	}
}

// A run directory holds nothing but what the next reader needs.
func TestNothingElseIsLeft(t *testing.T) {
	t.Parallel()
	s := start(t, launch("echo hi"), options{})
	s.end()
	var names []string
	entries, err := os.ReadDir(s.dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
		fi, err := e.Info()
		must(t, err)
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), fi.Mode())
		}
	}
	want := []string{rundir.LogFile, rundir.ReadyFIFO, rundir.StatusFile}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestRunningStatus(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	st := s.status()
	if st.State != rundir.StateRunning || st.ID != "w1" || st.Version != rundir.StatusVersion || st.EndedNS != 0 {
		t.Errorf("status %+v", st)
	}
	if !st.Shim.Alive() || !st.Main.Alive() {
		t.Errorf("not alive: %+v", st)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
	if st.Shim.Alive() || st.Main.Alive() {
		t.Errorf("alive after the end: %+v", st)
	}
}

func TestCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "plain"), []byte("#!/bin/sh\n"), 0o600))
	must(t, buildtest.Write(filepath.Join(dir, "headless"), []byte("\x00\x01"), 0o700))
	must(t, buildtest.Write(filepath.Join(dir, "astray"), []byte("#!/no/such/program\n"), 0o700))
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name    string
		command []string
		dir     string
		want    string
	}{
		{"unknown", []string{"no-such-command"}, dir, "command not found: no-such-command"},
		{"unknown path", []string{"./no-such"}, dir, "command not found: ./no-such"},
		{"empty", []string{""}, dir, "command not found: "},
		{"directory", []string{dir}, dir, "is a directory: " + dir},
		{"not executable", []string{"./plain"}, dir, "permission denied: ./plain"},
		{"not executable in PATH", []string{"plain"}, dir, "permission denied: plain"},
		{"no program", []string{"./headless"}, dir, "not a program: ./headless (a script needs a first line such as #!/bin/sh)"},
		{"no interpreter", []string{"./astray"}, dir, "the interpreter that the first line of ./astray names does not exist"},
		{"no directory", []string{"true"}, "/no/such/dir", "no such directory: /no/such/dir"},
		{"a file as directory", []string{"true"}, dir + "/plain", "not a directory: " + dir + "/plain"},
		{"long", []string{"true", long}, dir, "argument list too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := rundir.Launch{Command: tt.command, Dir: tt.dir, Env: []string{"PATH=" + os.Getenv("PATH") + ":."}}
			s, line := tryStart(t, l, options{})
			if want := "error " + tt.want; line != want {
				t.Errorf("got %q, want %q", line, want)
			}
			s.leaves()
			entries, err := os.ReadDir(s.dir)
			must(t, err)
			if len(entries) != 1 || entries[0].Name() != rundir.ReadyFIFO {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
}

// The command is looked up as a shell in the worker's directory, with the
// worker's PATH, would.
func TestCommandLookup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	must(t, buildtest.Write(filepath.Join(dir, "bin", "tool"), []byte("#!/bin/sh\necho $0\n"), 0o700))
	for _, tt := range []struct{ name, command, path string }{
		{"absolute", filepath.Join(dir, "bin", "tool"), "/bin"},
		{"relative", "bin/tool", "/bin"},
		{"relative PATH", "tool", "/bin:bin"},
		{"absolute PATH", "tool", "/bin:" + filepath.Join(dir, "bin")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := rundir.Launch{Command: []string{tt.command}, Dir: dir, Env: []string{"PATH=" + tt.path}}
			s := start(t, l, options{})
			if st := s.end(); st.Code != 0 {
				t.Errorf("status %+v", st)
			}
			if got := s.text("stdout"); !strings.HasSuffix(got, "bin/tool\n") {
				t.Errorf("ran %q", got)
			}
		})
	}
}

func TestDamagedLaunchFile(t *testing.T) {
	t.Parallel()
	s, line := tryStart(t, launch("true"), options{content: []byte("swarm-launch=1\x00id=w1\x00arg=true\x00")})
	if line != "error damaged launch file" {
		t.Errorf("got %q", line)
	}
	s.leaves()
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"a", "b"}} {
		cmd := exec.Command(shimPath, args...)
		cmd.Env = []string{"SWARM_SHIM=1"}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage: swarm-shim") {
			t.Errorf("%v: %v, %q", args, err, out)
		}
	}
}
