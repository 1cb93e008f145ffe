//go:build linux

package keeper_test

import (
	"testing"
	"time"
)

// Who closes the terminal is given the time to look at it first: nothing is
// signalled before, and no picture is taken.
func TestClosing(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{true, false} {
		l := launch("trap 'echo hup >>got; exit 7' HUP; echo ready; while :; do sleep 0.02; done")
		l.Capture = []string{"sh", "-c", "echo taken"}
		w := openWindow(t, l)
		w.shows("ready")
		answers := w.send("kill signal=SIGHUP grace=20000 force=1 mode=tree closing=1")
		line := func() string {
			t.Helper()
			s, err := answers.ReadString('\n')
			must(t, err)
			return s
		}
		if got := line(); got != "accepted\n" {
			t.Fatalf("got %q", got)
		}
		if st := w.status(); st.EndedNS != 0 {
			t.Errorf("it ended before its terminal was closed: %+v", st)
		}
		began := time.Now()
		if closes {
			w.pane.Close()
			must(t, w.master.Close())
		}
		if got := line(); got != "ended forced=0 already=0 signal=SIGHUP\n" {
			t.Errorf("got %q", got)
		}
		if closes && time.Since(began) > limit/2 {
			t.Errorf("it took %v", time.Since(began))
		}
		if st := w.end(); st.Code != 7 || st.Cause != "killed" {
			t.Errorf("status %+v", st)
		}
		if got := w.got(1); got != "hup\n" {
			t.Errorf("signals %q", got)
		}
		if _, taken := w.screen(); taken == closes {
			t.Errorf("closed %v, picture %v", closes, taken)
		}
	}
}
