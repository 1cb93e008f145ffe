package screen

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// hungry are outputs that do as much as possible with few bytes.
var hungry = map[string]string{
	"alternate screens":      "\x1b[?1049h\x1b[300Hx\x1b[?1049l",
	"bare alternate screens": "\x1b[?47h\x1b[?47l",
	"far alternate screens":  "\x1b[?1049h\x1b[300;512Hx\x1b[?1049l\x1b[300;512Hx",
	"switches in one":        "\x1b[?1049;47h\x1b[99;99Hx\x1b[?47;1049l",
	"resets":                 "\x1b[300Hx\x1bc",
	"erased screens":         "\x1b[300Hx\x1b[2J",
	"to the end and back":    "\x1b[300H\x1b[1H",
	"inserted lines":         "\x1b[H\x1b[300L",
	"deleted lines":          "\x1b[300Hx\x1b[H\x1b[300M",
	"scrolled up":            "\x1b[300Hx\x1b[300S",
	"scrolled down":          "\x1b[300Hx\x1b[300T",
	"scroll regions":         "\x1b[1;300r\x1b[2;299r\x1b[299H\n",
	"reverse line feeds":     "\x1bM\x1bM\x1bM",
	"repeated letters":       "x\x1b[9999b\r",
	"repeated wide letters":  "世\x1b[9999b\r",
	"inserted cells":         "\x1b[512Gx\x1b[H\x1b[9999@",
	"removed cells":          "\x1b[512Gx\x1b[H\x1b[9999P",
	"erased cells":           "\x1b[9999X",
	"erased lines":           "\x1b[512Gx\x1b[1K\x1b[2K",
	"tab stops":              "\x1b[9999I\x1b[9999Z",
	"tabs":                   "\t\t\t\t\r",
	"far lines":              "\x1b[512Gx\n",
	"inserting":              "\x1b[4hx\r",
	"marks":                  "e" + strings.Repeat("\u0301", 30) + "\r\x1b[C",
	"joiners":                "👩" + strings.Repeat("\u200d👩", 20),
	"a title without an end": "\x1b]0;" + strings.Repeat("x", 99),
	"a picture":              "\x1bPq#0;2;0;0;0" + strings.Repeat("~-", 99),
	"saved and restored":     "\x1b[300;512H\x1b7\x1b[H\x1b8",
	"newlines":               "\n",
	"newlines with returns":  "\r\n",
	"letters":                "x",
}

// spend writes an output again and again, and returns how many bytes it reports.
func spend(t *testing.T, s *Screen, in string, size int, each func()) (lines, reported int) {
	t.Helper()
	s.Line = func(l Line) {
		lines++
		reported += len(l.Text)
		if l.Ends {
			reported++
		}
	}
	chunk := bytes.Repeat([]byte(in), 1+(4<<10)/len(in))
	written := 0
	most := int64(0)
	for ; written < size; written += len(chunk) {
		before := s.budget.worked
		s.Write(chunk, time.Time{})
		most = max(most, s.budget.worked-before)
		if each != nil {
			each()
		}
		for _, g := range []*grid{&s.main, &s.other} {
			if len(g.rows) > maxRows {
				t.Fatalf("%q: %d rows", in, len(g.rows))
			}
		}
	}
	// The last sequence before the budget is used up is done.
	if limit := int64(workFree + workPerByte*written + 16*maxRows*maxColumns); s.budget.worked > limit {
		t.Errorf("%q: %d steps for %d bytes", in, s.budget.worked, written)
	}
	s.Settle()
	if limit := textFree + textPerByte*written + maxRows*maxRaw; reported > limit {
		t.Errorf("%q: %d bytes of text for %d bytes", in, reported, written)
	}
	if limit := textFree/lineCost + written + written/4 + maxRows; lines > limit {
		t.Errorf("%q: %d lines for %d bytes", in, lines, written)
	}
	if got := s.size(); got > 4*maxRows*maxRaw {
		t.Errorf("%q: %d cells and bytes are kept", in, got)
	}
	return lines, reported
}

// TestBudget: whatever is written, the text, the lines and the steps that it leads to are
// bounded by how much it is.
func TestBudget(t *testing.T) {
	t.Parallel()
	for name, in := range hungry {
		for _, colours := range []bool{false, true} {
			began := time.Now()
			s := &Screen{Colours: colours}
			lines, reported := spend(t, s, in, 512<<10, nil)
			t.Logf("%s: %d lines, %d bytes, %d steps, %s", name, lines, reported, s.budget.worked, time.Since(began))
		}
	}
	// Omissions are reported.
	s := &Screen{}
	var last string
	missing := 0
	s.Line = func(l Line) {
		if last = string(l.Text); strings.Contains(last, "left out") {
			missing++
		}
	}
	for range 100_000 {
		s.Write([]byte("\x1b[?1049h\x1b[300Hx\x1b[?1049l"), time.Time{})
	}
	s.Close()
	if missing == 0 || !strings.HasPrefix(last, "[a part of the output is left out") {
		t.Errorf("%d lines say that something is left out, at last %q", missing, last)
	}
	s, missing = &Screen{Line: s.Line}, 0
	for range 300_000 {
		s.Write([]byte("\x1b[512Gx\n"), time.Time{})
	}
	s.Close()
	if missing < 1 || !strings.HasPrefix(last, "[") || !strings.Contains(last, " lines are left out") {
		t.Errorf("%d lines say that lines are left out, at last %q", missing, last)
	}
	// An honest output loses nothing, however long it is.
	for in, want := range map[string]string{
		"a line of text\n":                           "a line of text",
		"\x1b[32mok\x1b[0m\x1b[60G[done]\r\n":        "ok" + strings.Repeat(" ", 57) + "[done]",
		"\rwork 1%\rwork 50%\rwork 100%\x1b[K\r\n":   "work 100%",
		"\x1b[1A\x1b[2Kfirst\r\nsecond\x1b[K\x1b[1G": "first",
		"\n": "",
	} {
		s, n := &Screen{}, 0
		s.Line = func(l Line) {
			if l.Ends && string(l.Text) == want {
				n++
			}
			if strings.Contains(string(l.Text), "left out") {
				t.Fatalf("%q: %s", in, l.Text)
			}
		}
		for range 50_000 {
			s.Write([]byte(in), time.Time{})
		}
		s.Close()
		if s.budget.missing > 0 || n == 0 {
			t.Errorf("%q: %d lines", in, n)
		}
	}
}

// FuzzBudget: no output makes a screen report or keep more, or take more steps, than it is
// worth, whatever sizes the terminal gets in between.
func FuzzBudget(f *testing.F) {
	n := uint16(0)
	for _, in := range hungry {
		f.Add(in, n, 97*n, false)
		f.Add(in, n, n, true)
		n++
	}
	f.Fuzz(func(t *testing.T, in string, columns, rows uint16, live bool) {
		if in == "" || len(in) > 1<<10 {
			return
		}
		s := &Screen{Live: live}
		if columns > 0 {
			s.Resize(int(columns), int(rows))
		}
		step := 0
		spend(t, s, in, 64<<10, func() {
			if step++; step%5 == 0 && columns > 0 {
				s.Resize(1+step*int(columns)%maxColumns, 1+step*int(rows)%maxRows)
			}
		})
	})
}
