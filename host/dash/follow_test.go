package dash

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// output is a host whose worker writes these pieces and ends.
type output []swarm.Output

func (o output) Logs(_ context.Context, _ string, _ swarm.OutputOptions, each func(swarm.Output) error) error {
	for _, piece := range o {
		if err := each(piece); err != nil {
			return err
		}
	}
	return nil
}

func (o output) Peek(context.Context, string, int) (display.Peek, error) {
	return display.Peek{Lines: []string{"a\tb\u202e", "red"}, Styled: []string{"a\tb\u202e", "\x1b[31mred\x1b[0m"}, Screen: true}, nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	f := Follow(output{
		{Data: []byte("one\n\nthr"), Partial: true, Stream: swarm.Stdout},
		{Data: []byte("ee\ta\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2Jfour\u202e"), Stream: swarm.Stdout},
		{Data: []byte("50%\r100%"), Stream: swarm.Stderr},
	}, "w", func() {})
	f.Look(true)
	f.Run(t.Context())
	lines, _ := f.Lines()
	got := strings.Join(lines, "\n")
	for _, want := range []string{"one\n\nthree   a", "red", "four", `\u202e`, "100%"} {
		if !strings.Contains(ansi.Strip(got), want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if strings.Contains(got, "title") || strings.Contains(got, "50%") {
		t.Errorf("%q", got)
	}
	if over, err := f.Over(); !over || err != nil {
		t.Errorf("over: %v, %v", over, err)
	}
	screen, ok := f.Screen()
	if diff := cmp.Diff([]string{"a       b\\u202e", "\x1b[31mred\x1b[0m\x1b[m"}, screen); diff != "" || !ok {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

// TestFollowKeeps: the memory of a follower is bounded.
func TestFollowKeeps(t *testing.T) {
	t.Parallel()
	f := Follow(output{
		{Data: []byte(strings.Repeat("x", 1<<20) + "\n" + strings.Repeat("l\n", 3*LinesKept))},
	}, "w", func() {})
	f.Run(t.Context())
	lines, dropped := f.Lines()
	if len(lines) > LinesKept+LinesKept/4 || len(lines)+dropped != 3*LinesKept+1 && len(lines)+dropped != 3*LinesKept+2 {
		t.Errorf("%d lines kept, %d dropped", len(lines), dropped)
	}
}

// TestEarlier: a follower knows whether the output has earlier lines than it keeps.
func TestEarlier(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{LinesKept: 0, LinesKept + 1: 1, LinesKept + 100: 1} {
		f := Follow(output{{Data: []byte(strings.Repeat("l\n", n-1) + "l")}}, "w", func() {})
		f.Run(t.Context())
		if lines, dropped := f.Lines(); dropped != want || len(lines)+dropped != n {
			t.Errorf("of %d lines %d are kept and %d dropped", n, len(lines), dropped)
		}
	}
	if got, want := Earlier("a b"), "Earlier lines are left out. All of them: swarm logs 'a b'"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzFollow: whatever a worker writes, its lines change nothing of a terminal but the
// colour of letters, are UTF-8, and end where they began: with plain letters.
func FuzzFollow(f *testing.F) {
	for _, text := range []string{
		"\x1b[31mred", "\x1b]52;c;aGk=\x07", "\x1b[?1049h\x1b[2J\x1b[H", "a\u202eb\u200b", "\xff\xfe\x80", "\x1bP1$r\x1b\\", "\x9b31m",
		"\x1b[38;2;1;2;3mtrue\x1b[38:5:7mindexed", strings.Repeat("\x1b[31mx", 3000), "\t\t\x1b[1\x00m", "\x1b[6n\x1b[c", "wide 漢字 \U0001F469\u200d\U0001F52C",
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, partial bool) {
		fo := Follow(output{{Data: data, Partial: partial, Time: time.Unix(1, 0)}}, "w", func() {})
		_ = fo.add(swarm.Output{Data: data, Partial: true})
		check := func() {
			lines, _ := fo.Lines()
			for _, line := range lines {
				if !utf8.ValidString(line) {
					t.Fatalf("not UTF-8: %q", line)
				}
				rest := line
				coloured := false
				for {
					at := strings.IndexByte(rest, '\x1b')
					if at < 0 {
						break
					}
					if bad := strings.IndexFunc(rest[:at], safetext.IsHidden); bad >= 0 {
						t.Fatalf("hidden character in %q", line)
					}
					end := strings.IndexByte(rest[at:], 'm')
					if end < 2 || strings.Trim(rest[at+2:at+end], "0123456789;:") != "" || rest[at+1] != '[' {
						t.Fatalf("a sequence that is no colour in %q", line)
					}
					coloured = true
					rest = rest[at+end+1:]
				}
				if bad := strings.IndexFunc(rest, safetext.IsHidden); bad >= 0 {
					t.Fatalf("hidden character in %q", line)
				}
				if coloured && !strings.HasSuffix(line, reset) {
					t.Fatalf("the colour continues after %q", line)
				}
			}
		}
		check()
		fo.Run(t.Context())
		check()
	})
}
