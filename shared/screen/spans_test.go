package screen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStyled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text          string
		styled, plain []string
	}{
		"a style that continues": {"a\x1b[31mb\nc\x1b[0md\n", []string{"a\x1b[31mb\x1b[0m", "\x1b[31mc\x1b[0md", ""}, []string{"ab", "cd", ""}},
		"blanks at the end":      {"\x1b[44ma  \x1b[0m \n  \n", []string{"\x1b[44ma\x1b[0m", "", ""}, []string{"a", "", ""}},
		"other sequences":        {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b[?25lon\x1b(B\x1b[K", []string{"link on"}, []string{"link on"}},
		"control characters":     {"a\x0eq\x0fb\tc\r\x7f", []string{"aqb\tc"}, []string{"aqb\tc"}},
		"an unfinished one":      {"a\x1b[3", []string{"a"}, []string{"a"}},
		"one that a line ends":   {"a\x1b]8;;x\nb\x1b\nc", []string{"a", "b", "c"}, []string{"a", "b", "c"}},
		"colons":                 {"\x1b[38:2::255:0:0ma", []string{"\x1b[38;2;255;0;0ma\x1b[0m"}, []string{"a"}},
		"a blank of other kind":  {"\u00a0⎿\u00a0", []string{"\u00a0⎿\u00a0"}, []string{"\u00a0⎿\u00a0"}},
	} {
		got := Styled(c.text)
		if diff := cmp.Diff(c.styled, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		var plain []string
		for _, line := range got {
			plain = append(plain, Plain(line))
		}
		if diff := cmp.Diff(c.plain, plain); diff != "" {
			t.Errorf("%s, plain (-want +got):\n%s", name, diff)
		}
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range Spans("a \x1b[1;31mred\x1b[22;39m \x1b[2;38;2;153;153;153mdim\x1b[0m\x1b[38;5;174mclaude\x1b[7;48;5;22mx\x1b[0m \x1b[4:3mu") {
		got = append(got, s.Text+"|"+s.Style.String())
	}
	want := []string{"a |", "red|bold fg=red", " |", "dim|dim fg=grey", "claude|fg=red", "x|reverse fg=red bg=green", " |", "u|underline"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestShownStyled: a screen that keeps styles reports plain text, and shows both forms.
func TestShownStyled(t *testing.T) {
	t.Parallel()
	var reported []string
	s := Screen{Styles: true, Line: func(l Line) { reported = append(reported, string(l.Text)) }}
	s.Resize(20, 2)
	s.Write([]byte("\x1b[31mone\x1b[0m\r\n\x1b[2mtwo\x1b[1G\x1b[0mT\r\n\x1b[1mthree"), time.Time{})
	if diff := cmp.Diff([]string{"one"}, reported); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Two", "three"}, s.Shown()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"T\x1b[2mwo\x1b[0m", "\x1b[1mthree\x1b[0m"}, s.ShownStyled()); diff != "" {
		t.Errorf("styled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Two", "three"}, s.Open()); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
}

func FuzzStyled(f *testing.F) {
	f.Add("a\x1b[31mb\nc\x1b]8;;x\x1b\\d\x1b[38:5:1m")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range Styled(text) {
			plain := Plain(line)
			if strings.ContainsFunc(plain, func(c rune) bool { return isControl(c) || c == '\n' }) || strings.HasSuffix(plain, " ") {
				t.Errorf("%q: a line is %q", text, plain)
			}
			if again := Styled(line); !slices.Equal(again, []string{line}) {
				t.Errorf("%q: a line is %q, and again %q", text, line, again)
			}
		}
	})
}
