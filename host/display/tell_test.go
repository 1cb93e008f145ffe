package display

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
)

func TestStateEvent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		state *worker.AgentState
		want  history.Kind
		text  string
	}{
		{nil, "", ""},
		{&worker.AgentState{State: profile.Unknown}, "", ""},
		{&worker.AgentState{State: profile.Working}, history.Working, ""},
		{&worker.AgentState{State: profile.Blocked, Question: "Proceed?"}, history.Blocked, "Proceed?"},
		{&worker.AgentState{State: profile.Idle, Since: now.Add(-time.Minute)}, history.Idle, ""},
		{&worker.AgentState{State: profile.Idle, Since: now}, "", ""}, // between two steps
		{&worker.AgentState{State: profile.Background, Reason: "1 shell"}, history.Background, "1 shell"},
		{&worker.AgentState{State: profile.Compacting}, history.Compacting, ""},
		{&worker.AgentState{State: profile.Limited, Reason: "hit your limit"}, history.Limited, "hit your limit"},
		{&worker.AgentState{State: profile.Limited, Reason: "hit your limit", Since: now}, "", ""},
		{&worker.AgentState{State: profile.Broken, Reason: "Please run /login", Since: now.Add(-time.Minute)}, history.Broken, "Please run /login"},
	} {
		kind, text := stateEvent(c.state, now)
		if kind != c.want || text != c.text {
			t.Errorf("%+v: %q %q", c.state, kind, text)
		}
	}
}
