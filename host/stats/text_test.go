package stats

import (
	"testing"
	"time"
)

// TestTexts checks that an unknown figure is not shown as 0.
func TestTexts(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0.0%": Share(new(0.0)), "0B": Size(new(int64(0))), "0": Count(new(int)), "0.00s": CPUTime(new(time.Duration)),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, got := range []string{Share(nil), Size(nil), Count(nil), CPUTime(nil)} {
		if got != None {
			t.Errorf("nothing is written as %s", got)
		}
	}
}
