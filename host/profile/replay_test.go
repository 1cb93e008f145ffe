package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/screen"
)

// screenOf reads a recorded screen: a line that tells of the program, then what its
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
	head, lines, ok := strings.Cut(string(text), "\n")
	if !ok || !strings.HasPrefix(head, "# ") {
		t.Fatalf("%s: the first line is not a header: %q", path, head)
	}
	if !strings.Contains(lines, "\x1b[") {
		return Screen{Lines: strings.Split(lines, "\n")}
	}
	s := Screen{Styled: screen.Styled(lines)}
	for _, line := range s.Styled {
		s.Lines = append(s.Lines, screen.Plain(line))
	}
	return s
}

// recordedAs are the states that the names of recorded screens stand for.
var recordedAs = map[string]State{
	"prompt": Idle, "draft": Idle, "busy": Working, "blocked": Blocked,
	"background": Background, "compacting": Compacting, "limit": Idle,
}

// showsAnother are screens whose name tells of how they came about, and that show
// another state.
var showsAnother = map[string]State{
	"codex/busy-queued": Idle, // what was queued is done
}

// TestReplay reads screens of the real programs.
func TestReplay(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("profiles/screens/*/*.txt")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d recorded screens: %v", len(files), err)
	}
	for _, path := range files {
		agent := filepath.Base(filepath.Dir(path))
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(agent+"/"+name, func(t *testing.T) {
			p := s.Named(agent)
			if p == nil {
				t.Fatalf("there is no profile '%s'", agent)
			}
			look, tried := p.Explain(screenOf(t, path))
			t.Logf("%+v", look)
			kind, _, _ := strings.Cut(name, "-")
			want, known := recordedAs[kind]
			if another := showsAnother[agent+"/"+name]; another != "" {
				want = another
			}
			if known && look.State != want {
				t.Errorf("state %s, want %s; tried:", look.State, want)
				for _, r := range tried {
					t.Errorf("  %s: %v: %s", r.Rule, r.Matched, r.Why)
				}
			}
			switch kind {
			case "prompt":
				if look.Draft != "" || look.Broken != "" || look.Limit != "" {
					t.Errorf("draft %q, broken %q, limit %q", look.Draft, look.Broken, look.Limit)
				}
			case "draft":
				if look.Draft == "" {
					t.Error("no draft")
				}
				if (strings.Contains(name, "paste") || strings.Contains(name, "image")) != p.Unsubmitted(look, "something else") {
					t.Errorf("what stands for a paste: %q", look.Draft)
				}
			case "blocked":
				if len(look.Question) < 5 || strings.Contains(look.Question, "Allow once") {
					t.Errorf("question %q", look.Question)
				}
				if len(look.Choices) < 2 {
					t.Errorf("choices %+v", look.Choices)
				}
				if strings.Contains(name, "bash") || strings.Contains(name, "command") {
					if !strings.Contains(look.Question, "rm -rf build") {
						t.Errorf("question %q does not name the command", look.Question)
					}
				}
			case "limit":
				if look.Limit == "" || look.Broken != "" {
					t.Errorf("limit %q, broken %q", look.Limit, look.Broken)
				}
			case "error":
				if look.Broken == "" {
					t.Error("it does not look broken")
				}
			case "other":
				if look.State == Working {
					t.Error("it does not work")
				}
			}
		})
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
// leaves no room for what is else below the prompt.
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

// TestReplayElsewhere: a shell's profile takes no screen of an agent for a prompt of its
// own, and no profile another agent's dialog for work.
func TestReplayElsewhere(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("profiles/screens/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		screen := screenOf(t, path)
		if l := s.Named("shell").Look(screen); l.State != Unknown {
			t.Errorf("%s for a shell: %+v", path, l)
		}
		if !strings.HasPrefix(filepath.Base(path), "blocked-") {
			continue
		}
		for _, p := range s.All() {
			if l := p.Look(screen); l.State == Working {
				t.Errorf("%s for %s: %+v", path, p.Name(), l)
			}
		}
	}
}
