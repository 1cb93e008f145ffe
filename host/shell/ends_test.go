package shell

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEnds(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "line %d ü\n", i)
	}
	for _, text := range []string{lines.String(), strings.Repeat("ü", 9000), "one\n" + strings.Repeat("x", 9000), strings.Repeat("x", 9000) + "\nlast"} {
		got := Ends(text, 300, "FILE")
		head, tail, _ := strings.Cut(got, "[swarm: ")
		said, tail, _ := strings.Cut(tail, "]\n")
		if n := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail); n > 301 || n < 150 {
			t.Errorf("%.20q: %d characters are left, want about 300", text, n)
		}
		if !strings.HasPrefix(text, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(text, tail) || !utf8.ValidString(got) {
			t.Errorf("%.20q: these are not its ends: %q", text, got)
		}
		if !strings.HasPrefix(text, head) {
			head = strings.TrimSuffix(head, "\n") // which is not the text's own
		}
		if want := fmt.Sprintf("%d bytes are left out here, FILE has all of it", len(text)-len(head)-len(tail)); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	got := Ends(lines.String(), 300, "FILE")
	if !strings.HasPrefix(got, "line 0 ü\n") || !strings.HasSuffix(got, "\nline 999 ü\n") || strings.Count(got, "line ") > 40 {
		t.Errorf("whole lines: %q", got)
	}
	if got := Ends("short\n", 300, "FILE"); got != "short\n" {
		t.Errorf("a short text: %q", got)
	}
}

// The beginning of an output is kept however long it becomes.
func TestTailEnds(t *testing.T) {
	t.Parallel()
	var whole tail
	total := 0
	for i := range 5 * maxText / 8 {
		line := fmt.Appendf(nil, "%07d", i)
		whole.add(line, false)
		total += len(line) + 1
	}
	got := whole.ends(30000, "FILE")
	if !strings.HasPrefix(got, "0000000\n0000001\n") || !strings.HasSuffix(got, fmt.Sprintf("%07d\n", 5*maxText/8-1)) || utf8.RuneCountInString(got) > 30200 {
		t.Errorf("%d characters: %.40q … %q", utf8.RuneCountInString(got), got, got[len(got)-40:])
	}
	_, after, _ := strings.Cut(got, "[swarm: ")
	var left int
	if _, err := fmt.Sscanf(after, "%d bytes are left out here", &left); err != nil {
		t.Fatal(err)
	}
	mark := bytes.Index([]byte(got), []byte("[swarm: "))
	end := strings.Index(got, "]\n") + 2
	if shown := mark + len(got) - end; shown+left != total {
		t.Errorf("%d bytes are shown and %d left out, of %d", shown, left, total)
	}
}

// No file holds the part that the log has lost.
func TestTailLost(t *testing.T) {
	t.Parallel()
	lost := tail{dropped: 1000, lost: true}
	lost.add([]byte(strings.Repeat("x", 500)), false)
	if got := lost.ends(100, "FILE"); !strings.HasPrefix(got, "[swarm: 1434 bytes are left out here, FILE has the newest of it]\nx") {
		t.Errorf("%q", got)
	}
}
