package notifiertest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sink is where the events of a notifier arrive.
type sink struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sink) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(text + "\n")
}

func (s *sink) received() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// notifier is right, but for what a test changes.
type notifier struct {
	notify func(context.Context, swarm.Event) (swarm.NotifyAnswer, error)
	check  error
}

func (n notifier) Notify(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
	return n.notify(ctx, e)
}

func (n notifier) Check(context.Context) error { return n.check }

// right returns a notifier that keeps all rules, as change has changed it.
func right(s *sink, change func(*notifier)) notifier {
	n := notifier{notify: func(_ context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
		s.add(e.Worker)
		return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
	}}
	if change != nil {
		change(&n)
	}
	return n
}

func TestRight(t *testing.T) {
	t.Parallel()
	s := new(sink)
	Run(t, Notifier{New: func(T) swarm.Notifier { return right(s, nil) }, Received: s.received})
	// Nothing has to be reached.
	Run(t, Notifier{New: func(T) swarm.Notifier {
		return right(s, func(n *notifier) {
			n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Reason: "no network"})
		})
	}})
}

// TestBroken: each rule has a plugin that breaks it, and its case notices that.
func TestBroken(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Minute)
	broken := map[string][]func(*notifier){
		"notify-answer": {
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{}) },
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{Outcome: "perhaps"}) },
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyLater}) },
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyNever}) },
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted, Again: soon}) },
			func(n *notifier) {
				n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyNever, Again: soon, Reason: "x"})
			},
			func(n *notifier) {
				n.notify = func(context.Context, swarm.Event) (swarm.NotifyAnswer, error) {
					return swarm.NotifyAnswer{}, errors.New("broken")
				}
			},
		},
		"notify-arrives": {
			func(n *notifier) { n.notify = answers(swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}) },
			func(n *notifier) { // an event arrives with the next one
				right, before := n.notify, swarm.Event{ID: "none"}
				n.notify = func(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
					e, before = before, e
					return right(ctx, e)
				}
			},
		},
		"notify-again": {func(n *notifier) {
			n.notify = unless(n.notify, func(e swarm.Event) bool { return seen(e.ID) }, swarm.NotifyNever)
		}},
		"notify-unknown-kind": {func(n *notifier) {
			n.notify = unless(n.notify, func(e swarm.Event) bool { return e.Kind != "FAILED" }, swarm.NotifyLater)
		}},
		"notify-strange-text": {func(n *notifier) {
			n.notify = unless(n.notify, func(e swarm.Event) bool { return len(e.Text) > 1000 }, swarm.NotifyLater)
		}, func(n *notifier) {
			n.notify = unless(n.notify, func(e swarm.Event) bool { return e.Text == "" }, "")
		}},
		"check": {func(n *notifier) { n.check = swarm.ErrUnavailable }},
	}
	for _, c := range cases() {
		if broken[c.name] == nil && c.name != "notify-ended-context" { // see TestEndedContext
			t.Errorf("%s: no plugin breaks the rule", c.name)
		}
		for n, change := range broken[c.name] {
			if failed := problems(t, c.name, change); len(failed) == 0 {
				t.Errorf("%s: the plugin %d is not noticed", c.name, n)
			}
		}
		if failed := problems(t, c.name, nil); len(failed) > 0 {
			t.Errorf("%s fails for a plugin that keeps the rule: %v", c.name, failed)
		}
	}
}

// TestEndedContext has a plugin that ignores the end of its context.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits for as long as a case is patient")
	}
	hangs := make(chan struct{})
	defer close(hangs)
	failed := problems(t, "notify-ended-context", func(n *notifier) {
		n.notify = func(context.Context, swarm.Event) (swarm.NotifyAnswer, error) {
			<-hangs
			return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
		}
	})
	if len(failed) == 0 {
		t.Error("it is not noticed")
	}
}

type notify = func(context.Context, swarm.Event) (swarm.NotifyAnswer, error)

func answers(a swarm.NotifyAnswer) notify {
	return func(context.Context, swarm.Event) (swarm.NotifyAnswer, error) { return a, nil }
}

// unless answers otherwise for some events.
func unless(right notify, other func(swarm.Event) bool, answer swarm.NotifyOutcome) notify {
	return func(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
		if other(e) {
			return swarm.NotifyAnswer{Outcome: answer, Reason: "x"}, nil
		}
		return right(ctx, e)
	}
}

var known sync.Map

func seen(id string) bool {
	_, ok := known.LoadOrStore(id, true)
	return ok
}

// problems runs one case with notifiers of one target.
func problems(t *testing.T, name string, change func(*notifier)) (failed []string) {
	t.Helper()
	s := new(sink)
	n := Notifier{New: func(T) swarm.Notifier { return right(s, change) }, Received: s.received}
	for _, i := range items(t, n.direct, n.Received) {
		if i.Name == name {
			failed, _ = harness.Record(t.Context(), name, i.Run)
		}
	}
	return failed
}

// TestOnTheWire: what is not known is later, and an answer that breaks a rule is an error.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	ask := func(a swarm.NotifyAnswer) (swarm.NotifyAnswer, error) {
		n := Notifier{New: func(T) swarm.Notifier { return right(new(sink), func(n *notifier) { n.notify = answers(a) }) }}
		return n.wired(t).Notify(t.Context(), event("FAILED", "failed"))
	}
	again := time.Now().Add(time.Hour).UTC()
	for _, want := range []swarm.NotifyAnswer{
		{Outcome: swarm.NotifyAccepted},
		{Outcome: swarm.NotifyAccepted, Reason: "one of two"},
		{Outcome: swarm.NotifyNever, Reason: "gone"},
		{Outcome: swarm.NotifyLater, Reason: "busy", Again: again},
	} {
		if got, err := ask(want); err != nil || got != want {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if _, err := ask(swarm.NotifyAnswer{Outcome: "perhaps"}); err == nil || !strings.Contains(err.Error(), "accepted, later or never") {
		t.Errorf("an unknown outcome: %v", err)
	}
	n := Notifier{New: func(T) swarm.Notifier { return right(new(sink), nil) }}
	if _, err := n.wired(t).Notify(t.Context(), swarm.Event{}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an event without an id: %v", err)
	}
}
