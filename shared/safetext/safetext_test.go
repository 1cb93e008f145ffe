package safetext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/safetext"
)

// The names of the characters are spelled out, so that no editor shows this file
// differently from what it says.
const (
	osc      = "\x1b]52;c;ZXZpbA==\a"
	c1       = "\u009b31m"
	override = "\u202e"
	isolate  = "\u2067"
	zeroWide = "\u200b"
	joiner   = "\u200d"
	tag      = "\U000e0041"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain text, größer, 日本語, 😀, e\u0301", "plain text, größer, 日本語, 😀, e\u0301"},
		{`a \x1b that a user typed`, `a \x1b that a user typed`},
		{"two\nlines\tand\rmore\v\f", `two\nlines\tand\rmore\v\f`},
		{osc, `\x1b]52;c;ZXZpbA==\a`},
		{"\x00\x7f", `\x00\x7f`},
		{c1 + "\u0085", `\u009b31m\u0085`},
		{"a" + override + "b" + isolate, `a\u202eb\u2067`},
		{"\u061c\u200e\u200f", `\u061c\u200e\u200f`},
		{"a" + zeroWide + joiner + "\u200c\u2060\ufeff\u00ad", `a\u200b\u200d\u200c\u2060\ufeff\u00ad`},
		{tag, `\U000e0041`},
		{"\u2028\u2029", `\u2028\u2029`},
		{"\x9b31m\xff", `\x9b31m\xff`},
		{"\ufffd is a character too", "\ufffd is a character too"},
		{"\u0600 is seen", "\u0600 is seen"},
	} {
		if got := safetext.Line(tt.in); got != tt.want {
			t.Errorf("Line(%+q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	in := "one\n\ttwo\r\n" + override + "three" + osc + "\n"
	want := "one\n\ttwo\\r\n" + `\u202ethree\x1b]52;c;ZXZpbA==\a` + "\n"
	if got := safetext.Block(in); got != want {
		t.Errorf("Block(%+q) = %+q, want %+q", in, got, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	value := map[string]any{
		"key" + override: "\x7f" + c1 + zeroWide + tag + "\u2028\n\t\"\\",
		"list":           []any{"größer 😀", joiner, 1.5, nil, true},
	}
	in, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	kept := string(in)
	out := safetext.JSON(in)
	if string(in) != kept {
		t.Error("JSON changed its argument")
	}
	for _, r := range string(out) {
		if safetext.IsHidden(r) && r != '\n' && r != '\t' {
			t.Errorf("%U is in %+q", r, out)
		}
	}
	for _, want := range []string{`\u007f`, `\u009b`, `\u202e`, `\u200b`, `\u200d`, `\udb40\udc41`, "größer 😀"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in %+q", want, out)
		}
	}
	var back map[string]any
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, back); diff != "" {
		t.Errorf("another value is read back (-want +got):\n%s", diff)
	}
}

func TestJSONLeavesItAlone(t *testing.T) {
	t.Parallel()
	in := []byte("{\n\t\"a\": \"größer\"\n}\r\n")
	if out := safetext.JSON(in); string(out) != string(in) {
		t.Errorf("JSON(%+q) = %+q", in, out)
	}
	if out := safetext.JSON([]byte("\"\xff\"")); string(out) != `"\ufffd"` {
		t.Errorf("a byte that is not UTF-8 became %+q", out)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{"", "plain", osc, c1, override + tag, "\xff\xfe", "\u2028\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, out := range map[string]string{"Line": safetext.Line(s), "Block": safetext.Block(s)} {
			if !utf8.ValidString(out) {
				t.Errorf("%s(%+q) is not UTF-8: %+q", name, s, out)
			}
			for _, r := range out {
				if safetext.IsHidden(r) && (name == "Line" || r != '\n' && r != '\t') {
					t.Errorf("%s(%+q) holds %U", name, s, r)
				}
			}
			if again := safetext.Line(safetext.Line(s)); again != safetext.Line(s) {
				t.Errorf("Line(%+q) is not stable: %+q", s, again)
			}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safetext.JSON(text), &got); err != nil || got != want {
			t.Errorf("JSON(%s) reads as %+q, %v; want %+q", text, got, err, want)
		}
	})
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"é", 1, ""}, {"", 0, ""}, {"\x80\x80", 1, ""}} {
		if got := safetext.Cut(tt.s, tt.n); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "a", "aé": "aé", "a\xc3": "a", "\xf0\x9f\x98": "", "😀": "😀", "a\xff": "a\xff", "\x80\x80\x80\x80\x80": "\x80\x80\x80\x80\x80",
	} {
		if got := string(safetext.Whole([]byte(in))); got != want {
			t.Errorf("Whole(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\x1b[31mred\x1b[0m\tb":   "a\x1b[31mred\x1b[0m\tb",
		"\x1b[38:2::1:2:3mx\x1b[m": "\x1b[38:2::1:2:3mx\x1b[m",
		"\x1b[2J":                  `\x1b[2J`,
		"\x1b[31":                  `\x1b[31`,
		"\x1b[3\x1b[1m":            `\x1b[3` + "\x1b[1m",
		"\x1b]0;t\x07":             `\x1b]0;t\a`,
		"a\nb\u202e":               `a\nb\u202e`,
		"\xff\u009b1m":             `\xff\u009b1m`,
		"\x1b":                     `\x1b`,
	} {
		if got := safetext.Colours([]byte(in)); got != want {
			t.Errorf("Colours(%q) = %q, want %q", in, got, want)
		}
	}
}
