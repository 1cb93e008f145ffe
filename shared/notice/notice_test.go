package notice

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSays(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"failed ended": "failed", "lost ended": "is lost", "ended": "", "": "", "blocked": "asks", "new": "",
	} {
		if got := Says(strings.Fields(words)); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	if got := Clean("a\x1b[2Jb\nc"); strings.ContainsAny(got, "\x1b\n") {
		t.Errorf("%q", got)
	}
	if got := Clean(strings.Repeat("é", 300)); len(got) > longest || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestDesktop(t *testing.T) {
	t.Parallel()
	want := []string{"notify-send", "--app-name=swarm", "--", "--w <failed>", `a \\377 &lt;b&gt; &amp;`}
	if got := Desktop("--w <failed>", `a \377 <b> &`); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
