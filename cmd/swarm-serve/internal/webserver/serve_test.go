package webserver_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestServes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1001")
	s := w.web()
	if !strings.HasPrefix(s.base, "http://127.0.0.1:") {
		t.Errorf("the address is %s", s.address)
	}
	if code, _ := s.get("/"); code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", code)
	}
	if code, body := s.get(""); code != http.StatusOK || !strings.Contains(body, ">one<") {
		t.Errorf("with the token: %d\n%s", code, body)
	}
	if code, _ := s.get("/"); code != http.StatusOK {
		t.Errorf("with the session: %d", code)
	}
}

// TestEnds: the server ends by itself when it is asked to, and nothing of it stays if it is
// killed; workers stay.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.swarm("spawn", "--name", "one", "--", "sleep", "1002")
			before := len(w.alive())
			s := w.web()
			s.get("")
			stream, err := s.Get(s.base + "/live")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stream.Body.Close() }()
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); (err == nil) != (sig != syscall.SIGKILL) {
				t.Errorf("the server: %v", err)
			}
			w.until("the plugins are gone", func() bool { return len(w.alive()) == before })
			if got := w.swarm("status", "one"); !strings.Contains(got, "running") {
				t.Errorf("the worker: %s", got)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got struct {
		Address string
		Write   *bool
	}
	line := w.web("--json", "--listen", "localhost:0").address
	if err := json.Unmarshal([]byte(line), &got); err != nil || got.Write == nil || *got.Write || !strings.HasPrefix(got.Address, "http://localhost:") {
		t.Errorf("%s: %v", line, err)
	}
	fits(t, "../../../../docs/web.schema.json", line)
}

// fits checks one JSON text against a schema.
func fits(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(file, &schema); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err == nil {
		err = resolved.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.dir, "web.sock")
	first := w.web("--socket", path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if out, err := w.command(t.Context(), "swarm", "web", "--socket", path).CombinedOutput(); err == nil || !strings.Contains(string(out), "another server does") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	s := w.web("--socket", path) // what a killed server has left is in no other server's way
	s.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	w.until("the page has looked for workers", func() bool {
		code, body := s.get("")
		return code == http.StatusOK && strings.Contains(body, "No workers yet")
	})
}

func TestRefusesToListen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for want, args := range map[string][]string{
		"needs --cert and --key":                 {"--listen", "0.0.0.0:0"},
		"invalid address '8080'":                 {"--listen", "8080"},
		"--cert and --key belong together":       {"--cert", "x"},
		"cannot use the certificate":             {"--cert", "x", "--key", "y"},
		"--socket and --listen exclude":          {"--socket", "x", "--listen", "localhost:0"},
		"--socket and --cert exclude each other": {"--socket", "x", "--cert", "x", "--key", "y"},
	} {
		out, err := w.command(t.Context(), "swarm", append([]string{"web"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}
