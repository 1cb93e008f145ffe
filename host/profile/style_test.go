package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/screen"
)

// profileOf returns a profile that is made of rules.
func profileOf(t *testing.T, text string) *Profile {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.toml"), []byte("[match]\nprograms = [\"mine\"]\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s.Named("mine")
}

// styledScreen returns a screen of lines with SGR sequences.
func styledScreen(lines ...string) Screen {
	s := Screen{Styled: lines}
	for _, line := range lines {
		s.Lines = append(s.Lines, screen.Plain(line))
	}
	return s
}

func TestStyle(t *testing.T) {
	t.Parallel()
	p := profileOf(t, `
[[rules]]
name = "error"
state = "broken"
style = ["fg=red|orange", "bold !dim"]
any = ['^\s+⎿ (?P<styled>.*login)', '^whole$']
[[rules]]
name = "rest"
state = "idle"
any = ['.']
`)
	for name, c := range map[string]struct {
		screen Screen
		want   string
	}{
		"in the colour":        {styledScreen("\x1b[2m  ⎿\u00a0\x1b[0;31mplease login\x1b[0m"), "⎿ please login"},
		"bold":                 {styledScreen("  ⎿\u00a0\x1b[1mplease login\x1b[0m"), "⎿ please login"},
		"bold and dim":         {styledScreen("  ⎿\u00a0\x1b[1;2mplease login\x1b[0m"), ""},
		"only a part":          {styledScreen("  ⎿\u00a0\x1b[31mplease\x1b[0m login"), ""},
		"blanks of no style":   {styledScreen("  ⎿\u00a0\x1b[31mplease\x1b[0m \x1b[31mlogin\x1b[0m"), "⎿ please login"},
		"prose":                {styledScreen("  ⎿ please login", "\x1b[31m●\x1b[0m"), ""},
		"the whole match":      {styledScreen("\x1b[31mwhole\x1b[0m"), "whole"},
		"no style anywhere":    {styledScreen("  ⎿ please login"), "⎿ please login"},
		"styles are not known": {Screen{Lines: []string{"  ⎿\u00a0please login"}}, "⎿ please login"},
		"other lines":          {Screen{Lines: []string{"  ⎿ please login"}, Styled: []string{"\x1b[31mno such line\x1b[0m"}}, ""},
	} {
		if l := p.Look(c.screen); l.Broken != c.want || l.State != Idle {
			t.Errorf("%s: %+v", name, l)
		}
	}
	_, trials := p.Explain(styledScreen("  ⎿ please login", "\x1b[31m●\x1b[0m"))
	if why := trials[0].Why; !strings.Contains(why, "in another style: ⎿ please login") {
		t.Errorf("the reason is %q", why)
	}
}

func TestRegion(t *testing.T) {
	t.Parallel()
	rules := ""
	for _, in := range regions {
		rules += "[[rules]]\nname = \"" + in + "\"\nstate = \"idle\"\nin = \"" + in + "\"\nall = ['MARK']\n"
	}
	p := profileOf(t, "[input]\nabove = '^─{10,}'\nprompt = '^>(?:\\s(?P<draft>.*))?$'\nend = '^─{10,}'\n"+rules)
	edge := strings.Repeat("─", 20)
	with := func(at int) Screen {
		lines := []string{"● answer", edge, "> text", "more", edge, "  footer"}
		lines[at] += " MARK"
		return Screen{Lines: lines}
	}
	for at, want := range map[int]string{0: inAbove, 2: inInput, 3: inInput, 5: inFooter} {
		if l := p.Look(with(at)); l.Rule != want {
			t.Errorf("line %d is in %q, want %q", at, l.Rule, want)
		}
	}
	for text, want := range map[string]string{"MARK\n" + edge + "\nno": "", edge + "\nMARK": inFrame, "MARK": ""} {
		if l := p.Look(Screen{Lines: strings.Split(text, "\n")}); l.Rule != want {
			t.Errorf("%q: rule %q, want %q", text, l.Rule, want)
		}
	}
}

func TestWrongStyles(t *testing.T) {
	t.Parallel()
	_, err := parse("x.toml", "x", `
[match]
programs = ["x"]
[input]
hint_style = ["dimm"]
[[rules]]
name = "a"
state = "idle"
in = "middle"
style = ["fg=pink", "", "!loud"]
all = ['x']
press = "Space"
[[rules]]
name = "b"
state = "blocked"
style = ["dim"]
submit_row = '^Submit$'
choice = '^(?P<label>.*)$'
`, nil)
	for _, want := range []string{
		"x.toml:5: input.hint_style: expected fg=COLOUR, bg=COLOUR or one of bold, dim,",
		"x.toml:9: rules[1].in: expected one of above, input, footer, frame, got \"middle\"",
		"x.toml:10: rules[1].style: expected colours such as fg=red|orange out of default, black, grey,",
		"rules[1].style: an empty style matches everything", "got \"loud\"",
		"x.toml:12: rules[1].press: it goes with a choice that has the group (?P<box>…)",
		"rules[2].style: it goes with all and any", "rules[2].submit_row: expected the group (?P<label>…)",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

// TestHintStyle: a proposal of the agent at its prompt does not count as a draft; a draft counts wherever
// the cursor is.
func TestHintStyle(t *testing.T) {
	t.Parallel()
	claude := profiles(t).Named("claude")
	edge := "\x1b[38;5;244m" + strings.Repeat("─", 40) + "\x1b[0m"
	for text, want := range map[string]string{
		"❯\u00a0\x1b[7mw\x1b[0;2mrite a test for main.go\x1b[0m": "",
		"❯\u00a0\x1b[2mwrite a test for main.go\x1b[0m":          "",
		"❯\u00a0\x1b[7md\x1b[0mo not delete":                     "do not delete",
		"❯\u00a0do not delete\x1b[7m \x1b[0m":                    "do not delete",
		"❯\u00a0\x1b[7mx\x1b[0m":                                 "x",
		"❯\u00a0\x1b[7m \x1b[0m":                                 "",
		"❯\u00a0do\x1b[2m complete this\x1b[0m":                  "do complete this",
	} {
		if l := claude.Look(styledScreen("● ok", "", edge, text, edge, "  ? for shortcuts")); l.State != Idle || l.Draft != want {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// TestPromptIsNoMenu: the row of the prompt does not count as a menu, whatever the line below it says.
func TestPromptIsNoMenu(t *testing.T) {
	t.Parallel()
	claude := profiles(t).Named("claude")
	edge := strings.Repeat("─", 60)
	for _, text := range []string{"1. Yes, delete it", "continue", "[ ] a box"} {
		l := claude.Look(Screen{Lines: []string{
			"❯ hit the limit", "  ⎿ \u00a0You've hit your limit · resets 2:28am (UTC)", "", edge, "❯\u00a0" + text, edge,
			"  ⚠ Usage limit reached · limit resets 2:28am", "    Continuing automatically at 2:28am · Esc to cancel",
		}})
		if l.State != Idle || l.Draft != text || l.Limit != "⎿  You've hit your limit · resets 2:28am (UTC)" {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// TestSurvey: a survey above the prompt says which key closes it.
func TestSurvey(t *testing.T) {
	t.Parallel()
	claude := profiles(t).Named("claude")
	if l := claude.Look(screenOf(t, "profiles/screens/claude/prompt-survey.txt")); l.State != Idle || l.Dismiss != "0" {
		t.Errorf("%+v", l)
	}
	if l := claude.Look(screenOf(t, "profiles/screens/claude/prompt-prose.txt")); l.Dismiss != "" {
		t.Errorf("without a survey: %+v", l)
	}
}

// TestBoxes: several choices of a dialog can be checked, and one sends them.
func TestBoxes(t *testing.T) {
	t.Parallel()
	look := func(name string) Look {
		t.Helper()
		return profiles(t).Named("claude").Look(screenOf(t, "profiles/screens/claude/"+name+".txt"))
	}
	want := []Choice{
		{Key: "1", Label: "Honey", Checked: no, Selected: true},
		{Key: "2", Label: "Jam", Checked: no},
		{Key: "3", Label: "Butter", Checked: no},
		{Key: "4", Label: "Type something", Kind: KindText, Checked: no},
		{Label: "Submit", Kind: KindSubmit},
		{Key: "5", Label: "Chat about this"},
	}
	boxes := look("blocked-boxes")
	if diff := cmp.Diff(want, boxes.Choices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checked := look("blocked-boxes-checked")
	want[0].Checked = yes
	if diff := cmp.Diff(want, checked.Choices); diff != "" {
		t.Errorf("checked (-want +got):\n%s", diff)
	}
	submit := look("blocked-boxes-submit")
	want[0].Selected, want[4].Selected = false, true
	if diff := cmp.Diff(want, submit.Choices); diff != "" {
		t.Errorf("at Submit (-want +got):\n%s", diff)
	}
	if boxes.Dialog.Digest != checked.Dialog.Digest || boxes.Dialog.Digest != submit.Dialog.Digest {
		t.Error("the digest depends on what is checked or selected")
	}
	servers := look("blocked-servers")
	want = []Choice{
		{Label: "pay", Checked: yes, Press: "Space", Selected: true},
		{Label: "other", Checked: yes, Press: "Space"},
		{Label: "third", Checked: yes, Press: "Space"},
		{Label: "Enable selected", Kind: KindSubmit},
	}
	if diff := cmp.Diff(want, servers.Choices); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if c, ok := Proposed(servers.Choices); ok {
		t.Errorf("a hint would name %+v, which switches a server off", c)
	}
	if again := look("blocked-servers-enable"); again.Dialog.Digest != servers.Dialog.Digest {
		t.Error("the digest of the servers depends on what is selected")
	}
}

// TestDescriptions: a description in the column of the labels does not count as a choice, neither by its
// style nor, without styles, if the screen has space for empty lines.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	qwen := profiles(t).Named("qwen")
	want := []Choice{{Label: "Alibaba ModelStudio", Selected: true}, {Label: "Third-party Providers"}, {Label: "Custom Provider"}}
	wide := screenOf(t, "profiles/screens/qwen/blocked-sign-in.txt")
	for name, s := range map[string]Screen{
		"wide": wide, "without styles": {Lines: wide.Lines}, "narrow": screenOf(t, "profiles/screens/qwen/blocked-sign-in-80x24.txt"),
	} {
		if diff := cmp.Diff(want, qwen.Look(s).Choices); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWholeQuestions: what a person approves is in the question.
func TestWholeQuestions(t *testing.T) {
	t.Parallel()
	s := profiles(t)
	for name, parts := range map[string][]string{
		"claude/blocked-dangerous":        {"Do you want to proceed?", "rm -rf build && git push --force"},
		"claude/blocked-critical":         {"Dangerous rm operation on critical path: /", "rm -rf / && git push --force"},
		"claude/blocked-tool":             {"pay — Transfer Tool: (MCP)", "amount: 1000000", "Mallory, 1 Long Street"},
		"claude/blocked-plan-80x24":       {"Would you like to proceed?", "1. Write a.go ⏎ 2. Run the tests"},
		"claude/blocked-plan":             {"Would you like to proceed?", "1. Write a.go ⏎ 2. Run the tests"},
		"claude/blocked-questions-review": {"Review your answers", "● Which spreads do you like? ⏎ → Honey ⏎ ● Which bread? ⏎ → Rye"},
		"codex/blocked-model":             {"Select Model and Effort"},
		"gemini/blocked-sign-in":          {"How would you like to authenticate for this project?"},
		"qwen/blocked-sign-in":            {"Connect a Provider"},
	} {
		l := s.Named(filepath.Dir(name)).Look(screenOf(t, "profiles/screens/"+name+".txt"))
		for _, part := range parts {
			if !strings.Contains(l.Question, part) {
				t.Errorf("%s: %q is not in the question %q", name, part, l.Question)
			}
		}
	}
}

// TestRecordedBytes: a recorded screen with styles has the blanks that Claude Code writes.
func TestRecordedBytes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("profiles/screens/claude/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	styled := 0
	for _, path := range files {
		s := screenOf(t, path)
		if s.Styled == nil {
			continue
		}
		styled++
		v := profiles(t).Named("claude").input.view(s)
		if v.prompt >= 0 && !strings.HasPrefix(s.Lines[v.prompt], "❯\u00a0") {
			t.Errorf("%s: the prompt is %q", path, s.Lines[v.prompt])
		}
		if strings.HasPrefix(filepath.Base(path), "limit-") && !slices.ContainsFunc(s.Lines, func(line string) bool { return strings.HasPrefix(line, "  ⎿ \u00a0You've hit") }) {
			t.Errorf("%s: the line of the limit is without its blank", path)
		}
		if slices.Equal(s.Lines, s.Text()) {
			t.Errorf("%s is without the blanks that the program wrote", path)
		}
	}
	if styled < 20 {
		t.Errorf("%d recorded screens have styles", styled)
	}
}

// TestProse: the answer of a model never counts as an error, a limit or work.
func TestProse(t *testing.T) {
	t.Parallel()
	s := profiles(t)
	edge := "\x1b[38;5;244m" + strings.Repeat("─", 60) + "\x1b[0m"
	for _, text := range []string{
		"● API Error: Please run /login", "  ⎿ \u00a0You've hit your limit · resets 2am", "● You've hit your weekly limit", "  ⎿ Invalid API key", "● Please run /login", "  esc to interrupt",
	} {
		l := s.Named("claude").Look(styledScreen("\x1b[48;5;237m❯ \x1b[38;5;231mwhat does it say\x1b[0m", "", text, "", edge, "❯\u00a0\x1b[7m \x1b[0m", edge, "  \x1b[38;5;246m? for shortcuts\x1b[0m"))
		if l.State != Idle || l.Trouble() != "" {
			t.Errorf("%q: %+v", text, l)
		}
	}
}
