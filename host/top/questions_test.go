package top

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/profile"
)

// TestQuestionsFirst: a dashboard that is opened while agents ask shows their questions alone, the
// oldest first. Enter opens one, and its keys answer it.
func TestQuestionsFirst(t *testing.T) {
	t.Parallel()
	old, fresh := agent("older", profile.Blocked), agent("fresh", profile.Blocked)
	old.State.Since, fresh.State.Since = clock.Add(-2*time.Hour), clock.Add(-time.Hour)
	r := openRig(t, 100, 24, false, fresh, runningWorker("api"), old)
	text := r.text()
	if strings.Contains(text, "api") || strings.Index(text, "older") > strings.Index(text, "fresh") {
		t.Errorf("it shows:\n%s", text)
	}
	for _, want := range []string{"questions, the oldest first", "PROJECT", "make deploy", "1  Yes", "enter answers it", "2h", "1h"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	r.press("down", "enter", "2")
	if diff := cmp.Diff([]string{"answer id-fresh No d1"}, r.host.called()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.press("esc")
	if text := r.text(); !strings.Contains(text, "api") || strings.Contains(text, "the oldest first") {
		t.Errorf("after esc it shows:\n%s", text)
	}
	r.press("Q")
	if text := r.text(); strings.Contains(text, "api") {
		t.Errorf("after Q it shows:\n%s", text)
	}
	// Once nothing is asked, all workers are there again, and stay.
	r.send(boardMsg(newRig(t, 100, 24, runningWorker("api")).session.board.Snapshot()))
	if text := r.text(); !strings.Contains(text, "api") {
		t.Errorf("without questions it shows:\n%s", text)
	}
	r.press("Q")
	if text := r.text(); !strings.Contains(text, "no agent asks anything") {
		t.Errorf("Q without questions:\n%s", text)
	}
	// A question that comes later does not take the list away.
	r.send(boardMsg(newRig(t, 100, 24, runningWorker("api"), fresh).session.board.Snapshot()))
	if text := r.text(); !strings.Contains(text, "api") {
		t.Errorf("a later question hides the list:\n%s", text)
	}
}
