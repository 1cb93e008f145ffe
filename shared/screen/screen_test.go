package screen

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// recorder is a screen that collects its lines.
type recorder struct {
	Screen
	out  strings.Builder
	open bool
}

func read() *recorder {
	r := &recorder{}
	r.Line = func(l Line) {
		if l.Begins && r.open {
			r.out.WriteString("⏎\n")
		}
		r.out.Write(l.Text)
		r.open = !l.Ends
		if l.Ends {
			r.out.WriteByte('\n')
		}
	}
	return r
}

func (r *recorder) write(pieces ...string) *recorder {
	for _, p := range pieces {
		r.Write([]byte(p), time.Time{})
	}
	return r
}

func (r *recorder) end() string {
	r.Close()
	return r.out.String()
}

// cases are what programs write, and what it reads.
var cases = map[string]string{
	// Not on a terminal: byte for byte, but for control sequences.
	"plain ümläut\ttab  \n\n x\n\n":                             "plain ümläut\ttab  \n\n x\n\n",
	"\x1b[31mred\x1b[0m \x1b[1;38;5;9mx\x1b[m":                  "red x",
	"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b":                  "ab",
	"\x1bP1$r0m\x1b\\a\x1b_G1\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d": "abcd",
	"\x1b(B\x1b)0a\x1b=\x1b>b":                                  "ab",
	"a\x00\x07\x0e\x0f\x7fb":                                    "ab",
	"\u009b31mred\u009d0;t\u009c no\u00a0break":                 "red no\u00a0break",
	"\x1b]0;“quotes” ✜\x07a":                                    "a",
	"\x1b[31\x1b[32mgreen":                                      "green",
	"cut \x1b[31\x18off":                                        "cut off",
	"\x1b]0;new\x1b[1mbold":                                     "bold",
	"\x1b]0;never ended\nnext":                                  "\nnext",
	"\x1b[31\nfoo":                                              "\nfoo",
	"end in the middle \x1b[3":                                  "end in the middle ",
	"half a letter \xc2":                                        "half a letter \xc2",
	"joined \xc2\u0096\u0096\x9b2J":                             "joined \xc22J",
	"not utf-8 \xff\xfe \xc3x \x9b2J":                           "not utf-8 \xff\xfe \xc3x \x9b2J",
	"\x1b\x1b[0mdouble":                                         "double",
	"\x1b[éx":                                                   "",
	"\x1bé":                                                     "é",
	"form\ffeed":                                                "form\nfeed",

	// Lines that are written over.
	"dos\r\nline\r\n":             "dos\nline\n",
	"dos\r":                       "dos",
	"10%\r20%\r\r100%\n":          "100%\n",
	"100%\r20%\n":                 "20%%\n",
	"Loading...\r\x1b[KDone\r\n":  "Done\n",
	"Loading...\x1b[2K\rDone\r\n": "Done\n",
	"|\b/\b-\b\\\b \bok":          "ok",
	"N\bNA\bAME":                  "NAME",
	"$ lx\b\x1b[Ks\r\n":           "$ ls\n",
	"a\xff\xc3\rb\n":              "b\xff\xc3\n",
	"abc\x1b[2Dx\n":               "axc\n",
	"abcdef\r\x1b[3P!\n":          "!ef\n",
	"abc\r\x1b[2@x\n":             "x abc\n",
	"abcdef\r\x1b[3X\x1b[6Gx\n":   "   dex\n",
	"abc\r\x1b[4hx\x1b[4ly\n":     "xybc\n",
	"a\tb\rx\n":                   "x\tb\n",
	"a\tb\r\tc\n":                 "a\tc\n",
	"a\tb\r\x1b[4Cc\n":            "a   c   b\n",
	"ab\x1b[3bc":                  "abbbbc",

	// Blanks that are moved over.
	"finished\x1b[26Gnow.\x1b[31GALL\x1b[35GDONE": "finished                 now. ALL DONE",
	"FINISHED\x1b[13;12HALL":                      "FINISHED" + strings.Repeat("\n", 12) + "           ALL",
	"\x1b[4;1HALL\x1b[1CDONE\x1b[5;1H>":           "ALL DONE\n>",
	"two\x1b[1Cwords\x1b[3C!":                     "two words   !",
	"far\x1b[99999999Caway":                       "far" + strings.Repeat(" ", farthest-4) + "away",
	"one\x1b[3;1Htwo\x1b[1Bx":                     "one\n\ntwo\n   x",
	"\x1b[2;3Hb\x1b[1;1Ha\x1b[3;1Hc":              "a\n  b\nc",
	"a\x1b7\x1b[5;5Hb\x1b8c":                      "ac\n\n\n\n    b\n",

	// Lines that are gone back to.
	"one: 0%\r\ntwo: 0%\r\n\x1b[2A\x1b[2Kone: 100%\r\n\x1b[2Ktwo: 100%\r\n": "one: 100%\ntwo: 100%\n",
	"a\r\nb\r\nc\x1b[2A\rx":                         "x\nb\nc",
	"a\r\nb\r\nc\x1b[1A\x1b[Md":                     "a\ncd",
	"a\r\nb\r\nc\x1b[1A\r\x1b[Ld":                   "a\nd\nb\nc",
	"a\r\nb\r\nc\x1b[1A\r\x1b[J":                    "a\n",
	"a\r\nb\x1b[1J\x1b[2;1Hc":                       "c",
	"top\r\nx\x1bMy\r\n":                            "typ\nx\n",
	"\x1bMfirst\r\n":                                "first\n",
	"a\x1bDb\x1bEc":                                 "a\n b\nc",
	"\x1b[1;3r1\r\n2\r\n3\r\n4\x1b[r":               "1\n2\n3\n4\n",
	"\x1b[5;1Hx\x1b[2;3r\x1b[2;1Ha\r\nb\r\nc\x1b[r": "a\n\nb\nc\n\nx",
	"1\r\n2\r\n3\x1b[1;1H\x1b[1S\x1b[1Ta":           "1\na\n2\n3\n",
	"\x1b[H\x1b[2Jfirst\x1b[H":                      "first",
	"before\r\n\x1b[H\x1b[2Jafter\r\n":              "before\nafter\n",
	"before\r\n\x1b[H\x1b[Jafter\r\n":               "before\nafter\n",
	"before\r\n\x1bcafter\r\n":                      "before\nafter\n",
	"$ vi\r\n\x1b[?1049h\x1b[2J\x1b[1;1Hfile\x1b[2J\x1b[2;1Hb\x1b[1;1Ha":  "$ vi\na\nb\n",
	"$ vi\r\n\x1b[?1049h\x1b[Hfile\x1b[5;1H~\x1b[?1049l$ exit":            "$ vi\nfile\n\n\n\n~\n$ exit",
	"\x1b[?1049h\x1b[5;1Hx\x1b[?1049l":                                    "x\n",
	"\x1b[?1049h\x1b[2;1Hraw\nstraight down":                              "raw\nstraight down",
	"\r\n\x1b[?1049h\x1b[2;1Hraw\nstraight down":                          "\nraw\n   straight down",
	"\x1b[2;1H\x1b(0lqqk\x1b(B ok \x0e\x1b)0x\x0f":                        "┌──┐ ok │",
	"wide 漢字\x1b[6Gx":                                                     "wide x 字",
	"e\u0301\u0301 n\u0303\rx":                                            "x n\u0303",
	"\U0001f468\u200d\U0001f469\u200d\U0001f467 family\x1b[3Gx\x1b[1Gman": "manfamily",
}

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range cases {
		got := read().write(in).end()
		// The last line has its end only if it was written.
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%q\nreads %q\nwant  %q", in, got, want)
		}
		for cut := range len(in) {
			if pieces := read().write(in[:cut], in[cut:]).end(); pieces != got {
				t.Errorf("%q + %q reads %q, want %q", in[:cut], in[cut:], pieces, got)
			}
		}
	}
}

// No line is finished too early, and none is kept back from a reader that follows.
func TestFinished(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		live    bool
		in      string
		want    string
		settled string
	}{
		"line after line":          {true, "one\r\ntwo\r\nthr", "one\ntwo\n", "one\ntwo\nthr"},
		"not on a terminal":        {false, "one\ntwo\nthr", "one\ntwo\n", "one\ntwo\nthr"},
		"on a terminal, not live":  {false, "one\r\ntwo\r\nthr", "", "one\ntwo\nthr"},
		"scrolled off":             {false, strings.Repeat("x\r\n", DefaultRows+1), "x\nx\n", strings.Repeat("x\n", DefaultRows+1)},
		"gone back to, live":       {true, "a\r\nb\r\n\x1b[2Ac\r\n\x1b[1Bd\r\ne\r\n", "a\nb\nc\n", "a\nb\nc\nd\ne\n"},
		"alternate screen":         {true, "a\r\n\x1b[?1049hb\r\nc\r\n", "a\n", "a\nb\nc\n"},
		"cleared":                  {true, "a\r\nb\x1b[H\x1b[2Jc\r\nd", "a\nb\nc\n", "a\nb\nc\nd"},
		"a whole screen without":   {true, "a\x1b[1;5Hb\x1b[5;1Hc\x1b[1;1H\x1b[5;1H" + strings.Repeat("x\r\n", 2*DefaultRows), "a   b\n\n\n\n" + strings.Repeat("x\n", 2*DefaultRows), "a   b\n\n\n\n" + strings.Repeat("x\n", 2*DefaultRows)},
		"longer than a row may be": {false, strings.Repeat("x", maxRaw) + "yz", strings.Repeat("x", maxRaw), strings.Repeat("x", maxRaw) + "yz"},
	} {
		r := read()
		r.Live = c.live
		r.write(c.in)
		if got := r.out.String(); got != c.want {
			t.Errorf("%s: finished is %q, want %q", name, got, c.want)
		}
		r.Settle()
		if got := r.out.String(); got != c.settled {
			t.Errorf("%s: settled it is %q, want %q", name, got, c.settled)
		}
		r.Settle()
		if got := r.end(); got != c.settled {
			t.Errorf("%s: in the end it is %q, want %q", name, got, c.settled)
		}
	}
}

// A line that was shown continues in its place, and is shown again if it has changed.
func TestSettledLineContinues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after, want string
	}{
		"typed behind":         {"$ ", "ls\r\nfile\r\n", "$ ls\nfile\n"},
		"nothing":              {"$ ", "\r\n", "$ \n"},
		"written over":         {"10%", "\r20%\r\n", "10%⏎\n20%\n"},
		"written over already": {"10%\r20%", "\r\n", "20%\n"},
		"erased":               {"wait", "\r\x1b[Kdone\r\n", "wait⏎\ndone\n"},
		"erased for good":      {"wait", "\r\x1b[K", "wait"},
		"the screen of before": {"a\r\nb\r\nc", "\x1b[2Ax\x1b[2B", "a\nb\nc⏎\nax\n"},
	} {
		r := read()
		r.Live = true
		r.write(c.before).Settle()
		if got := r.write(c.after).end(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1234567890abc\r\n":                  "1234567890abc\n",
		"1234567890\r\nabc":                  "1234567890\nabc",
		"1234567890abc\rx":                   "1234567890xbc",
		"1234567890abc\x1b[1Ax":              "123x567890abc\n",
		"1234567890abc\x1b[1A\rx":            "x234567890abc\n",
		"12345678901234567890abc\x1b[2A!\n":  "123!5678901234567890abc\n",
		"123456789漢字\r\x1b[Kx":               "123456789x",
		"1\t2\t3\x1b[1;1Hx":                  "x\t2\t3",
		"\x1b[?7l1234567890abc":              "123456789c",
		"123456789012\x1b[K\x1b[1;10H\x1b[K": "123456789\n12\n",
		"1\r\n2\r\n3\r\n4\r\n5\x1b[1;1Hx":    "1\nx\n3\n4\n5\n",
		"\x1b[99;99Hx\x1b[1;1Hy":             "y\n\n\n         x",
		"raw\nstraight":                      "raw\n   straight",
	} {
		r := read()
		r.Resize(10, 4)
		if got := r.write(in).end(); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Errorf("%q\nreads %q\nwant  %q", in, got, want)
		}
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	r := read()
	r.Resize(10, 4)
	r.write("1\r\n2\r\n3\r\n4").Resize(20, 2)
	if got := r.out.String(); got != "1\n2\n" {
		t.Errorf("a lower screen leaves %q", got)
	}
	r.write("\x1b[1;1Hx")
	r.Resize(20, 5)
	r.write("\x1b[5;1Hlast")
	if got := r.Shown(); !slices.Equal(got, []string{"x", "4", "", "", "last"}) {
		t.Errorf("a higher screen shows %q", got)
	}
}

func TestShownAndOpen(t *testing.T) {
	t.Parallel()
	r := read()
	r.Live = true
	r.write("one\r\ntwo\r\n\r\n> ")
	if got := r.Shown(); !slices.Equal(got, []string{"one", "two", "", "> "}) {
		t.Errorf("shown are %q", got)
	}
	if got := r.Open(); !slices.Equal(got, []string{"> "}) {
		t.Errorf("open are %q", got)
	}
	r.write("\x1b[1;1HONE")
	if got := r.Open(); !slices.Equal(got, []string{"ONE", "> "}) {
		t.Errorf("open are %q", got)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	var got []int
	s := Screen{Mode: func(mode int, on bool) {
		if !on {
			mode = -mode
		}
		got = append(got, mode)
	}}
	for _, piece := range []string{"\x1b[?1049h\x1b[?25;20", "04l\x1b[4h\x1b[?h", "\x1b[?7h"} {
		s.Write([]byte(piece), time.Time{})
	}
	if want := []int{1049, -25, -2004, 7}; !slices.Equal(got, want) {
		t.Errorf("modes %v, want %v", got, want)
	}
}

func TestLineHasTheTimeOfItsBeginning(t *testing.T) {
	t.Parallel()
	var got []int64
	s := Screen{Live: true, Line: func(l Line) { got = append(got, l.Time.Unix()) }}
	for i, piece := range []string{"a", "b\r\n", "c\r\nd", "\r\n", "\x1b[3A", "x\r\n", "\x1b[2B"} {
		s.Write([]byte(piece), time.Unix(int64(i), 0))
	}
	s.Close()
	if want := []int64{0, 2, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("the lines are of %v, want %v", got, want)
	}
}
