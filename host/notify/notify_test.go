package notify

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

func TestOf(t *testing.T) {
	t.Parallel()
	event := func(worker string, kind registry.EventKind, text string) registry.Event {
		return registry.Event{Worker: worker, ID: "id-" + worker, Kind: kind, Text: text, Final: !slices.Contains([]registry.EventKind{history.Blocked, history.CrashLoop, history.Limited, history.Broken}, kind)}
	}
	api, agent, db := event("api", history.Failed, "exit status 3"), event("agent", history.Blocked, "Delete it?"), event("db", history.Died, "process not found")
	for what, c := range map[string]struct {
		events []registry.Event
		want   Notice
	}{
		"failed":       {[]registry.Event{api}, Notice{"api failed", "exit status 3"}},
		"lost":         {[]registry.Event{db}, Notice{"db is lost", "process not found"}},
		"asks":         {[]registry.Event{agent}, Notice{"agent asks", "Delete it?"}},
		"loop":         {[]registry.Event{event("api", history.CrashLoop, "5 restarts within 1m0s"), api}, Notice{"api is in a crash loop", "5 restarts within 1m0s"}},
		"limited":      {[]registry.Event{event("agent", history.Limited, "resets 2am")}, Notice{"agent is at a usage limit", "resets 2am"}},
		"broken":       {[]registry.Event{event("agent", history.Broken, "Please run /login")}, Notice{"agent stopped with an error", "Please run /login"}},
		"two":          {[]registry.Event{api, agent}, Notice{"2 workers need you", "api failed: exit status 3\nagent asks: Delete it?"}},
		"many":         {[]registry.Event{api, agent, db, event("x", history.Failed, ""), event("y", history.Failed, "")}, Notice{"5 workers need you", "api failed: exit status 3\nagent asks: Delete it?\ndb is lost: process not found\nand 2 more"}},
		"no need":      {[]registry.Event{event("w", history.Exited, "success"), event("w", history.Killed, ""), event("w", history.Complete, "done")}, Notice{}},
		"some need it": {[]registry.Event{event("w", history.Exited, "success"), api}, Notice{"api failed", "exit status 3"}},
	} {
		got, ok := Of(c.events)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != (c.want != Notice{}) {
			t.Errorf("%s: %t (-want +got):\n%s", what, ok, diff)
		}
	}
}

// No text of a worker talks to the terminal, or is markup on the desktop.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	n, _ := Of([]registry.Event{{Worker: "w", Kind: history.Blocked, Text: "a\x1b]9;b\a\u202e<b>\n\x9c --help" + strings.Repeat("x", 1000)}})
	got := n.Terminal(false)
	if inner := strings.TrimSuffix(strings.TrimPrefix(got, "\x1b]9;"), "\a\a"); strings.ContainsAny(inner, "\x1b\a\n\u009c\u202e") || !utf8.ValidString(inner) || len(inner) > 400 {
		t.Errorf("on the terminal: %q", got)
	}
	if got := n.Terminal(true); !strings.HasPrefix(got, "\x1bPtmux;\x1b\x1b]9;swarm: w asks: a") || !strings.HasSuffix(got, "\a\x1b\\\a") {
		t.Errorf("in tmux: %q", got)
	}
	command := n.Desktop().Command
	if body := command[len(command)-1]; !strings.Contains(body, "&lt;b&gt;") || strings.ContainsAny(body, "<>\x1b") {
		t.Errorf("on the desktop: %q", command)
	}
}

// notify-send makes a newline of \n in a body, a character that turns the text around of
// \342\200\256, and ends itself at \377.
func TestDesktopEscapes(t *testing.T) {
	t.Parallel()
	n := Notice{Title: `-\n`, Body: `\n \342\200\256 \377 \`}
	want := []string{"notify-send", "--app-name=swarm", "--", `-\n`, `\\n \\342\\200\\256 \\377 \\`}
	if got := n.Desktop().Command; !slices.Equal(got, want) {
		t.Errorf("the command is %q, want %q", got, want)
	}
}

func TestHasDesktop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bus := "DBUS_SESSION_BUS_ADDRESS=unix:path=/x"
	if HasDesktop([]string{"PATH=" + dir, bus}) {
		t.Error("there is no notify-send")
	}
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if HasDesktop([]string{"PATH=" + dir}) || HasDesktop([]string{"PATH=" + dir, "XDG_RUNTIME_DIR=" + dir}) {
		t.Error("there is no session")
	}
	if !HasDesktop([]string{"PATH=" + dir, bus}) {
		t.Error("a session by its address is not found")
	}
	if err := os.WriteFile(filepath.Join(dir, "bus"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if !HasDesktop([]string{"PATH=" + dir, "XDG_RUNTIME_DIR=" + dir}) {
		t.Error("a session by its socket is not found")
	}
}

// Events that come together are one notice, later ones another.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		events := make(chan registry.Event)
		var titles []string
		go func() {
			for _, e := range []registry.Event{{Worker: "w", Kind: history.Spawned}, {Worker: "a", Kind: history.Failed}, {Worker: "b", Kind: history.Failed}} {
				events <- e
			}
			time.Sleep(time.Second)
			events <- registry.Event{Worker: "c", Kind: history.Died}
			time.Sleep(time.Second)
			cancel()
		}()
		Gather(ctx, events, func(_ context.Context, n Notice) { titles = append(titles, n.Title) })
		if diff := cmp.Diff([]string{"2 workers need you", "c is lost"}, titles); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}
