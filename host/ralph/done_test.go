package ralph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/screen"
)

func TestDone(t *testing.T) {
	t.Parallel()
	const prompt = "Work on the next task of TODO.md.\nWhen there is none left, print ALL DONE on a line by itself.\nThen exit."
	for name, c := range map[string]struct {
		pattern, prompt, output string
		// want is what complete lines say, rest what all of it says.
		want, rest bool
	}{
		"nothing":            {"ALL DONE", prompt, "working\r\n", false, false},
		"printed":            {"ALL DONE", prompt, "working\r\nALL DONE\r\n", true, true},
		"not complete":       {"ALL DONE", prompt, "working\r\nALL DONE", false, true},
		"continues":          {"^ALL DONE$", prompt, "ALL DONE but one\r\n", false, false},
		"echo":               {"ALL DONE", prompt, strings.ReplaceAll(prompt, "\n", "\r\n") + "\r\n", false, false},
		"echo and printed":   {"ALL DONE", prompt, prompt + "\r\nALL DONE\r\n", true, true},
		"echo twice":         {"ALL DONE", prompt, prompt + "\r\n" + prompt + "\r\n", false, false},
		"wrapped and framed": {"ALL DONE", prompt, "│ When there is none    │\r\n│ left, print           │\r\n│ ALL DONE              │\r\n│ on a line by itself.  │\r\n", false, false},
		"coloured":           {"ALL DONE", prompt, "\x1b[1mALL\x1b[0m \x1b[32mDONE\x1b[0m\r\n", true, true},
		// A program that moves the cursor up and down has not finished what it shows.
		"moved, not spaced":    {"ALL DONE", prompt, "\x1b[4;1HALL\x1b[1CDONE\x1b[5;1H>", false, true},
		"moved to a column":    {"ALL DONE", prompt, "finished\x1b[26Gnow.\x1b[31GALL\x1b[35GDONE\r\n", true, true},
		"moved to a place":     {"ALL DONE", prompt, "FINISHED\x1b[13;12HALL\x1b[13;16HDONE\x1b[24;1H", false, true},
		"painted from below":   {"ALL DONE", prompt, "\x1b[5;6HDONE\x1b[5;2HALL\x1b[24;1H", false, true},
		"erased":               {"ALL DONE", prompt, "ALL DONE\r\x1b[Knot yet\r\n", false, false},
		"written over":         {"ALL DONE", prompt, "ALL GONE\x1b[4DD\r\n", true, true},
		"prompt begins":        {"DONE", "DONE is what you print when you are finished", "DONE is what you print when you are finished\r\n", false, false},
		"prompt begins, real":  {"DONE", "DONE is what you print when you are finished", "> DONE is what you print when you are finished\r\nDONE\r\nbye\r\n", true, true},
		"prompt begins, quiet": {"DONE", "DONE is what you print", "DONE\r\n", false, true},
		"short prompt":         {"DONE", "say DONE\n", "say DONE\r\nDONE\r\n", true, true},
		"bare prompt":          {"DONE", "DONE\n", "DONE\r\n", false, false},
		"bare prompt, real":    {"DONE", "DONE\n", "DONE\r\nDONE\r\n", true, true},
		"tag":                  {`<promise>DONE</promise>`, "If true, output <promise>DONE</promise>.", "> If true, output <promise>DONE</promise>.\r\nso <promise>DONE</promise>\r\n", true, true},
		"not in the prompt":    {"finished", "go", "finished\n", true, true},
		"several lines":        {`(?s)a.*b`, "go", "xa\r\ny\r\nbx\r\n", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			re, err := CompilePattern(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			// However the output is cut into pieces.
			for size := 1; size <= len(c.output); size++ {
				m := newDoneMatcher(re, []byte(c.prompt))
				var it iteration
				s := screen.Screen{Live: true, Line: it.finish}
				found := false
				for rest := []byte(c.output); len(rest) > 0; {
					n := min(size, len(rest))
					it.finished = nil
					s.Write(rest[:n], time.Time{})
					found = m.write(it.finished) || found
					rest = rest[n:]
				}
				if found != c.want {
					t.Fatalf("in pieces of %d: %v", size, found)
				}
				if rest := m.shows(s.Open()) || found; rest != c.rest {
					t.Fatalf("in pieces of %d and quiet: %v", size, rest)
				}
			}
		})
	}
}

// Claude Code and Codex are done when their screens say so, not before, and wherever
// their output is cut.
func TestDoneOfRealAgents(t *testing.T) {
	t.Parallel()
	re, err := CompilePattern("ALL DONE$")
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"claude", "codex"} {
		written, err := os.ReadFile(filepath.Join("..", "..", "shared", "screen", "testdata", agent+".raw"))
		if err != nil {
			t.Fatal(err)
		}
		var it iteration
		s := screen.Screen{Live: true, Line: it.finish}
		s.Resize(80, 24)
		m := newDoneMatcher(re, []byte("please do the first thing"))
		half := len(written) / 2
		s.Write(written[:half], time.Time{})
		if m.write(it.finished) || m.shows(s.Open()) {
			t.Errorf("%s is done in the middle", agent)
		}
		it.finished = nil
		s.Write(written[half:], time.Time{})
		if !m.write(it.finished) && !m.shows(s.Open()) {
			t.Errorf("%s is not done", agent)
		}
	}
}

// The kept output is bounded, and a match is found wherever it is.
func TestDoneInMuchOutput(t *testing.T) {
	t.Parallel()
	re, err := CompilePattern("DONE")
	if err != nil {
		t.Fatal(err)
	}
	m := newDoneMatcher(re, []byte("print DONE at the very end"))
	line := []byte(strings.Repeat("x", 1000) + "\n")
	for range 1000 {
		if m.write(line) || m.write([]byte("> print DONE at the very end\n")) {
			t.Fatal("found too early")
		}
	}
	if len(m.plain) > 3*kept {
		t.Errorf("%d bytes are kept", len(m.plain))
	}
	if !m.write([]byte("DONE\n")) {
		t.Error("not found")
	}
}

func TestCompilePattern(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"(", "", "x*", "^"} {
		if _, err := CompilePattern(pattern); err == nil {
			t.Errorf("%q is a pattern", pattern)
		}
	}
}
