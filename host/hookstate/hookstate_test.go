package hookstate_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

func self(t *testing.T) proc.Identity {
	t.Helper()
	p, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	return p.Identity
}

func TestReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	if _, err := hookstate.Read(run); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if id := hookstate.Session(run); id != "" {
		t.Errorf("no file: session %q", id)
	}
	want := hookstate.Claim{
		Version: 1, Client: "claude", Session: "0f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55", Main: self(t), Agent: self(t),
		State: hookstate.Blocked, Question: "May I?", Since: time.Now().Add(-time.Minute).UTC().Round(0), At: time.Now().UTC().Round(0),
	}
	for range 2 {
		if err := hookstate.Write(run, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := hookstate.Read(run)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if id := hookstate.Session(run); id != want.Session {
		t.Errorf("session %q", id)
	}
	entries, err := os.ReadDir(run)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	me := self(t)
	gone := me
	gone.Start++
	for _, tt := range []struct {
		name  string
		claim hookstate.Claim
		want  bool
	}{
		{"alive", hookstate.Claim{State: hookstate.Idle, Main: me, Agent: me}, true},
		{"no state", hookstate.Claim{Main: me, Agent: me}, false},
		{"another incarnation of the worker", hookstate.Claim{State: hookstate.Idle, Main: gone, Agent: me}, false},
		{"the agent has ended", hookstate.Claim{State: hookstate.Idle, Main: me, Agent: gone}, false},
		{"no process", hookstate.Claim{State: hookstate.Idle}, false},
	} {
		if got := tt.claim.Holds(me); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestHostileFile reads files that a worker may have put there.
func TestHostileFile(t *testing.T) {
	t.Parallel()
	content := func(c map[string]any) func(string) error {
		return func(path string) error {
			c["version"] = 1
			b, err := json.Marshal(c)
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		}
	}
	for _, tt := range []struct {
		name string
		make func(path string) error
		bad  bool
		want hookstate.Claim
	}{
		{"FIFO", func(p string) error { return syscall.Mkfifo(p, 0o600) }, true, hookstate.Claim{}},
		{"huge", func(p string) error { return os.WriteFile(p, make([]byte, 1<<20), 0o600) }, true, hookstate.Claim{}},
		{"garbage", func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) }, true, hookstate.Claim{}},
		{"a newer version", func(p string) error { return os.WriteFile(p, []byte(`{"version":2}`), 0o600) }, true, hookstate.Claim{}},
		{"an option as session", content(map[string]any{"session": "--dangerously-skip-permissions"}), false, hookstate.Claim{Version: 1}},
		{"a command as session", content(map[string]any{"session": "a; rm -rf ~"}), false, hookstate.Claim{Version: 1}},
		{"a long session", content(map[string]any{"session": strings.Repeat("a", 129)}), false, hookstate.Claim{Version: 1}},
		{"a state of its own", content(map[string]any{"state": "happy", "question": "x"}), false, hookstate.Claim{Version: 1}},
		{
			"escapes", content(map[string]any{"state": "blocked", "question": "\x1b[31mred\n\u202e"}), false,
			hookstate.Claim{Version: 1, State: hookstate.Blocked, Question: `\x1b[31mred\n\u202e`},
		},
		{
			"a long question", content(map[string]any{"state": "blocked", "question": strings.Repeat("é", 400)}), false,
			hookstate.Claim{Version: 1, State: hookstate.Blocked, Question: strings.Repeat("é", 250) + "…"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := t.TempDir()
			if err := tt.make(filepath.Join(run, hookstate.File)); err != nil {
				t.Fatal(err)
			}
			got, err := hookstate.Read(run)
			if (err != nil) != tt.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if id := hookstate.Session(run); id != "" {
				t.Errorf("session %q", id)
			}
			// The next hook puts its own in the place of all of them.
			if err := hookstate.Write(run, hookstate.Claim{Client: "claude", Session: "s"}); err != nil || hookstate.Session(run) != "s" {
				t.Errorf("written over: %v", err)
			}
		})
	}
}

func TestTimeAhead(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	ahead := time.Now().Add(time.Hour)
	if err := hookstate.Write(run, hookstate.Claim{State: hookstate.Idle, At: ahead, Since: ahead}); err != nil {
		t.Fatal(err)
	}
	c, err := hookstate.Read(run)
	if err != nil || c.At.After(time.Now()) || c.Since.After(time.Now()) {
		t.Errorf("%v at %v since %v", err, c.At, c.Since)
	}
}

func TestUnsafeFileIsNamed(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(run, hookstate.File)); err != nil {
		t.Fatal(err)
	}
	if _, err := hookstate.Read(run); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("a link: %v", err)
	}
}

// A long command is kept as a whole, and one that is too long is known to be cut: no one should
// approve what they can't see.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	const most = 32 << 10
	for _, tt := range []struct {
		command string
		partial bool
	}{
		{strings.Repeat("x", most), false},
		{strings.Repeat("<", most), false},
		{strings.Repeat("x", most) + "; rm -rf ~", true},
	} {
		run := t.TempDir()
		if err := hookstate.Write(run, hookstate.Claim{State: hookstate.Blocked, Question: "May I?", Command: tt.command}); err != nil {
			t.Fatal(err)
		}
		c, err := hookstate.Read(run)
		if err != nil || c.Partial != tt.partial || !tt.partial && len(c.Command) < len(tt.command) {
			t.Errorf("%.10q: %v, %d bytes, partial: %t", tt.command, err, len(c.Command), c.Partial)
		}
	}
}
