package container

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/proc"
)

// TestLookAtAnEnd has an engine that fails while the first process of a container ends, as
// Podman does: a question that meets the end is asked again.
func TestLookAtAnEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		failures int32
		answered bool
		asked    int32
	}{
		"it ends meanwhile": {2, true, 3},
		"it never answers":  {1 << 20, false, looks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(t.TempDir(), "engine.sock")
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case !strings.HasSuffix(r.URL.Path, "/containers/c1/json"):
				case asked.Add(1) <= test.failures:
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = fmt.Fprint(w, `{"message": "read /proc/13926/cgroup: no such process"}`)
				default:
					_, _ = fmt.Fprintf(w, `{"Id": "c1", "Config": {"Labels": {%q: "w1"}}, "State": {"Status": "exited", "ExitCode": 3}}`, labelWorker)
				}
			}))
			_ = server.Listener.Close()
			server.Listener = listener
			server.Start()
			defer server.Close()
			c, err := client.New(client.WithHost(socketScheme + socket))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			s, err := (&engine{Client: c, socket: socket}).inspect(t.Context(), ref{Container: "c1", Worker: "w1"})
			if (err == nil) != test.answered || test.answered && s.code != 3 || asked.Load() != test.asked {
				t.Errorf("asked %d times: %+v, %v", asked.Load(), s, err)
			}
		})
	}
}

// TestInventedExit knows the exit that an engine makes up after a restart of the machine.
func TestInventedExit(t *testing.T) {
	t.Parallel()
	booted, err := proc.BootTime()
	boot, _ := proc.BootID()
	if err != nil || boot == "" {
		t.Fatalf("this machine does not say when it was started: %v", err)
	}
	before, after := booted.Add(-time.Hour), booted.Add(time.Second)
	for name, test := range map[string]struct {
		boot              string // in the note
		started, finished time.Time
		invented          bool
	}{
		"of this boot":                     {boot, after, after.Add(time.Second), false},
		"the clock was set":                {boot, before, after, false},
		"it ran over the restart":          {"another", before, after, true},
		"it ended before":                  {"another", before, before.Add(time.Minute), false},
		"no note, it ran over the restart": {"", before, after, true},
		"no note, it ended before":         {"", before, before.Add(time.Minute), false},
		"no note, of this boot":            {"", after, after.Add(time.Second), false},
	} {
		why := unknowable(state{started: test.started, finished: test.finished}, note{Boot: test.boot})
		if (why != "") != test.invented {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A crash of the machine may leave any part of a note. It counts as none, and another one can
// take its place.
func TestTornNote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\x00\x00\x00\x00", `{"container":"ab","pi`, `[]`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, noteFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := readNote(dir); err != nil || !reflect.DeepEqual(n, note{}) {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
		if err := changeNote(dir, func(n *note) { n.PID = 7 }); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if n, err := readNote(dir); err != nil || n.PID != 7 {
			t.Errorf("%q: then %+v, %v", text, n, err)
		}
	}
}
