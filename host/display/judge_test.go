package display

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestHookAndScreen judges reports of hooks that are in a run directory.
func TestHookAndScreen(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	gone := self.Identity
	gone.Start++
	for _, tt := range []struct {
		name   string
		screen profile.State
		said   string
		agent  proc.Identity
		quiet  time.Duration
		want   string
	}{
		{"a screen that no rule knows", profile.Unknown, hookstate.Idle, self.Identity, 0, "idle hook"},
		{"it asks", profile.Unknown, hookstate.Blocked, self.Identity, time.Hour, "blocked hook ?"},
		{"a prompt between two steps", profile.Idle, hookstate.Working, self.Identity, 0, "working hook"},
		{"a prompt that stays", profile.Idle, hookstate.Working, self.Identity, time.Hour, "idle screen"},
		{"work after a stop", profile.Working, hookstate.Idle, self.Identity, 0, "working screen"},
		{"the agent has ended", profile.Unknown, hookstate.Idle, gone, 0, "unknown "},
	} {
		r := &Reader{
			Dir: statedir.Dir(t.TempDir()), Logger: hclog.NewNullLogger(), Profiles: profile.NewLoader(profile.Dirs{}),
		}
		rec := registry.Record{}
		rec.ID = "w"
		rec.Command = []string{"claude"}
		run := r.Dir.RunDir(rec.ID)
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
		s, _ := r.judge(set.Named("claude"), &rec, &profile.Look{State: tt.screen}, at, at.Add(tt.quiet))
		got := strings.TrimSuffix(string(s.State)+" "+s.Source+" "+s.Question, " ")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestHookStateIsAState(t *testing.T) {
	t.Parallel()
	states := profile.States()
	for _, said := range hookstate.States() {
		found := false
		for _, s := range states {
			found = found || s == profile.State(said)
		}
		if !found {
			t.Errorf("%q is not a state of agents", said)
		}
	}
}

// TestWaitedState: a wait for idle has ended with an idle agent, and with one that stopped, after
// each has been so for a moment.
func TestWaitedState(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	for _, tt := range []struct {
		name   string
		until  []profile.State
		states []profile.State // one each second
		over   int             // the second in which it has ended; -1: none
	}{
		{"idle", []profile.State{profile.Idle}, []profile.State{profile.Working, profile.Idle, profile.Idle}, 2},
		{"idle for a moment", []profile.State{profile.Idle}, []profile.State{profile.Idle, profile.Working, profile.Idle}, -1},
		{"limited", []profile.State{profile.Idle}, []profile.State{profile.Limited, profile.Limited}, 1},
		{"broken for a moment", []profile.State{profile.Idle}, []profile.State{profile.Broken, profile.Working, profile.Broken}, -1},
		{"background", []profile.State{profile.Idle}, []profile.State{profile.Background, profile.Background, profile.Background}, -1},
		{"asks", []profile.State{profile.Idle}, []profile.State{profile.Blocked, profile.Blocked}, -1},
		{"waits for a question", []profile.State{profile.Blocked}, []profile.State{profile.Broken, profile.Broken, profile.Blocked}, 2},
		{"waits for an error", []profile.State{profile.Broken}, []profile.State{profile.Idle, profile.Broken, profile.Broken}, 2},
	} {
		a, over := waitedState{until: tt.until}, -1
		for i, s := range tt.states {
			if a.over(judgement.State{State: s}, 0, begin.Add(time.Duration(i)*time.Second)) && over < 0 {
				over = i
			}
		}
		if over != tt.over {
			t.Errorf("%s: over after %d s, want %d", tt.name, over, tt.over)
		}
	}
}

// TestUnchangedScreen: an output that changes nothing of what the screen means, such as another
// tip, does not begin the state anew.
func TestUnchangedScreen(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	var a waitedState
	idle, works := &profile.Look{State: profile.Idle}, &profile.Look{State: profile.Working}
	for i, tt := range []struct {
		look *profile.Look
		last time.Time
		want time.Time
	}{
		{idle, at(-60), at(-60)},
		{idle, at(1), at(-60)},
		{works, at(2), at(2)},
		{idle, at(3), at(3)},
		{idle, at(4), at(3)},
	} {
		if got := a.shows(tt.look, tt.last, at(i)); !got.Equal(tt.want) {
			t.Errorf("%d: unchanged since %v, want %v", i, got.Sub(begin), tt.want.Sub(begin))
		}
	}
}
