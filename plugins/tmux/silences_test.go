package tmux

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilencesShareTheirLimit asks when calls of several kinds to one server that does not answer
// have to end, in turn and at the same time.
func TestSilencesShareTheirLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s silences
		srv := server{label: "x", socket: "/x"}
		silent := silence(srv, answerLimit)
		begun := time.Now()
		begin := func(limit time.Duration, want time.Time) {
			t.Helper()
			if got, ok := s.begin(srv.name(), limit); !ok || !got.Equal(want) {
				t.Errorf("after %v: a call has to end after %v, want %v, %v", time.Since(begun), got.Sub(begun), want.Sub(begun), ok)
			}
		}
		refused := func(limit time.Duration) {
			t.Helper()
			if _, ok := s.begin(srv.name(), limit); ok {
				t.Errorf("after %v: a call is made", time.Since(begun))
			}
		}
		begin(answerLimit, begun.Add(answerLimit))
		time.Sleep(time.Second)
		begin(answerLimit, begun.Add(answerLimit))
		begin(openLimit, begun.Add(openLimit))
		if s.lately(srv) || !s.isWaiting(srv) {
			t.Error("it counts as silent before the limit, or no call waits")
		}
		time.Sleep(time.Second)
		// The calls were given up, and have not returned yet.
		refused(answerLimit)
		s.end(t.Context(), srv.name(), silent)
		s.end(t.Context(), srv.name(), silent)
		refused(answerLimit)
		if !s.lately(srv) || s.lately(server{label: "x", socket: "/other"}) {
			t.Error("it does not count as silent, or another one does")
		}
		begin(openLimit, begun.Add(openLimit))
		s.end(t.Context(), srv.name(), nil)
		if s.lately(srv) {
			t.Error("it counts as silent although it has answered a call")
		}
		// One call is still waiting. Its server is not frozen.
		begin(answerLimit, time.Now().Add(answerLimit))
		s.end(t.Context(), srv.name(), nil)
		s.end(t.Context(), srv.name(), silent)
		time.Sleep(silenceLife - 1)
		refused(answerLimit)
		time.Sleep(time.Nanosecond)
		begin(answerLimit, time.Now().Add(answerLimit))
		s.end(t.Context(), srv.name(), nil)
		if len(s.silent) > 0 || s.isWaiting(srv) {
			t.Errorf("left: %v", s.silent)
		}
	})
}
