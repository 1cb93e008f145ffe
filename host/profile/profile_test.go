package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFor(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"claude":                                 "claude",
		"/usr/local/bin/claude --model opus":     "claude",
		"env X=1 -u Y claude":                    "claude",
		"X=1 claude":                             "claude",
		"npx -y @anthropic-ai/claude-code@2.1":   "claude",
		"/root/.local/share/claude/versions/2.1": "claude",

		"node /usr/lib/node_modules/@openai/codex/bin/codex.js": "codex",
		"node --no-warnings /opt/x/codex.js --no-daemon":        "codex",
		"npx @google/gemini-cli":                                "gemini",
		"pnpm dlx @qwen-code/qwen-code --yolo":                  "qwen",
		"bunx opencode-ai":                                      "opencode",
		"npx @github/copilot":                                   "copilot",
		"kilo --agent plan":                                     "kilo",
		"npx -y cline@3.0.65 --auto-approve false":              "cline",
		"goose session":                                         "goose",
		"npx @earendil-works/pi-coding-agent":                   "pi",
		"python3 -m aider --model x":                            "aider",
		"timeout -k 5 60 codex exec hi":                         "codex",
		"bash":                                                  "shell",
		"bash --norc -i":                                        "shell",
		"bash run.sh":                                           "",
		"sleep 1000":                                            "",
		"node server.js":                                        "",
		"echo claude":                                           "",
		"vim claude.go":                                         "",
		"node":                                                  "",
		"env":                                                   "",
	} {
		if got := nameOf(s.For(strings.Fields(command))); got != want {
			t.Errorf("For(%s): %q, want %q", command, got, want)
		}
	}
	for script, want := range map[string]string{
		"exec claude --continue":           "claude",
		"cd /tmp && A=b exec 'codex' -m x": "codex",
		"gemini; echo done":                "gemini",
		"echo claude":                      "",
		"sleep 1; bash":                    "shell",
	} {
		if got := nameOf(s.For([]string{"sh", "-c", script})); got != want {
			t.Errorf("For(sh -c %s): %q, want %q", script, got, want)
		}
	}
	if s.For(nil) != nil || (*Set)(nil).For([]string{"claude"}) != nil {
		t.Error("a profile for nothing")
	}
	for command, want := range map[string]bool{"claude -p hi": true, "claude": false, "env A=b claude --print": true} {
		if got := s.Named("claude").Headless(strings.Fields(command)); got != want {
			t.Errorf("Headless(%s): %v", command, got)
		}
	}
}

func nameOf(p *Profile) string {
	if p == nil {
		return ""
	}
	return p.Name()
}

func TestPasteGuard(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.All() {
		if p.PasteGuard() < 150*time.Millisecond {
			t.Errorf("%s: %s", p.Name(), p.PasteGuard())
		}
	}
}

func TestUnsubmitted(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	claude := s.Named("claude")
	long := strings.Repeat("a line that is long enough to be broken ", 20)
	for _, c := range []struct {
		draft, text string
		want        bool
	}{
		{"", "hello", false},
		{"hello", "hello", true},
		{"hello", "another", false},
		{"a line that is long enough\nto be broken a line", long, true},
		{"[Pasted text #1 +10 lines]", "one\ntwo", true},
		{"first line of it and more\nsecond", "first line of it and more\nsecond\n", true},
		{"see @file.go completed/", "see @file.go", true},
		{"hello", "", false},
	} {
		if got := claude.Unsubmitted(Look{Draft: c.draft}, c.text); got != c.want {
			t.Errorf("Unsubmitted(%q, %q): %v", c.draft, c.text, got)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.toml", "[match]\nprograms = [\"mine\"]\n[[rules]]\nname = \"prompt\"\nstate = \"idle\"\nall = ['^mine>']\n")
	write("claude.toml", "extends = \"claude\"\n[match]\nprograms = [\"claude\", \"my-claude\"]\n[[rules]]\nname = \"own\"\nstate = \"working\"\nall = ['^OWN']\n")
	write("syntax.toml", "title = \"x\"\nname = \n")
	write("unknown.toml", "[match]\nprograms = [\"x\"]\n\n[[rules]]\nname = \"a\"\nstate = \"idle\"\nall = ['x']\n[[rules]]\nname = \"a\"\nstate = \"idle\"\nall = ['x']\ncolour = 1\n")
	write("pattern.toml", "[match]\nprograms = [\"x\"]\n[[rules]]\nname = \"a\"\nstate = \"sleepy\"\nall = ['(x']\n")
	write("type.toml", "[match]\nprograms = 3\n")
	write("deep.toml", "\n"+strings.Repeat("a.", 8<<10)+"a = 1\n")
	write("none.toml", "extends = \"claude\"\n")
	write("notes.txt", "no profile")
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.toml")); err != nil {
		t.Fatal(err)
	}
	s, err := Load(dir)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"syntax.toml:2: ",
		"unknown.toml:12: rules[2].colour: unknown key",
		"pattern.toml:5: rules[1].state: expected working, idle, blocked, background, compacting, limited or broken, got \"sleepy\"",
		"pattern.toml:6: rules[1].all: missing closing ): `(x`",
		"type.toml:2: ",
		"deep.toml:2: keys and values are nested more than 24 deep",
		"none.toml: name: \"none\" means no profile",
		"zero.toml",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%s", want, err)
		}
	}
	if got := nameOf(s.For([]string{"mine"})); got != "mine" {
		t.Errorf("mine: %q", got)
	}
	p := s.For([]string{"my-claude"})
	if nameOf(p) != "claude" || p.Source != filepath.Join(dir, "claude.toml") {
		t.Fatalf("my-claude: %+v", p)
	}
	if l := p.Look(Screen{Lines: []string{"OWN"}}); l.State != Working || l.Rule != "own" {
		t.Errorf("own rule: %+v", l)
	}
	if l := p.Look(Screen{Lines: []string{"──────────────", "❯ ", "──────────────"}}); l.State != Idle {
		t.Errorf("rule of the embedded profile: %+v", l)
	}
	if s.Named("codex") == nil {
		t.Error("the embedded profiles are gone")
	}
}

// TestEmbeddedSources checks what is known of embedded profiles before they are parsed.
func TestEmbeddedSources(t *testing.T) {
	for _, src := range builtin() {
		p := src.profile()
		if p.Name() != src.name {
			t.Errorf("%s.toml has the name %q", src.name, p.Name())
		}
		if diff := cmp.Diff(p.file.Match, *src.match); diff != "" {
			t.Errorf("%s (-parsed +before):\n%s", src.name, diff)
		}
	}
}

func TestScrollbackIsNoDialog(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	rule := strings.Repeat("─", 60)
	dialog := []string{" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"}
	l := s.Named("claude").Look(Screen{Lines: dialog})
	if l.State != Blocked || l.Question != "Do you want to proceed?" || len(l.Choices) != 2 || !l.Choices[0].Selected || l.Choices[1] != (Choice{Key: "2", Label: "No"}) {
		t.Errorf("a dialog: %+v", l)
	}
	l = s.Named("claude").Look(Screen{Lines: append(dialog, "", rule, "❯ my draft", rule, "  ? for shortcuts")})
	if l.State != Idle || l.Draft != "my draft" {
		t.Errorf("a dialog that was printed: %+v", l)
	}
}

// The example of docs/profiles.md is a profile.
func TestExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```toml\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("no example")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := s.For([]string{"my-claude"}).Look(Screen{Lines: []string{"Deploy to production?"}})
	if l.State != Blocked || l.Rule != "deploy-question" || l.Question != "Deploy to production?" || len(l.Choices) != 2 {
		t.Errorf("%+v", l)
	}
}
