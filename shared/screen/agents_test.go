package screen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRealAgents reads what Claude Code 2.1.330 and Codex 0.169.0 wrote in two turns, the
// second one of which ends with ALL DONE, to a terminal of 80 × 24. The expected screens at
// the end are from tmux.
func TestRealAgents(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex"} {
		written, err := os.ReadFile(filepath.Join("testdata", agent+".raw"))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile(filepath.Join("testdata", agent+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimRight(string(shown), "\n"), "\n")
		for i := range want {
			want[i] = strings.TrimRight(want[i], " ")
		}
		for name, s := range map[string]*Screen{"of unknown size": {}, "of its size": {Live: true}} {
			if s.Live {
				s.Resize(80, 24)
			}
			s.Write(written, time.Time{})
			got := s.Shown()
			for len(got) > 0 && got[0] == "" {
				got = got[1:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s on a screen %s shows\n%s\nwant\n%s", agent, name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if !slices.ContainsFunc(s.Open(), func(line string) bool { return strings.HasSuffix(line, "finished now. ALL DONE") }) {
				t.Errorf("%s on a screen %s is not done", agent, name)
			}
		}
	}
}
