package reattach_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/proc"
)

// session is one of this process, which serves at a socket of its own.
func session(t *testing.T) *reattach.Session {
	t.Helper()
	dir, err := os.MkdirTemp("", "r") //nolint:usetesting // that of t is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return &reattach.Session{
		Plugin: client.Info{Name: "x", Kind: client.KindBackend, Contract: 1}, Socket: l.Addr().String(), Server: self, Holder: self,
	}
}

func TestKeptUntilForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if s, err := reattach.Find(dir, "x"); s != nil || err != nil {
		t.Errorf("without a session: %v, %v", s, err)
	}
	kept := session(t)
	forget, err := kept.Keep(dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := reattach.Find(dir, "x")
	if err != nil || found == nil || found.Socket != kept.Socket || found.Server != kept.Server {
		t.Fatalf("found %+v, %v", found, err)
	}
	conn, err := found.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := forget(); err != nil {
		t.Error(err)
	}
	if s, err := reattach.Find(dir, "x"); s != nil || err != nil {
		t.Errorf("after the session: %v, %v", s, err)
	}
}

// A session counts only while both of its processes live, and the one that serves is the recorded one.
func TestOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	gone, err := proc.Identify(ended.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := ended.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*reattach.Session){
		func(s *reattach.Session) { s.Server = gone },
		func(s *reattach.Session) { s.Holder = gone },
		func(s *reattach.Session) { s.Server.Start++ },
	} {
		s := session(t)
		change(s)
		if _, err := s.Keep(dir); err != nil {
			t.Fatal(err)
		}
		if s, err := reattach.Find(dir, "x"); s != nil || err != nil {
			t.Errorf("%+v, %v", s, err)
		}
	}
	s := session(t)
	if s.Server, err = proc.Identify(os.Getppid()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "not the debugged process") {
		t.Errorf("another process serves: %v", err)
	}
}

// A file that can't be believed is an error: without one, another program would run than a person thinks.
func TestFilesThatCannotBeBelieved(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"no JSON":      func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"other plugin": func(path string) error { return os.WriteFile(path, []byte(`{"plugin":{"Name":"y"}}`), 0o600) },
		"a link":       func(path string) error { return os.Symlink("/dev/null", path) },
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "plugin-debug"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := make(filepath.Join(dir, "plugin-debug", "x.json")); err != nil {
			t.Fatal(err)
		}
		if s, err := reattach.Find(dir, "x"); err == nil || s != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
