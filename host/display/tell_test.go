package display

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
)

func TestStateEvent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		state *judgement.State
		want  registry.EventKind
		text  string
	}{
		{nil, "", ""},
		{&judgement.State{State: profile.Unknown}, "", ""},
		{&judgement.State{State: profile.Working}, history.Working, ""},
		{&judgement.State{State: profile.Blocked, Question: "Proceed?"}, history.Blocked, "Proceed?"},
		{&judgement.State{State: profile.Idle, Since: now.Add(-time.Minute)}, history.Idle, ""},
		{&judgement.State{State: profile.Idle, Since: now}, "", ""}, // between two steps
		{&judgement.State{State: profile.Background, Reason: "1 shell"}, history.Background, "1 shell"},
		{&judgement.State{State: profile.Compacting}, history.Compacting, ""},
		{&judgement.State{State: profile.Limited, Reason: "hit your limit"}, history.Limited, "hit your limit"},
		{&judgement.State{State: profile.Limited, Reason: "hit your limit", Since: now}, "", ""},
		{&judgement.State{State: profile.Broken, Reason: "Please run /login", Since: now.Add(-time.Minute)}, history.Broken, "Please run /login"},
	} {
		kind, text := stateEvent(c.state, now)
		if kind != c.want || text != c.text {
			t.Errorf("%+v: %q %q", c.state, kind, text)
		}
	}
}
