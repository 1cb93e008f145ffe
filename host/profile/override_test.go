package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// own returns the set with files of a user, and what is wrong with them.
func own(t *testing.T, files map[string]string) (*Set, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(dir)
}

func ruleNames(p *Profile) (names []string) {
	for _, r := range p.rules {
		names = append(names, r.name)
	}
	return names
}

// TestOverrideRules: each own rule has its place among those of the other profile, which keeps all
// the others.
func TestOverrideRules(t *testing.T) {
	t.Parallel()
	base := ruleNames(profiles(t).Named("claude"))
	s, err := own(t, map[string]string{"claude.toml": `
extends = "claude"
remove = ["survey", "spinner"]
[input]
paste_guard_ms = 900
hints = ['^My hint']
[[rules]]
name = "mine"
state = "working"
all = ['^MINE']
[[rules]]
name = "error"
state = "broken"
all = ['^MY ERROR']
[[rules]]
name = "late"
state = "working"
all = ['^LATE']
after = "prompt"
[[rules]]
name = "limit-menu"
state = "limited"
all = ['^LIMIT']
before = "limit"
`})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Named("claude")
	want := slices.DeleteFunc(slices.Clone(base), func(name string) bool {
		return slices.Contains([]string{"survey", "spinner", "limit-menu"}, name)
	})
	want = slices.Insert(want, slices.Index(want, "limit"), "limit-menu")
	want = slices.Concat([]string{"mine"}, want, []string{"late"})
	if diff := cmp.Diff(want, ruleNames(p)); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	wantOverride := &Override{
		Base: "claude", Replaced: []string{"error", "limit-menu"}, Removed: []string{"survey", "spinner"}, Added: []string{"mine", "late"},
		Keys: []string{"input.hints", "input.paste_guard_ms"},
	}
	if diff := cmp.Diff(wantOverride, p.Override); diff != "" {
		t.Errorf("override (-want +got):\n%s", diff)
	}
	if p.PasteGuard().Milliseconds() != 900 || p.Bundle() != BuiltInVersion() || p.Title() != "Claude Code" {
		t.Errorf("paste guard %v, bundle %q, title %q", p.PasteGuard(), p.Bundle(), p.Title())
	}
	if l := p.Look(Screen{Lines: []string{"MY ERROR"}}); l.Broken != "MY ERROR" {
		t.Errorf("the replaced rule: %+v", l)
	}
	// The rest of [input] is that of the other profile.
	for draft, want := range map[string]string{"My hint": "", "Try \"x\"": "", "my draft": "my draft"} {
		l := p.Look(Screen{Lines: []string{"──────────────", "❯ " + draft, "──────────────"}})
		if l.State != Idle || l.Draft != want {
			t.Errorf("%q at the prompt: %+v", draft, l)
		}
	}
	if !slices.Equal(base, ruleNames(profiles(t).Named("claude"))) || len(profiles(t).Named("claude").input.hints) == len(p.input.hints) {
		t.Error("the built-in profile was changed")
	}
}

// TestOverrideKeys: a file of another name has its own commands, and one of the same name adds to
// those of the other profile.
func TestOverrideKeys(t *testing.T) {
	t.Parallel()
	s, err := own(t, map[string]string{
		"mine.toml":  "extends = \"claude\"\n[match]\nprograms = [\"mine\"]\n[dialog]\ninside = '^┃'\n",
		"codex.toml": "extends = \"codex\"\n[match]\nprograms = [\"codex\", \"my-codex\"]\n[run]\nflags = []\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	mine, codex := s.Named("mine"), s.Named("codex")
	if got := mine.Recognised(); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("mine is recognised by %q", got)
	}
	if mine.dialog.top != nil || mine.dialog.inside == nil || len(mine.dialog.declined) == 0 {
		t.Errorf("the dialogs of mine: %+v", mine.dialog)
	}
	if got := codex.Recognised(); !slices.Contains(got, "my-codex") || !slices.Contains(got, "@openai/codex") {
		t.Errorf("codex is recognised by %q", got)
	}
	if len(codex.Flags()) != 0 || len(codex.HeadlessCommand()) == 0 {
		t.Errorf("flags %q, headless %q", codex.Flags(), codex.HeadlessCommand())
	}
}

// TestOverrideMistakes: an unknown rule is reported with the name that may have been meant, and the
// rest of the file counts, since an update of the other profile may have removed that rule.
func TestOverrideMistakes(t *testing.T) {
	t.Parallel()
	s, err := own(t, map[string]string{
		"claude.toml": "extends = \"claude\"\nremove = [\"surve\"]\n[[rules]]\nname = \"mine\"\nstate = \"idle\"\nall = ['^MINE']\nbefore = \"nothing-like-it\"\n",
		"codex.toml":  "extends = \"codex\"\n[[rules]]\nname = \"a\"\nstate = \"idle\"\nall = ['x']\nbefore = \"prompt\"\nafter = \"menu\"\n[[rules]]\nname = \"a\"\nstate = \"idle\"\nall = ['x']\n",
		"alone.toml":  "remove = [\"x\"]\n[match]\nprograms = [\"alone\"]\n[[rules]]\nname = \"a\"\nstate = \"idle\"\nall = ['x']\nbefore = \"b\"\n",
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`claude.toml:2: remove: profile "claude" has no rule "surve"; did you mean survey?`,
		`claude.toml:7: rules[1].before: profile "claude" has no rule "nothing-like-it"; its rules are limit-menu, command,`,
		"codex.toml:6: rules[1].before: a rule has one of before and after, not both",
		`codex.toml:9: rules[2].name: there are two rules "a"`,
		"alone.toml:1: remove: it goes with extends",
		"alone.toml:8: rules[1].before: before and after go with extends",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if p := s.Named("claude"); p.Source == "" || ruleNames(p)[0] != "mine" {
		t.Errorf("what else the file says does not count: %v", ruleNames(p))
	}
	if s.Named("codex").Source != "" || s.Named("alone") != nil {
		t.Error("a file with a mistake counts")
	}
}
