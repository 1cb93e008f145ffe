package plain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var cases = map[string]string{
	"plain ümläut\ttab":                                         "plain ümläut\ttab",
	"\x1b[31mred\x1b[0m \x1b[1;38;5;9mx\x1b[m":                  "red x",
	"\x1b[?2004h\x1b[K$ \x1b[6n":                                "$ ",
	"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b":                  "ab",
	"\x1bP1$r0m\x1b\\a\x1b_G1\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d": "abcd",
	"\x1b(B\x1b)0a\x1b7\x1b8\x1b=\x1b>\x1bMb":                   "ab",
	"a\x00\x07\x08\x0b\x0c\x0e\x7fb":                            "ab",
	"\u009b31mred\u009d0;t\u009c no\u00a0break":                 "red no\u00a0break",
	"dos\r":                         "dos",
	"\r10%\r20%\r\r100%\r":          "10%\n20%\n100%",
	"\x1b[31\x1b[32mgreen":          "green",
	"cut \x1b[31\x18off":            "cut off",
	"\x1b]0;new\x1b[1mbold":         "bold",
	"end in the middle \x1b[3":      "end in the middle ",
	"half a letter \xc2":            "half a letter \xc2",
	"joined \xc2\u0096\u0096\x9b2J": "joined \xc22J",
	"not utf-8 \xff\xfe \xc3x":      "not utf-8 \xff\xfe \xc3x",
	"\x1b\x1b[0mdouble":             "double",
	"two\x1b[1Cwords\x1b[3C!":       "two words   !",
	"one\x1b[5;1Htwo\x1b[1Bx":       "one\ntwo\nx",
	"\x1b[H\x1b[2Jfirst\x1b[H":      "first",
	"far\x1b[99999999Caway":         "far" + strings.Repeat(" ", maxBlanks) + "away",
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range cases {
		var whole Text
		if got := string(whole.Strip([]byte(in), true)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
		// However it is cut into pieces.
		for cut := range len(in) {
			var p Text
			got := string(p.Strip([]byte(in[:cut]), false)) + string(p.Strip([]byte(in[cut:]), true))
			if got != want {
				t.Errorf("%q + %q is %q, want %q", in[:cut], in[cut:], got, want)
			}
		}
	}
}

// A sequence that never ends hides nothing beyond its line.
func TestPlainSequenceEndsWithTheLine(t *testing.T) {
	t.Parallel()
	var p Text
	p.Strip([]byte("\x1b]0;never ended"), true)
	if got := string(p.Strip([]byte("next line"), true)); got != "next line" {
		t.Errorf("the next line is %q", got)
	}
}

var sgrSequence = regexp.MustCompile(`\x1b\[[0-9:;]*m`)

func FuzzPlain(f *testing.F) {
	for in := range cases {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var p Text
		out := string(p.Strip([]byte(in), true))
		if strings.ContainsAny(out, "\x1b\r\x07\x08") {
			t.Errorf("%q became %q", in, out)
		}
		var again Text
		if twice := string(again.Strip([]byte(out), true)); twice != out {
			t.Errorf("%q became %q, then %q", in, out, twice)
		}
		// Colours are all that Colours adds.
		coloured := Text{Colours: true}
		with := string(coloured.Strip([]byte(in), true))
		if without := sgrSequence.ReplaceAllLiteralString(with, ""); without != out {
			t.Errorf("%q became %q, with colours %q", in, out, with)
		}
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	var got []int
	p := Text{Mode: func(mode int, on bool) {
		if !on {
			mode = -mode
		}
		got = append(got, mode)
	}}
	p.Strip([]byte("\x1b[?1049h\x1b[?25;20"), false)
	p.Strip([]byte("04l\x1b[4h\x1b[?h"), true)
	p.Strip([]byte("\x1b[?7h"), true)
	if want := []int{1049, -25, -2004, 7}; !slices.Equal(got, want) {
		t.Errorf("modes %v, want %v", got, want)
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 2 * maxColours {
		many += "\x1b[38;5;" + strconv.Itoa(i) + "m"
	}
	for _, c := range []struct{ in, want string }{
		{"\x1b[31mred\x1b[0m plain", "\x1b[31mred\x1b[0m plain"},
		{"\x1b[31mleft on", "\x1b[31mleft on\x1b[0m"},
		{"\x1b[31m\x1b[0m\x1b[mnone", "none"},
		{"\x1b[1m\x1b[31m\x1b[1mtwice", "\x1b[31m\x1b[1mtwice\x1b[0m"},
		{"\x1b[44mtwo\x1b[2Cwords", "\x1b[44mtwo\x1b[0m  \x1b[44mwords\x1b[0m"},
		{"\x1b[44ma\nb", "\x1b[44ma\x1b[0m\n\x1b[44mb\x1b[0m"},
		{"\x1b[10;11mfonts\x1b[38;5;11;12mx", "fonts\x1b[38;5;11mx\x1b[0m"},
		{"\x1b[38;2;10;11mcut short", "\x1b[38;2;10;11mcut short\x1b[0m"},
		{"\x1b[>4;1m\x1b[?4m\x1b[1 mnot SGR", "not SGR"},
		{"\x1b[?1049h\x1b[2J\x1b]0;t\x07text", "text"},
		{many + "many", many[strings.Index(many, "\x1b[38;5;"+strconv.Itoa(maxColours)+"m"):] + "many\x1b[0m"},
	} {
		p := Text{Colours: true}
		if got := string(p.Strip([]byte(c.in), true)); got != c.want {
			t.Errorf("%q is %q, want %q", c.in, got, c.want)
		}
		if got := string(p.Strip([]byte("next"), true)); got != "next" {
			t.Errorf("after %q the next line is %q", c.in, got)
		}
	}
}

// Each piece leaves a terminal without colours, and the next goes on with them.
func TestColoursInPieces(t *testing.T) {
	t.Parallel()
	p := Text{Colours: true}
	var got []string
	for _, piece := range []string{"\x1b[1mbold\x1b[3", "1m", "red", "", "\x1b[0moff", "on\x1b[7m"} {
		got = append(got, string(p.Strip([]byte(piece), false)))
	}
	got = append(got, string(p.Strip(nil, true)))
	if want := []string{"\x1b[1mbold\x1b[0m", "", "\x1b[1m\x1b[31mred\x1b[0m", "", "off", "on", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
