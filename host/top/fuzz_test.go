package top

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

func ansiStrip(s string) string { return ansi.Strip(s) }

// hostile are texts that would harm a terminal.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b]0;title\x07", "\x1b]52;c;c2VjcmV0\x07", "\x1b[?1049l", "\x1bP+q544e\x1b\\", "\x9b2J", "\xc2\x9b2J",
	"\x1b[38;2;1;2;3mred", "\x1b[31", "a\u202eb\u2066c", "\u200b\u200d", "\xff\xfe", "日本語", "👩‍👩‍👧 family", "e\u0301\u0301\u0301\u0301",
	strings.Repeat("\u0301", 100), "\x1b[>4;2m", "\x1b[8m hidden", strings.Repeat("x", 1<<20), strings.Repeat("\x1b[1m", 1000) + "bold", "🇩🇪🇫🇷", "❤️",
	"\x1b[0K\r\n\t\b\x7f\x00",
}

// harmless fails if a row holds anything but letters and colours, or is too long.
func harmless(t *testing.T, row string, width int) {
	t.Helper()
	if !utf8.ValidString(row) {
		t.Errorf("not UTF-8: %q", row)
	}
	if n := max(ansi.StringWidth(row), ansi.StringWidthWc(row)); n > width {
		t.Errorf("%d cells where there is space for %d: %q", n, width, row)
	}
	for rest := row; rest != ""; {
		i := strings.IndexFunc(rest, safetext.IsHidden)
		if i < 0 {
			break
		}
		rest = rest[i:]
		end := strings.IndexByte(rest, 'm')
		if rest[0] != '\x1b' || end < 0 || !isColour(rest[:end+1]) {
			t.Fatalf("a hidden character: %q", row)
		}
		rest = rest[end+1:]
	}
}

// FuzzRows: whatever a line holds, its rows are harmless.
func FuzzRows(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, 40)
		f.Add(text, 1)
	}
	f.Fuzz(func(t *testing.T, line string, width int) {
		width = 1 + max(width, -width)%200
		for _, row := range rowsOf(line, max(1, width), 0) {
			harmless(t, row, max(1, width))
		}
		harmless(t, theme{}.fit(line, max(1, width)), max(1, width))
	})
}

// FuzzView: whatever workers say of themselves and write, the screen is harmless.
func FuzzView(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := []string{text}
		text = text[:min(len(text), 4<<10)] // a registry bounds what a worker is called
		w := runningWorker("w", func(w *worker.Worker) {
			w.Name, w.Command, w.Tags, w.Reason = text, []string{text, text}, []string{text}, text
			w.State = &judgement.State{State: "blocked", Question: text, Broken: text}
			w.Where = swarm.Where{Kind: text, Name: text}
		})
		r := newRig(t, 80, 24, w)
		r.pane.lines, r.pane.picture, r.pane.shows = lines, lines, true
		for _, keys := range [][]string{nil, {"tab"}, {"b"}, {"x"}, {"esc", "y"}, {"esc", ":"}, {"esc", "z"}} {
			r.press(keys...)
			r.pane.entries = []entry{{label: text, text: text}}
			for row := range strings.SplitSeq(r.View().Content, "\n") {
				harmless(t, row, 80)
			}
		}
	})
}
