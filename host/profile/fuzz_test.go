package profile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/screen"
)

// FuzzStyledScreen: no screen with styles makes a look fail, whatever its two forms say.
func FuzzStyledScreen(f *testing.F) {
	s, err := Load("")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("\x1b[31m● API Error\x1b[0m\n❯\u00a0\x1b[2mhint", "● API Error\n❯ hint")
	f.Add("a\u200bb\x1b[7m \x1b[0m", "ab")
	f.Fuzz(func(t *testing.T, styled, plain string) {
		own := Screen{Styled: screen.Styled(styled)}
		for _, line := range own.Styled {
			own.Lines = append(own.Lines, screen.Plain(line))
		}
		other := Screen{Styled: own.Styled, Lines: strings.Split(plain, "\n")}
		edge := strings.Repeat("─", 20)
		framed := Screen{
			Styled: slices.Concat([]string{edge}, own.Styled, []string{edge}),
			Lines:  slices.Concat([]string{edge}, own.Lines, []string{edge}),
		}
		for _, p := range s.All() {
			for _, shown := range []Screen{own, other, framed} {
				if a, b := p.Look(shown), p.Look(shown); a.State != b.State || a.Draft != b.Draft || a.Trouble() != b.Trouble() {
					t.Errorf("%q: two looks differ: %+v and %+v", shown.Styled, a, b)
				}
			}
		}
	})
}

// FuzzDialog: whatever a screen shows, what is read of a dialog is on it, of a bounded length,
// and the same at the next look; a command in a real dialog is shown whole.
func FuzzDialog(f *testing.F) {
	s, err := Load("")
	if err != nil {
		f.Fatal(err)
	}
	for _, in := range append(lookAlikes, "", "a\nb", "\x1b[2J\r", "1. Yes\n2. No", strings.Repeat("x\n", 60)) {
		f.Add(in, uint8(len(in)), uint8(len(in)/3))
	}
	screens := map[string][]string{}
	for _, c := range commandScreens {
		screens[c.name] = trimmed(readScreen(f, filepath.Join("profiles/screens", c.name+".txt")).Lines)
	}
	f.Fuzz(func(t *testing.T, in string, which, at uint8) {
		lines := strings.Split(in, "\n")
		for _, p := range s.All() {
			check(t, p, lines)
		}
		c := commandScreens[int(which)%len(commandScreens)]
		p, screen := s.Named(filepath.Dir(c.name)), screens[c.name]
		// Anything anywhere on a real screen.
		pos := int(at) % (len(screen) + 1)
		check(t, p, slices.Insert(slices.Clone(screen), pos, lines...))
		// The same as lines of the command.
		row := 0
		for i, line := range screen {
			if strings.HasPrefix(line, c.row) {
				row = i
			}
		}
		var command []string
		for _, line := range lines {
			line = strings.Map(func(r rune) rune {
				if r < ' ' || r == utf8.RuneError {
					return '.'
				}
				return r
			}, line)
			command = append(command, strings.ReplaceAll(c.form, "@", line))
		}
		l := check(t, p, slices.Insert(slices.Clone(screen), row+1, command...))
		if text := strings.Join(l.Dialog.Lines, "\n"); l.State == Blocked && !l.Dialog.Cut && !strings.Contains(text, strings.TrimLeft(c.row, " │┃")) {
			t.Errorf("with %q in the command its first line is missing:\n%s", in, text)
		}
	})
}

func check(t *testing.T, p *Profile, lines []string) Look {
	t.Helper()
	l, _ := p.Explain(Screen{Lines: lines})
	again := p.Look(Screen{Lines: slices.Clone(lines)})
	if (l.State == Blocked) != (l.Dialog.Digest != "") || l.Dialog.Digest != again.Dialog.Digest {
		t.Errorf("%s reads %+v, and then %+v", p.Name(), l, again)
	}
	if utf8.RuneCountInString(l.Question) > maxQuestion+100 || strings.Contains(l.Question, "\n") {
		t.Errorf("%s: a question of %d bytes", p.Name(), len(l.Question))
	}
	if len(l.Dialog.Lines) > len(lines) || len(l.Dialog.Text) > len(l.Dialog.Lines) {
		t.Errorf("%s: a dialog of %d lines on a screen of %d", p.Name(), len(l.Dialog.Lines), len(lines))
	}
	return l
}
