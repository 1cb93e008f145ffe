package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReflow(t *testing.T) {
	t.Parallel()
	text := `A paragraph that is wider than the terminal is, and
continues in a second line.

  where    a place that is described at some length
           and in a second line
  branch   short
  --all    all of them

Short
lines stay.

Examples:
  swarm spawn --name a-long-name -- a command that is long

Flags:
      --log-limit size    how much of its output to keep (default: 64MiB)
  -q, --quiet             print names alone`
	want := `A paragraph that is wider than the terminal is, and
continues in a second line.

  where    a place that is described at some length
           and in a second line
  branch   short
  --all    all of them

Short
lines stay.

Examples:
  swarm spawn --name a-long-name -- a command that is long

Flags:
      --log-limit size
          how much of its output to keep (default:
          64MiB)
  -q, --quiet
          print names alone`
	if diff := cmp.Diff(want, Reflow(text, 56)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, width := range []int{0, 200} {
		if diff := cmp.Diff(text, Reflow(text, width)); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", width, diff)
		}
	}
}

func TestWrappedUnder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"note     short", "note     short"},
		{"note     " + strings.Repeat("word ", 7) + "end", "note     word word word word\n         word word word end"},
		{"short " + strings.Repeat("é", 40), "short\n" + strings.Repeat("é", 32) + "\n" + strings.Repeat("é", 8)},
	} {
		if got := WrappedUnder(tt.text, 9, 32); got != tt.want {
			t.Errorf("%q: %q", tt.text, got)
		}
	}
}
