package screen_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/screen"
)

// matchingLines returns the lines of an output that match. A line in pieces has "…" where they meet.
func matchingLines(pattern, output string, colours, settle bool) []string {
	var got []string
	l := screen.Lines{Pattern: regexp.MustCompile(pattern), Line: func(l screen.Line) {
		text := string(l.Text)
		if !l.Begins {
			text = "…" + text
		}
		if !l.Ends {
			text += "…"
		}
		got = append(got, text)
	}}
	s := screen.Screen{Line: l.Add, Colours: colours, Live: settle}
	for part := range strings.SplitSeq(output, "|") {
		s.Write([]byte(part), time.Time{})
		if settle {
			s.Settle()
			l.Settle()
		}
	}
	s.Close()
	l.Close()
	return got
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10<<10)
	for what, c := range map[string]struct {
		pattern, output string
		colours, settle bool
		want            []string
	}{
		"one of three":              {pattern: "^b", output: "a\nbc\nd\n", want: []string{"bc"}},
		"without an end":            {pattern: "b", output: "a\nb", want: []string{"b…"}},
		"through a colour":          {pattern: "^error: no$", output: "\x1b[31mer\x1b[1mror\x1b[0m: no\n", colours: true, want: []string{"\x1b[31mer\x1b[1mror\x1b[0m: no"}},
		"a colour, not text":        {pattern: "31", output: "\x1b[31mred\x1b[0m\n", colours: true},
		"the last state of a line":  {pattern: "^100%$", output: "1%\r50%\r100%\n", want: []string{"100%"}},
		"what was overwritten":      {pattern: "^50", output: "1%\r50%\r100%\n"},
		"across the pieces":         {pattern: "^x+y$", output: long + "y\n", want: []string{long + "y"}},
		"a question":                {pattern: "sure", output: "Are you sure? |yes\nno\n", settle: true, want: []string{"Are you sure? …", "…yes"}},
		"a question, and no answer": {pattern: "^Are you", output: "Are you |sure?", settle: true, want: []string{"Are you …", "…sure?…"}},
		"only its answer":           {pattern: "yes", output: "Are you sure? |yes\n", settle: true, want: []string{"Are you sure? yes"}},
		"no line":                   {pattern: "", output: ""},
	} {
		if diff := cmp.Diff(c.want, matchingLines(c.pattern, c.output, c.colours, c.settle)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}
