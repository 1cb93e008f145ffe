package ralph

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// runLimited runs a loop that waits for the end of a usage limit in a bubble of time, and
// returns for how long it waited, and what act has made of that.
func runLimited(t *testing.T, text string, act func(l *loop, changed chan<- time.Time)) (waited time.Duration, log []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.create(nil)
		out, openErr := os.Create(r.path("out"))
		r.check(openErr)
		defer out.Close()
		l := &loop{
			Options: Options{Store: r.store, Name: "w", unit: time.Second}, begun: true,
			console: &console{out: out, typed: make(chan []byte)},
			signals: &signals{children: make(chan os.Signal), ends: make(chan os.Signal, 1)},
		}
		began := time.Now()
		var more bool
		_, more, err = l.record(t.Context(), outcome{ending: exited, exit: "1", failure: text})
		if err != nil || !more {
			return
		}
		if st := r.state(); !st.Open() || st.Failures != 0 || st.LimitUntil.IsZero() {
			t.Errorf("the state: %+v", st)
		}
		changed := make(chan time.Time)
		over := make(chan error, 1)
		go func() { over <- l.awaitLimit(t.Context(), &watch{tick: changed}) }()
		synctest.Wait()
		if act != nil {
			act(l, changed)
		}
		err = <-over
		waited, log = time.Since(began), r.events()
		if st := r.state(); err == nil && !st.LimitUntil.IsZero() {
			t.Errorf("the state has a limit that has ended: %+v", st)
		}
	})
	return waited, log, err
}

func TestLimitIsWaitedFor(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Error: usage limit reached, resets in 2h 10m": 2*time.Hour + 10*time.Minute + limitMargin,
		"Error: usage limit reached, resets in 4 days": maxLimitWait,
	} {
		waited, log, err := runLimited(t, text, nil)
		if err != nil || waited != want {
			t.Errorf("%s: waited %v, %v; want %v", text, waited, err, want)
		}
		if len(log) != 2 || !strings.HasPrefix(log[0], "[LIMIT] iteration 1: usage limit, waiting until ") || !strings.HasSuffix(log[0], text) || !strings.HasPrefix(log[1], "[RESUME]") {
			t.Errorf("%s: the log: %q", text, log)
		}
	}
}

func TestLimitEndsEarly(t *testing.T) {
	const text = "usage limit reached, resets in 2h"
	const early = 10*time.Minute + clockEvery/2 // the loop reads no clock just then
	waited, _, err := runLimited(t, text, func(l *loop, changed chan<- time.Time) {
		time.Sleep(early) // of the bubble
		_, err := l.Store.Change(t.Context(), "w", func(st *State) error {
			st.LimitUntil = time.Time{}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		changed <- time.Now()
	})
	if err != nil || waited != early {
		t.Errorf("resumed: waited %v, %v", waited, err)
	}
	_, _, err = runLimited(t, text, func(l *loop, _ chan<- time.Time) { l.signals.ends <- syscall.SIGTERM })
	if ended, ok := errors.AsType[*SignalError](err); !ok || ended.Signal != syscall.SIGTERM {
		t.Errorf("killed: %v", err)
	}
}

// TestLimitOnce has a limit right after another one be a failure.
func TestLimitOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.LimitWaited, st.IterationStarted = true, time.Now() })
	out, err := os.Create(r.path("out"))
	r.check(err)
	defer out.Close()
	l := &loop{Options: Options{Store: r.store, Name: "w", unit: time.Second}, console: &console{out: out}}
	failed := outcome{ending: exited, exit: "1", failure: "usage limit reached, resets in 2h"}
	wait, more, err := l.record(t.Context(), failed)
	if st := r.state(); err != nil || !more || wait != time.Second || st.Failures != 1 || !st.LimitUntil.IsZero() || st.LimitWaited {
		t.Errorf("%v, %v, %v: %+v", wait, more, err, st)
	}
}
