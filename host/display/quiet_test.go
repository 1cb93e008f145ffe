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
		if got := quietSince(run, last); !got.Equal(begin.Add(time.Duration(tt.want) * time.Millisecond)) {
			t.Errorf("%s: %v, want %v ms", tt.name, got.Sub(begin), tt.want)
		}
	}
	if got := quietSince(t.TempDir(), begin); !got.Equal(begin) {
		t.Errorf("without a log: %v", got)
	}
	long := strings.Repeat(at(0, "F answer")+"\n", 2000) + at(900, "P > ") + "\n" + at(20_000, tip) + "\n"
	run := t.TempDir()
	if err := os.WriteFile(filepath.Join(run, rundir.LogFile), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := quietSince(run, begin.Add(time.Hour)); !got.Equal(begin.Add(900 * time.Millisecond)) {
		t.Errorf("a long log: %v", got.Sub(begin))
	}
}
