package notifiertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// testCase checks one rule of the contract.
type testCase struct {
	name, rule string
	// received says that it needs to know what has arrived, check that it needs
	// [swarm.CapCheck].
	received, check bool
	run             func(k *kit)
}

// kit is what a case works with.
type kit struct {
	harness.Kit
	subject
	open     func(T) subject
	received func() string
}

// items are the cases of a plugin, which is opened once to ask for its capabilities.
func items(t T, open func(T) subject, received func() string) []harness.Item {
	t.Helper()
	probe := open(t)
	var items []harness.Item
	for _, c := range cases() {
		i := harness.Item{Name: c.name, Rule: c.rule, Run: func(t T) {
			t.Helper()
			c.run(&kit{Kit: harness.NewKit(t, c.rule), subject: open(t), open: open, received: received})
		}}
		switch {
		case c.received && received == nil:
			i.Skip = "it is not known what arrives"
		case c.check && probe.check == nil:
			i.Skip = fmt.Sprintf("it does not have the capability %q", swarm.CapCheck)
		}
		items = append(items, i)
	}
	return items
}

func cases() []testCase {
	return []testCase{
		{
			name: "notify-answer",
			rule: "Notify answers accepted, later or never, with a reason unless it is accepted, and with a time only for later",
			run: func(k *kit) {
				for _, e := range events() {
					k.notify(e)
				}
			},
		},
		{
			name: "notify-arrives", received: true,
			rule: "an event that Notify has accepted has arrived, in the order of the calls",
			run: func(k *kit) {
				last := -1
				for _, e := range events() {
					k.accepted(e)
					at := strings.LastIndex(k.received(), e.Worker)
					if at <= last {
						k.Broken("%s of the worker %s has not arrived after the one before it", e.Kind, e.Worker)
					}
					last = at
				}
			},
		},
		{
			name: "notify-again", received: true,
			rule: "an event that is delivered again is accepted again, by another process too",
			run: func(k *kit) {
				e := event("FAILED", "failed", "ended")
				k.accepted(e)
				k.accepted(e)
				k.subject = k.open(k.T)
				e.Attempt++
				k.accepted(e)
			},
		},
		{
			name: "notify-unknown-kind",
			rule: "an event of a kind that the plugin does not know holds up no other: it is accepted or dropped where a known one is accepted",
			run: func(k *kit) {
				if k.notify(event("FAILED", "failed", "ended")).Outcome != swarm.NotifyAccepted {
					return // nothing arrives at present
				}
				if a := k.notify(event("PLUGINTEST NEW", "plugintest-new")); a.Outcome == swarm.NotifyLater {
					k.Broken("it answers later: %s", a.Reason)
				}
			},
		},
		{
			name: "notify-strange-text",
			rule: "a text of a worker never becomes markup or a command: any text is accepted or dropped where a plain one is accepted",
			run: func(k *kit) {
				if k.notify(event("BLOCKED", "blocked")).Outcome != swarm.NotifyAccepted {
					return // nothing arrives at present
				}
				for _, text := range []string{
					"", "a\x1b[31mb\x00c\rd", "<b>&amp;\"'`$(exit 1)\\", "\u202e\u200bé漢字🙂", "--help", "-x\n\nX-Header: a",
					strings.Repeat("long ", 800),
				} {
					e := event("BLOCKED", "blocked")
					e.Text = text
					if a := k.notify(e); a.Outcome == swarm.NotifyLater {
						k.Broken("it answers %.40q with later: %s", text, a.Reason)
					}
				}
			},
		},
		{
			name: "notify-ended-context",
			rule: "Notify returns soon after its context has ended",
			run: func(k *kit) {
				ctx, cancel := context.WithCancel(k.Ctx)
				cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = k.Notify(ctx, event("FAILED", "failed", "ended")) // both results are right
				}()
				select {
				case <-done:
				case <-time.After(harness.Patience):
					k.Broken("it has not returned after %s", harness.Patience)
				}
			},
		},
		{
			name: "check", check: true,
			rule: "Check returns nil where the plugin works",
			run: func(k *kit) {
				k.Check("Check", k.check(k.Ctx))
			},
		},
	}
}

// events are one event of each usual kind, in an order in which they may happen.
func events() []swarm.Event {
	failed := event("FAILED", "failed", "ended")
	failed.Exit = &swarm.Exit{Code: 2, Cause: swarm.CauseExited, Time: failed.Time}
	failed.Text = "exit status 2"
	return []swarm.Event{
		event("BLOCKED", "blocked"), event("LIMITED", "limited"), event("BROKEN", "broken"), event("CRASH LOOP", "crash-loop"),
		failed, event("DIED", "lost", "ended"), event("EXITED", "ended"),
	}
}

// event returns an event of a worker that no other event has.
func event(kind string, on ...string) swarm.Event {
	id, _ := harness.NewID()
	final := on[len(on)-1] == "ended"
	return swarm.Event{
		ID: "1-" + id, Time: time.Now(), Kind: kind, Worker: id, WorkerID: id, Text: "a test of the plugin",
		Final: final, Tags: []string{"plugintest"}, On: on, Attempt: 1,
	}
}

// notify delivers an event and checks the answer.
func (k *kit) notify(e swarm.Event) swarm.NotifyAnswer {
	k.Helper()
	a, err := k.Notify(k.Ctx, e)
	if err == nil {
		err = swarm.CheckNotifyAnswer(a)
	}
	if err != nil {
		k.Broken("Notify of %s %.40q: %v", e.Kind, e.Text, err)
	}
	return a
}

// accepted delivers an event that has to be accepted.
func (k *kit) accepted(e swarm.Event) {
	k.Helper()
	if a := k.notify(e); a.Outcome != swarm.NotifyAccepted {
		k.Broken("Notify of %s answers %q: %s", e.Kind, a.Outcome, a.Reason)
	}
}
