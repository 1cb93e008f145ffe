package caller

import "testing"

func TestServerOf(t *testing.T) {
	t.Parallel()
	for session, want := range map[string]int{
		"/tmp/tmux-0/default,123,4":  123,
		"/tmp/a,b,5/default,123,0":   123,
		"/tmp/tmux-0/default,123,-1": 0,
		"/tmp/tmux-0/default":        0,
		"x,y":                        0,
		"":                           0,
	} {
		if got := serverOf(session); got != want {
			t.Errorf("serverOf(%q) = %d, want %d", session, got, want)
		}
	}
}
