package ralph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/screen"
)

const recorded = "../profile/profiles/screens/"

// watched is an iteration whose agent shows recorded screens of a client.
type watched struct {
	*iteration
	t *testing.T
}

func watch1(t *testing.T, client, prompt string) *watched {
	t.Helper()
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{t: t, iteration: &iteration{
		loop: &loop{}, profile: set.Named(client), prompt: []byte(prompt), turn: turn{look: stoppedTimer()},
		screen: screen.Screen{Live: true, Styles: true},
	}}
	w.screen.Resize(120, 40)
	return w
}

// shows has the agent show a recorded screen, or these lines.
func (w *watched) shows(name string) {
	w.t.Helper()
	text := name
	if !strings.Contains(name, "\n") {
		b, err := os.ReadFile(recorded + name + ".txt")
		if err != nil {
			w.t.Fatal(err)
		}
		_, text, _ = strings.Cut(string(b), "\n")
	}
	w.screen.Write([]byte("\x1b[0m\x1b[H\x1b[2J"+strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\r\n")), time.Time{})
	w.follow(time.Now())
}

func (w *watched) given() {
	w.turn.before = w.shown().Text()
	w.entered.Store(time.Now().UnixNano())
	w.turn.take(time.Now())
}

// never is what ends returns for a turn that is not over within minutes.
const never = -1

// ends returns after how long the turn has ended if nothing more happens, and its outcome.
func (w *watched) ends() (time.Duration, outcome) {
	begun := time.Now()
	for time.Since(begun) < 5*time.Minute {
		r, lasts := w.follow(time.Now())
		if ended(r.State.State) && w.patience(r.said) <= lasts {
			w.judge(&r)
			return time.Since(begun), w.outcome
		}
		time.Sleep(250 * time.Millisecond) // of the bubble
	}
	return never, w.outcome
}

// TestTurns follows turns on screens of the real clients.
func TestTurns(t *testing.T) {
	const claude = "claude"
	for _, tt := range []struct {
		name, client, prompt string
		// screens are shown one after the other; the prompt is given after the first.
		screens []string
		argued  bool
		after   time.Duration
		// want is empty for a success.
		want string
	}{
		{"seen to work", claude, "also the docs", []string{"claude/prompt-first", "claude/busy", "claude/prompt-answered"}, false, turnIdle, ""},
		{"answered before it was seen", claude, "also the docs", []string{"claude/prompt-first", "claude/prompt-answered"}, false, turnMissed, ""},
		{"answered before, by argument", claude, "also the docs", []string{"claude/prompt-answered"}, true, turnMissed, ""},
		{"never seen to work", claude, "also the docs", []string{"claude/prompt-first", "claude/prompt-first"}, false, turnMissed, "unseen"},
		{"never seen to work, by argument", claude, "also the docs", []string{"claude/prompt-first"}, true, turnUnbegun, "unseen"},
		{"the answers of an earlier prompt", claude, "and the tests", []string{"claude/prompt-answered", "claude/prompt-answered"}, false, turnMissed, "unseen"},
		{"answered before it was seen", "codex", "also the docs", []string{"codex/prompt-first", "codex/prompt-answered"}, false, turnMissed, ""},
		{"answered before it was seen", "gemini", "fix the tests", []string{"gemini/prompt-starting", "gemini/prompt-answered"}, false, turnMissed, ""},
		{"queued without end", "gemini", "also the docs", []string{"gemini/prompt-starting", "gemini/busy-queued"}, false, never, ""},
		{"a hint that was there before", "gemini", "fix the tests", []string{"gemini/prompt-answered", "gemini/prompt-answered"}, false, turnMissed, "unseen"},
		{"answered before it was seen", "opencode", "fix the tests", []string{"opencode/prompt", "opencode/prompt-answered"}, false, turnMissed, ""},
		{"answered before it was seen", "qwen", "also the docs", []string{"qwen/prompt-80x24", "qwen/prompt-answered-80x24"}, false, turnMissed, ""},

		{"it asked before", claude, "also the docs", []string{"claude/prompt-first", "claude/blocked-bash", "claude/prompt-first"}, false, turnIdle, ""},
		{"it asked at first", claude, "also the docs", []string{"claude/blocked-trust", "claude/prompt-first"}, true, turnUnbegun, "unseen"},
		{"a shell runs on", claude, "sleep in the background", []string{"claude/prompt-first", "claude/busy", "claude/background-shell"}, false, never, ""},
		{"a sub-agent runs on", claude, "an agent in the background", []string{"claude/prompt-first", "claude/background-agent"}, false, never, ""},
		{"a sub-agent has ended", claude, "an agent in the background", []string{"claude/prompt-first", "claude/background-agent", "claude/prompt-answered"}, false, turnIdle, ""},

		{"a limit", claude, "hit the limit", []string{"claude/prompt-first", "claude/busy", "claude/limit-stopped"}, false, turnIdle, "⎿  You've hit your 5-hour limit · resets 12:19am (UTC)"},
		{"a limit that it waits for itself", claude, "hit the limit", []string{"claude/prompt-first", "claude/limit-waits"}, false, turnIdle, "⎿  You've hit your 5-hour limit · resets 12:19am (UTC)"},
		{"a limit", "codex", "try the limit", []string{"codex/prompt-first", "codex/limit-usage"}, false, turnIdle, "■ You’ve hit your usage limit. Try again later."},
		{"an error", claude, "now", []string{"claude/prompt-first", "claude/error-500"}, false, turnIdle, "API Error"},
		{"an error", "gemini", "try the key", []string{"gemini/prompt-starting", "gemini/error-key-styled"}, false, turnIdle, "API key not valid"},
		{"a retry after a limit", "gemini", "try the limit", []string{"gemini/prompt-starting", "gemini/busy-limit"}, false, never, ""},
		{"a retry after a limit", "opencode", "try the limit", []string{"opencode/prompt", "opencode/busy-limit"}, false, never, ""},
		{"a retry after a limit", "qwen", "try the limit", []string{"qwen/prompt-80x24", "qwen/busy-limit-80x24"}, false, never, ""},
	} {
		t.Run(tt.client+"/"+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch1(t, tt.client, tt.prompt)
				if w.argued = tt.argued; tt.argued {
					w.given()
					w.turn.before = nil
				}
				for i, name := range tt.screens {
					w.shows(name)
					time.Sleep(5 * time.Second) // of the bubble
					if i == 0 && !tt.argued {
						w.given()
					}
				}
				if len(tt.screens) > 1 || tt.argued {
					w.turn.since = time.Now()
				}
				after, out := w.ends()
				if after != tt.after {
					t.Errorf("over after %v, want %v: %+v", after, tt.after, w.turn.shown)
				}
				got := out.broken
				if out.unseen {
					got = "unseen"
				}
				if !strings.Contains(got, tt.want) || tt.want == "" && got != "" || (got != "") != out.failed() {
					t.Errorf("the outcome: %q, failed: %v, want %q", got, out.failed(), tt.want)
				}
			})
		})
	}
}

// TestTurnByHooks: a report of hooks since the prompt shows that a turn began.
func TestTurnByHooks(t *testing.T) {
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		state, screen string
		after         time.Duration
		want          string
	}{
		{hookstate.Idle, "claude/prompt-first", turnSaid, ""},
		{hookstate.Idle, "one line\nthat no rule knows", turnSaid, ""},
		{hookstate.Working, "claude/prompt-first", turnDoubted + turnIdle, ""},
		{hookstate.Background, "claude/background-shell", never, ""},
		// The screens of this client show background work, and this one does not.
		{hookstate.Background, "claude/prompt-first", turnDoubted + turnIdle, ""},
		{hookstate.Limited, "claude/prompt-first", turnSaid, "limit of the hooks"},
		{hookstate.Broken, "claude/limit-stopped", turnSaid, "hit your 5-hour limit"},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w := watch1(t, "claude", "also the docs")
			w.self, w.RunDir = self.Identity, dir
			w.shows("claude/prompt-first")
			w.given()
			time.Sleep(time.Second) // of the bubble
			c := hookstate.Claim{State: tt.state, Main: self.Identity, Agent: self.Identity, At: time.Now(), Since: time.Now()}
			if tt.want != "" {
				c.Reason = "limit of the hooks, resets in 2h"
			}
			if err := hookstate.Write(dir, c); err != nil {
				t.Fatal(err)
			}
			w.shows(tt.screen)
			after, out := w.ends()
			if after > tt.after || after < tt.after-time.Second || (after == never) != (tt.after == never) || !strings.Contains(out.broken, tt.want) || tt.want == "" && out.failed() {
				t.Errorf("%s with %s: over after %v, %+v; want %v, %q", tt.state, tt.screen, after, out, tt.after, tt.want)
			}
		})
	}
}

// TestLimitsOfScreens: the end of a limit is found on screens as the real clients draw them,
// which have other blanks than their texts.
func TestLimitsOfScreens(t *testing.T) {
	now := time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)
	files, err := filepath.Glob(recorded + "*/*limit*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recorded screens: %v", len(files), err)
	}
	ends := map[string]string{
		"claude/blocked-limit": "2026-11-27T14:00:00Z", // 3pm in Berlin: just now
		"claude/limit-stopped": "2026-11-28T00:19:00Z",
		"claude/limit-waits":   "2026-11-28T00:19:00Z",
	}
	for _, path := range files {
		client := filepath.Base(filepath.Dir(path))
		name := client + "/" + strings.TrimSuffix(filepath.Base(path), ".txt")
		w := watch1(t, client, "")
		w.shows(name)
		got := ""
		if l := w.profile.Look(w.shown()); l.Trouble() != "" && l.State != profile.Working {
			w.stops(l.Trouble())
			if end, ok := limitEnd(w.outcome.failure, now); ok {
				got = end.UTC().Format(time.RFC3339)
			}
		}
		if got != ends[name] {
			t.Errorf("%s: the limit ends at %q, want %q: %q", name, got, ends[name], w.outcome.failure)
		}
	}
	// Claude Code writes U+00A0 after the mark.
	w := watch1(t, "claude", "")
	rule := strings.Repeat("─", 40)
	w.shows("❯ continue\n  ⎿\u00a0 You've hit your limit · resets 2:28am (UTC)\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ? for shortcuts")
	w.stops(w.profile.Look(w.shown()).Trouble())
	if end, ok := limitEnd(w.outcome.failure, now); !ok || end.UTC().Format(time.TimeOnly) != "02:28:00" {
		t.Errorf("%q: %v, %v", w.outcome.failure, end, ok)
	}
}
