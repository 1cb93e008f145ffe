package screen

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

var sgrSequence = regexp.MustCompile(`\x1b\[[0-9:;]*m`)

// size returns how many cells and bytes a screen holds.
func (s *Screen) size() int {
	n := len(s.half) + cap(s.buf)
	for _, g := range []*grid{&s.main, &s.other} {
		for _, r := range g.rows {
			n += len(r.text) + len(r.spans) + len(r.cells) + len(r.styles)
			for _, c := range r.clusters {
				n += len(c)
			}
		}
	}
	return n
}

func FuzzScreen(f *testing.F) {
	for in := range cases {
		f.Add(in, uint16(len(in)/2), uint8(0), uint8(0), true)
		f.Add(in, uint16(len(in)/3), uint8(9), uint8(3), false)
	}
	f.Fuzz(func(t *testing.T, in string, cut uint16, columns, rows uint8, live bool) {
		start := func() *recorder {
			r := read()
			r.Live = live
			r.Resize(int(columns), int(rows))
			return r
		}
		whole := start().write(in).end()
		at := min(int(cut), len(in))
		r := start().write(in[:at])
		// To look at a screen changes nothing.
		r.Shown()
		r.Open()
		r.write(in[at:])
		if got := r.end(); got != whole {
			t.Fatalf("%q reads %q, cut at %d %q", in, whole, at, got)
		}
		if strings.ContainsAny(whole, "\x1b\r\x07\x08\x00\x7f") {
			t.Errorf("%q reads %q", in, whole)
		}
		// Colours are all that Colours adds.
		r = start()
		r.Colours = true
		r.write(in)
		if with := sgrSequence.ReplaceAllLiteralString(r.end(), ""); with != whole {
			t.Errorf("%q reads %q, with colours %q", in, whole, with)
		}
		// However often it is repeated, what is kept is bounded.
		r = start()
		r.Line = nil
		for range 20 {
			r.write(in)
		}
		if got := r.size(); got > 4*maxRows*maxRaw {
			t.Errorf("%q again and again keeps %d cells", in, got)
		}
		// A reader in between misses nothing: the last picture is the same.
		r.Settle()
		r.Write([]byte("x"), time.Time{})
	})
}

// The output of programs that try to use up memory.
func TestKeepsLittle(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"one line":          "x",
		"colours":           "\x1b[38;2;1;2;3mx\x1b[0my",
		"no sequence's end": "\x1b]0;x",
		"marks":             "e" + strings.Repeat("\u0301", 100) + "\r",
		"other marks":       "\x1b[1;1He\u0301\x1b[1;1Ho\u0302",
		"cells":             "\x1b[300;1H" + strings.Repeat("x", 500) + "\x1b[1;1H\x1b[300L",
		"alternate":         "\x1b[?1049h\x1b[300;512Hx\x1b[?1049l\x1b[300;512Hx",
		"parameters":        "\x1b[99999999999999999999;" + strings.Repeat("9;", 100) + "Hx\x1b[99999999999999999999@\x1b[99999999999999999999bx",
		"tabs":              "\t\r\x1b[C",
	} {
		s := Screen{Colours: true}
		for range 2_000 {
			s.Write([]byte(in), time.Time{})
		}
		if got := s.size(); got > 3*maxRows*maxRaw {
			t.Errorf("%s: %d cells and bytes are kept", name, got)
		}
	}
}
