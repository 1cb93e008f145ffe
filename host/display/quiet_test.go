package display

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestQuietSince: a tip that changes, or a key, does not end the time for which an agent is idle.
func TestQuietSince(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(ms int, rest string) string {
		return begin.Add(time.Duration(ms)*time.Millisecond).Format(time.RFC3339Nano) + " stdout " + rest
	}
	const tip = "P \x1b[20;3H Tip: another one"
	for _, tt := range []struct {
		name  string
		lines []string
		want  int
	}{
		{"the end of a turn", []string{at(0, "F answer"), at(900, "P > ")}, 900},
		{"tips", []string{at(0, "F answer"), at(900, "P > "), at(20_000, tip), at(40_000, tip), at(60_000, tip)}, 900},
		{"a tip of two pieces", []string{at(0, "F answer"), at(20_000, tip), at(20_100, tip)}, 0},
		{"a new line", []string{at(0, "F answer"), at(20_000, "F $ true"), at(40_000, tip)}, 20_000},
		{"much at once", []string{at(0, "F answer"), at(20_000, "P "+strings.Repeat("x", 2000)), at(40_000, tip)}, 20_000},
		{"an animation", []string{at(0, "F answer"), at(20_000, tip), at(20_400, tip), at(20_800, tip), at(40_000, tip)}, 20_800},
		{"damaged", []string{at(0, "F answer"), "x", at(20_000, tip)}, 99_000},
		{"nothing but tips", []string{at(0, tip), at(20_000, tip)}, 0},
	} {
		run := t.TempDir()
		last := begin.Add(99 * time.Second)
		if n := len(tt.lines); strings.Contains(tt.lines[n-1], "answer") || tt.name == "the end of a turn" {
			last = begin.Add(900 * time.Millisecond)
		}
		if err := os.WriteFile(filepath.Join(run, rundir.LogFile), []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := quietSince(run, nil, last); !got.Equal(begin.Add(time.Duration(tt.want) * time.Millisecond)) {
			t.Errorf("%s: %v, want %v ms", tt.name, got.Sub(begin), tt.want)
		}
	}
	if got := quietSince(t.TempDir(), nil, begin); !got.Equal(begin) {
		t.Errorf("without a log: %v", got)
	}
	long := strings.Repeat(at(0, "F answer")+"\n", 2000) + at(900, "P > ") + "\n" + at(20_000, tip) + "\n"
	run := t.TempDir()
	if err := os.WriteFile(filepath.Join(run, rundir.LogFile), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := quietSince(run, nil, begin.Add(time.Hour)); !got.Equal(begin.Add(900 * time.Millisecond)) {
		t.Errorf("a long log: %v", got.Sub(begin))
	}
}

// TestSameScreen: an agent that draws its whole screen once more, with another tip or without, has
// done nothing. One that shows a new text has.
func TestSameScreen(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(s float64, text string) string {
		stamp := begin.Add(time.Duration(s * float64(time.Second))).Format(time.RFC3339Nano)
		var b strings.Builder
		rows := strings.SplitAfter(text, "\n")
		for _, row := range rows {
			tag := "P "
			if strings.HasSuffix(row, "\n") {
				tag = "F "
			}
			b.WriteString(stamp + " stdout " + tag + strings.TrimSuffix(row, "\n") + "\n")
		}
		return b.String()
	}
	rule := strings.Repeat("─", 70)
	draw := func(answer, tip string) string {
		return "\x1b[H\x1b[2J❯ do it\n" + answer + "\n\n" + strings.Repeat("a line of the answer\n", 12) + tip + "\n" + rule + "\n❯ \n" + rule
	}
	shown := make([]string, 24)
	for _, tt := range []struct {
		name string
		log  string
		want float64
	}{
		{"the same", at(1, draw("● Done", "Tip: one")) + at(20, draw("● Done", "Tip: one")) + at(40, draw("● Done", "Tip: one")), 1},
		{"another tip", at(1, draw("● Done", "Tip: one")) + at(20, draw("● Done", "Tip: two")) + at(40, draw("● Done", "Tip: three")), 1},
		{"another answer", at(1, draw("● Done", "Tip: one")) + at(20, draw("● Done\n\n● Once more", "Tip: one")) + at(40, draw("● Done\n\n● Once more", "Tip: two")), 20},
		{"a row more at last", at(1, draw("● Done", "Tip: one")) + at(20, draw("● Done\n● and done", "Tip: one")), 20},
	} {
		run := t.TempDir()
		if err := os.WriteFile(filepath.Join(run, rundir.LogFile), []byte(tt.log), 0o600); err != nil {
			t.Fatal(err)
		}
		last := begin.Add(40 * time.Second)
		if tt.name == "a row more at last" {
			last = begin.Add(20 * time.Second)
		}
		if got := quietSince(run, shown, last).Sub(begin).Seconds(); got != tt.want {
			t.Errorf("%s: %v s, want %v s", tt.name, got, tt.want)
		}
	}
}
