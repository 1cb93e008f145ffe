package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestHookAndScreen merges what hooks say with what a screen shows.
func TestHookAndScreen(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	gone := self.Identity
	gone.Start++
	for _, tt := range []struct {
		name   string
		screen profile.State
		source string
		said   string
		agent  proc.Identity
		quiet  time.Duration
		want   string
	}{
		{"a screen that no rule knows", profile.Unknown, "", hookstate.Idle, self.Identity, 0, "idle hook"},
		{"it asks", profile.Unknown, "", hookstate.Blocked, self.Identity, time.Hour, "blocked hook ?"},
		{"both say so", profile.Idle, SourceScreen, hookstate.Idle, self.Identity, time.Hour, "idle hook"},
		{"a prompt between two steps", profile.Idle, SourceScreen, hookstate.Working, self.Identity, 0, "working hook"},
		{"a prompt that stays", profile.Idle, SourceScreen, hookstate.Working, self.Identity, time.Hour, "idle screen"},
		{"a dialog", profile.Blocked, SourceScreen, hookstate.Working, self.Identity, 0, "blocked screen"},
		{"a dialog that both know", profile.Blocked, SourceScreen, hookstate.Blocked, self.Identity, 0, "blocked screen"},
		{"a dialog that is gone", profile.Working, SourceScreen, hookstate.Blocked, self.Identity, 0, "working screen"},
		{"work after a stop", profile.Working, SourceScreen, hookstate.Idle, self.Identity, 0, "working screen"},
		{"a headless agent", profile.Working, SourceProcess, hookstate.Idle, self.Identity, 0, "working process"},
		{"the agent has ended", profile.Unknown, "", hookstate.Idle, gone, 0, "unknown "},
	} {
		r := newRig(t)
		w := Worker{ID: "w", State: &AgentState{State: tt.screen, Source: tt.source}}
		run := r.RunDir(w.ID)
		if err := os.MkdirAll(run, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, rundir.StatusFile), rundir.EncodeStatus(rundir.Status{Version: 1, Main: self.Identity}), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		if err := hookstate.Write(run, hookstate.Claim{Client: "claude", State: tt.said, Question: "?", Main: self.Identity, Agent: tt.agent, Since: at, At: at}); err != nil {
			t.Fatal(err)
		}
		r.hear(&w, at.Add(tt.quiet))
		got := strings.TrimSuffix(string(w.State.State)+" "+w.State.Source+" "+w.State.Question, " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

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
		{"ends", last(hookstate.Idle, ""), HookEvent{Ends: true}, claim("", "", now)},
	} {
		tt.event.Client, tt.event.Session = "claude", "s"
		if diff := cmp.Diff(tt.want, claimAfter(tt.last, tt.event, at, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestHookStateIsAState(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]profile.State{hookstate.Working: profile.Working, hookstate.Idle: profile.Idle, hookstate.Blocked: profile.Blocked} {
		if profile.State(said) != want {
			t.Errorf("%q is not %q", said, want)
		}
	}
}
