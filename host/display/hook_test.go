package display

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
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
		{"both say so", profile.Idle, worker.SourceScreen, hookstate.Idle, self.Identity, time.Hour, "idle hook"},
		{"a prompt between two steps", profile.Idle, worker.SourceScreen, hookstate.Working, self.Identity, 0, "working hook"},
		{"a prompt that stays", profile.Idle, worker.SourceScreen, hookstate.Working, self.Identity, time.Hour, "idle screen"},
		{"a dialog", profile.Blocked, worker.SourceScreen, hookstate.Working, self.Identity, 0, "blocked screen"},
		{"a dialog that both know", profile.Blocked, worker.SourceScreen, hookstate.Blocked, self.Identity, 0, "blocked screen"},
		{"a dialog that is gone", profile.Working, worker.SourceScreen, hookstate.Blocked, self.Identity, 0, "working screen"},
		{"work after a stop", profile.Working, worker.SourceScreen, hookstate.Idle, self.Identity, 0, "working screen"},
		{"a headless agent", profile.Working, worker.SourceProcess, hookstate.Idle, self.Identity, 0, "working process"},
		{"the agent has ended", profile.Unknown, "", hookstate.Idle, gone, 0, "unknown "},
	} {
		r := New(Options{Dir: statedir.Dir(t.TempDir()), Logger: hclog.NewNullLogger()})
		w := worker.Worker{ID: "w", State: &worker.AgentState{State: tt.screen, Source: tt.source}}
		run := r.opts.Dir.RunDir(w.ID)
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

func TestHookStateIsAState(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]profile.State{hookstate.Working: profile.Working, hookstate.Idle: profile.Idle, hookstate.Blocked: profile.Blocked} {
		if profile.State(said) != want {
			t.Errorf("%q is not %q", said, want)
		}
	}
}
