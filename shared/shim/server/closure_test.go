//go:build linux

package server_test

import (
	"bufio"
	"io"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// A client that closes the terminal gets the time to read it first: nothing is signalled
// before it has done so, or before it leaves or says that it can't, and no picture is
// taken.
func TestClosing(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"closes", "leaves", "continues"} {
		closes := way == "closes"
		l := launch("trap 'echo hup >>got; exit 7' HUP; echo ready; while :; do sleep 0.02; done")
		l.Capture = []string{"sh", "-c", "echo taken"}
		w := openWindow(t, l)
		w.shows("ready")
		client := w.dial()
		_, err := io.WriteString(client, "kill signal=SIGHUP grace=20000 force=1 mode=tree closing=1\n")
		must(t, err)
		answers := bufio.NewScanner(client)
		if !answers.Scan() || answers.Text() != "accepted" {
			t.Fatalf("got %q", answers.Text())
		}
		if st := w.status(); st.EndedNS != 0 {
			t.Errorf("it ended before its terminal was closed: %+v", st)
		}
		began := time.Now()
		switch way {
		case "closes":
			w.pane.Close()
			must(t, w.master.Close())
		case "leaves":
			must(t, client.Close())
		case "continues":
			_, err := io.WriteString(client, rundir.Continue+"\n")
			must(t, err)
		}
		if way != "leaves" && (!answers.Scan() || answers.Text() != "ended forced=0 already=0 signal=SIGHUP") {
			t.Errorf("got %q", answers.Text())
		}
		if st := w.end(); st.Code != 7 || st.Cause != "killed" {
			t.Errorf("status %+v", st)
		}
		if took := time.Since(began); took > limit/4 {
			t.Errorf("it took %v", took)
		}
		if got := w.got(1); got != "hup\n" {
			t.Errorf("signals %q", got)
		}
		if _, taken := w.screen(); taken == closes {
			t.Errorf("%s, picture %v", way, taken)
		}
	}
}

// A client announces that it closes the terminal, stays connected and does not close it.
func TestClosingForced(t *testing.T) {
	t.Parallel()
	w := openWindow(t, launch("trap '' HUP; echo ready; while :; do sleep 0.02; done"))
	w.shows("ready")
	w.send("kill signal=SIGHUP grace=600000 force=1 mode=tree closing=1")
	if a := w.kill("SIGTERM", limit, true); a.Kind != "ended" || a.Forced {
		t.Errorf("answer %+v", a)
	}
	if st := w.end(); st.Signal != "SIGTERM" || st.Cause != "killed" {
		t.Errorf("status %+v", st)
	}
}
