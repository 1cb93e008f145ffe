package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// screenOf reads a recorded screen: a line that names the program, then what its
// terminal showed, newer ones with the styles as SGR sequences.
func screenOf(t *testing.T, path string) Screen {
	t.Helper()
	return readScreen(t, path)
}

func readScreen(t testing.TB, path string) Screen {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRecording(filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".txt"), string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r.Screen
}

// TestReplay reads the recorded screens, as 'swarm profiles test' does.
func TestReplay(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := s.Recordings()
	if err != nil || len(recordings) < 200 {
		t.Fatalf("%d recorded screens: %v", len(recordings), err)
	}
	for _, r := range recordings {
		t.Run(r.Client+"/"+r.Name, func(t *testing.T) {
			v := s.Replay(r)
			for _, p := range v.Problems {
				t.Error(p)
			}
			if r.kind() == "blocked" && (strings.Contains(r.Name, "bash") || strings.Contains(r.Name, "command")) && !strings.Contains(v.Look.Question, "rm -rf build") {
				t.Errorf("question %q does not name the command", v.Look.Question)
			}
			if t.Failed() {
				t.Logf("%+v", v.Look)
				for _, trial := range v.Trials {
					t.Logf("  %s: %v: %s", trial.Rule, trial.Matched, trial.Why)
				}
			}
		})
	}
}

// TestVerified: the versions that a profile names are those of its recorded screens.
func TestVerified(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	verified, err := s.Verify()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.All() {
		if got, want := p.file.Verified, verified[p.Name()].Versions; !slices.Equal(got, want) {
			t.Errorf("%s: verified = %q, and screens of %q are recorded", p.Name(), got, want)
		}
	}
}

// TestReplayLimitMenu: a menu that comes with a limit is a dialog, and the limit is known.
func TestReplayLimitMenu(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("profiles/screens/claude/blocked-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		l := s.Named("claude").Look(screenOf(t, path))
		want := ""
		if filepath.Base(path) == "blocked-limit.txt" {
			want = "⎿  You've hit your session limit · resets 3pm (Europe/Berlin)"
		}
		if l.State != Blocked || l.Limit != want || l.Broken != "" {
			t.Errorf("%s: %+v", path, l)
		}
	}
}

// TestReplayLongDrafts: a draft is read as a whole, also one with empty lines, and one that
// leaves no space for what is else below the prompt.
func TestReplayLongDrafts(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ begin, end string }{
		"codex/draft-empty-line-80x24":         {"one\ntwo, indented:\n", "\n\nfive! and six?\nseven"},
		"codex/draft-full-80x24":               {"word0 word1 ", "\nword136 word137 word1."},
		"codex/draft-scrolled-80x24":           {"line 47\nline 48\n", "\nline 60"},
		"pi/draft-lines-80x24":                 {"one\n", "three four"},
		"gemini/draft-lines-few-colours-80x24": {"one\n", "three four"},
		"codex/busy-full-draft-80x24":          {"word0 word1 ", "\nword136 word137 word1."},
	} {
		l := s.Named(filepath.Dir(path)).Look(screenOf(t, filepath.Join("profiles/screens", path+".txt")))
		if !strings.HasPrefix(l.Draft, want.begin) || !strings.HasSuffix(l.Draft, want.end) {
			t.Errorf("%s: draft %q", path, l.Draft)
		}
	}
}

// TestReplayHalfDrawn: a prompt of Codex without the line below it is one that a dialog may
// still replace.
func TestReplayHalfDrawn(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	half := map[string]bool{"prompt-starting-80x24": true, "prompt-half-drawn-80x24": true}
	files, err := filepath.Glob("profiles/screens/codex/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		p := s.Named("codex")
		l := p.Look(screenOf(t, path))
		if late := p.Settle(l) > p.Settle(Look{}); late != half[name] {
			t.Errorf("%s is believed after %v: %+v", name, p.Settle(l), l)
		}
	}
}

// TestReplayInScrollback: what another screen shows above the prompt says nothing.
func TestReplayInScrollback(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for agent, prompt := range map[string]string{"claude": "prompt-answered", "codex": "prompt-interrupted", "gemini": "prompt-answered", "opencode": "prompt-answered", "qwen": "prompt-answered-80x24", "pi": "prompt-answered-80x24"} {
		p := s.Named(agent)
		below := screenOf(t, filepath.Join("profiles/screens", agent, prompt+".txt"))
		for len(below.Lines) > 0 && strings.TrimSpace(below.Lines[0]) == "" {
			below.Lines = below.Lines[1:]
		}
		files, err := filepath.Glob(filepath.Join("profiles/screens", agent, "blocked-*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatal(agent, "has no dialogs:", err)
		}
		for _, path := range files {
			screen := screenOf(t, path)
			printed := append(trimmed(screen.Lines), below.Lines...)
			if l := p.Look(Screen{Lines: printed}); l.State != Idle {
				t.Errorf("%s above a prompt: %+v", path, l)
			}
			// The dialog itself, with the prompt scrolled away.
			if l := p.Look(screen); l.State != Blocked {
				t.Errorf("%s: %+v", path, l)
			}
		}
	}
}
