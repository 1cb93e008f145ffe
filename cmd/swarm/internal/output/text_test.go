package output

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｆ": 2, "🚀": 2, "→": 1, "…": 1} {
		if got := Columns(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	for text, want := range map[string]string{"abc": "abc", "abcd": "ab…", "日本": "日…", "日a本": "日…"} {
		if got := Cut(text, 3); got != want {
			t.Errorf("%q in 3 columns is %q, want %q", text, got, want)
		}
	}
}

func TestIndented(t *testing.T) {
	t.Parallel()
	if got := Indented("a\n\nb" + strings.Repeat("\n", 2)); got != "  a\n\n  b\n\n" {
		t.Errorf("%q", got)
	}
	if got := Indented(""); got != "" {
		t.Errorf("nothing became %q", got)
	}
}
