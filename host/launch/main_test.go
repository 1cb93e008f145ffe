package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/client"
)

// testPlugin is the path of the plugin in testdata.
var testPlugin string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv(victimEnv) != "" {
		return victim()
	}
	dir, err := os.MkdirTemp("", "launch")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	testPlugin = filepath.Join(dir, "swarm-plugin-test")
	if err := buildtest.Program(testPlugin, "./testdata/plugin"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// entry is the test plugin in one of its modes.
func entry(args ...string) catalog.Entry {
	return catalog.Entry{Name: "test", Command: append([]string{testPlugin}, args...)}
}

// script is a plugin written in shell.
func script(t *testing.T, text string) catalog.Entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "swarm-plugin-test")
	if err := buildtest.Write(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return catalog.Entry{Name: "test", Command: []string{path}}
}

// options are those of a set whose sockets are in a directory of this test.
func options(t *testing.T) Options {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // that of t is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return Options{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + dir}}
}

func newSet(t *testing.T) *Set {
	t.Helper()
	s := New(options(t))
	t.Cleanup(s.Close)
	return s
}

// get starts a plugin that must work.
func get(t *testing.T, s *Set, e catalog.Entry) *client.Client {
	t.Helper()
	c, err := s.Get(t.Context(), e)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return c
}

// pid returns the process of a client.
func pid(t *testing.T, s *Set, c *client.Client) int {
	t.Helper()
	p := s.holder(c)
	if p == nil {
		t.Fatal("client is not of this set")
	}
	return p.proc.proc.cmd.Process.Pid
}

// alive reports whether there is a process that is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		_, noProc := os.Stat("/proc/self")
		return noProc != nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return after[0] != 'Z' && after[0] != 'X'
}

// stopped says whether no thread of a process runs; without /proc it is believed.
func stopped(pid int) bool {
	stats, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	for _, name := range stats {
		stat, _ := os.ReadFile(name)
		if _, after, ok := strings.Cut(string(stat), ") "); ok && after[0] != 'T' {
			return false
		}
	}
	return true
}

// eventually waits for a condition that nothing announces.
func eventually(t *testing.T, what string, limit time.Duration, cond func() bool) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not after %v: %s", limit, what)
		}
	}
}
