package notifier

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/shared/proc"
)

func TestClaimAfter(t *testing.T) {
	t.Parallel()
	at := caller.Hook{Main: proc.Identity{PID: 1, Start: 1}, Agent: proc.Identity{PID: 2, Start: 2}}
	before, now := time.Now().Add(-time.Minute), time.Now()
	claim := func(state, question string, since time.Time) hookstate.Claim {
		c := hookstate.Claim{Client: "claude", Session: "s", Main: at.Main, Agent: at.Agent, State: state, Question: question, Since: since, At: since}
		if since.Equal(before) {
			c.At = now
		}
		return c
	}
	last := func(state, question string) hookstate.Claim {
		c := claim(state, question, before)
		c.At = before
		return c
	}
	other := last(hookstate.Idle, "")
	other.Agent.PID = 3
	for _, tt := range []struct {
		name  string
		last  hookstate.Claim
		event HookEvent
		want  hookstate.Claim
	}{
		{"the first", hookstate.Claim{}, HookEvent{State: hookstate.Working}, claim(hookstate.Working, "", now)},
		{"the same", last(hookstate.Working, ""), HookEvent{State: hookstate.Working}, claim(hookstate.Working, "", before)},
		{"another", last(hookstate.Working, ""), HookEvent{State: hookstate.Idle}, claim(hookstate.Idle, "", now)},
		{"another question", last(hookstate.Blocked, "a"), HookEvent{State: hookstate.Blocked, Question: "b"}, claim(hookstate.Blocked, "b", before)},
		{"the same question", last(hookstate.Blocked, "a"), HookEvent{State: hookstate.Blocked, Question: "b", Repeats: true}, claim(hookstate.Blocked, "a", before)},
		{"none", last(hookstate.Blocked, "a"), HookEvent{}, claim(hookstate.Blocked, "a", before)},
		{"compacted", last(hookstate.Working, ""), HookEvent{Begins: true}, claim(hookstate.Working, "", before)},
		{"begins in another process", other, HookEvent{Begins: true}, claim("", "", now)},
		{"the prompt of an agent with background work", last(hookstate.Background, ""), HookEvent{State: hookstate.Idle, Repeats: true}, claim(hookstate.Background, "", before)},
		{"the prompt of a limited agent", last(hookstate.Limited, ""), HookEvent{State: hookstate.Idle, Repeats: true}, claim(hookstate.Limited, "", before)},
		{"the end of a turn", last(hookstate.Background, ""), HookEvent{State: hookstate.Idle}, claim(hookstate.Idle, "", now)},
		{"signed in", last(hookstate.Broken, ""), HookEvent{Repeats: true, Recovers: true}, claim(hookstate.Idle, "", now)},
		{"signed in while it asks", last(hookstate.Blocked, "a"), HookEvent{Repeats: true, Recovers: true}, claim(hookstate.Blocked, "a", before)},
		{"cleared", last(hookstate.Broken, ""), HookEvent{Begins: true}, claim(hookstate.Idle, "", now)},
		{"ends", last(hookstate.Idle, ""), HookEvent{Ends: true}, claim("", "", now)},
	} {
		tt.event.Client, tt.event.Session = "claude", "s"
		if diff := cmp.Diff(tt.want, claimAfter(tt.last, tt.event, at, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
