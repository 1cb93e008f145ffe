package server

import "testing"

func TestRunnable(t *testing.T) {
	for text, want := range map[string]int{
		"0.20 0.18 0.12 1/80 11206\n":   1,
		"24.02 9.47 8.26 37/905 9921\n": 37,
		"":                              0,
		"0.20 0.18 0.12 x/80 11206\n":   0,
		"0.20 0.18 0.12":                0,
	} {
		if got := runnable(text); got != want {
			t.Errorf("runnable(%q) = %d, want %d", text, got, want)
		}
	}
}
