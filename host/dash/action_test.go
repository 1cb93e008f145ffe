package dash

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func item(w worker.Worker) Item { return Item{Worker: w, State: stateOf(&w, false)} }

func TestLine(t *testing.T) {
	t.Parallel()
	a, b := item(runningWorker("a")), item(runningWorker("b"))
	for want, action := range map[string]Action{
		"swarm kill a b":                     {Verb: Kill, Items: []Item{a, b}},
		"swarm respawn a && swarm respawn b": {Verb: Respawn, Items: []Item{a, b}},
		`swarm send a 'it'\''s done'`:        {Verb: Send, Items: []Item{a}, Text: "it's done"},
		"swarm keys a Escape C-c":            {Verb: Keys, Items: []Item{a}, Text: " Escape  C-c"},
		"swarm answer a 1":                   {Verb: Answer, Items: []Item{a}, Text: "1"},
		"swarm attach a":                     {Verb: Attach, Items: []Item{a}},
		"swarm interrupt a b":                {Verb: Interrupt, Items: []Item{a, b}},
		"swarm clean b":                      {Verb: Clean, Items: []Item{b}},
	} {
		if got := action.Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSuits(t *testing.T) {
	t.Parallel()
	asks := runningWorker("asks")
	asks.State = &judgement.State{State: profile.Blocked}
	process := runningWorker("process")
	process.Can = []swarm.Capability{swarm.CapInput, swarm.CapStdin, swarm.CapSignal}
	reads := process
	reads.Stdin = true
	tmux := runningWorker("tmux")
	tmux.Can = []swarm.Capability{swarm.CapInput, swarm.CapScreen, swarm.CapAttach}
	mute := runningWorker("mute")
	mute.Can = []swarm.Capability{}
	for name, c := range map[string]struct {
		w    worker.Worker
		want []Verb
	}{
		"running": {runningWorker("a"), []Verb{Attach, Send, Keys, Interrupt, Kill, Respawn}},
		"asks":    {asks, []Verb{Attach, Send, Answer, Keys, Interrupt, Kill, Respawn}},
		"process": {process, []Verb{Interrupt, Kill, Respawn}},
		"reads":   {reads, []Verb{Send, Interrupt, Kill, Respawn}},
		"tmux":    {tmux, []Verb{Attach, Send, Keys, Interrupt, Kill, Respawn}},
		"mute":    {mute, []Verb{Kill, Respawn}},
		"ended":   {ended("a", 1, swarm.CauseExited), []Verb{Respawn, Clean}},
		"unknown": {worker.Worker{Status: worker.StatusUnknown}, []Verb{Kill}},
	} {
		var got []Verb
		for _, v := range Verbs {
			if v.Suits(item(c.w)) {
				got = append(got, v)
			}
			if v.About() == "" {
				t.Errorf("%s says nothing of itself", v)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRisk(t *testing.T) {
	t.Parallel()
	now := time.Now()
	works := runningWorker("alice")
	works.State = &judgement.State{State: profile.Working, Since: now.Add(-3 * time.Minute)}
	all := []Item{item(runningWorker("make")), item(works), item(ended("old", 1, swarm.CauseExited))}
	want := []string{"alice is at work (3m): its turn is lost"}
	if diff := cmp.Diff(want, Action{Verb: Kill, Items: all}.Risk(now)); diff != "" {
		t.Errorf("kill (-want +got):\n%s", diff)
	}
	if risk := (Action{Verb: Interrupt, Items: all}).Risk(now); risk != nil {
		t.Errorf("an interrupt loses %v", risk)
	}
}

// TestAsks: an action that loses something asks first, and so does one that ends several
// workers.
func TestAsks(t *testing.T) {
	t.Parallel()
	a, b, old := item(runningWorker("a")), item(runningWorker("b")), item(ended("old", 1, swarm.CauseExited))
	tree := old
	tree.Workspace = &swarm.WorkspaceRef{Path: "/w"}
	for _, c := range []struct {
		a    Action
		want bool
		risk []string
	}{
		{Action{Verb: Kill, Items: []Item{a}}, false, nil},
		{Action{Verb: Kill, Items: []Item{a, b}}, true, nil},
		{Action{Verb: Respawn, Items: []Item{a, old}}, false, nil},
		{Action{Verb: Respawn, Items: []Item{a, b}}, true, nil},
		{Action{Verb: Interrupt, Items: []Item{a, b}}, false, nil},
		{Action{Verb: Clean, Items: []Item{old}}, true, []string{"old: its log is removed"}},
		{Action{Verb: Clean, Items: []Item{tree}}, true, []string{"old: its log is removed, and its workspace unless work would be lost"}},
	} {
		if got := c.a.Asks(time.Now()); got != c.want {
			t.Errorf("%s asks: %v", c.a.Line(), got)
		}
		if diff := cmp.Diff(c.risk, c.a.Risk(time.Now())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.a.Line(), diff)
		}
	}
}

// TestRefusals: what does not suit a worker says why, in whole sentences.
func TestRefusals(t *testing.T) {
	t.Parallel()
	process := runningWorker("process")
	process.Can = []swarm.Capability{swarm.CapInput, swarm.CapStdin}
	mute := runningWorker("mute")
	mute.Can, mute.Backend = []swarm.Capability{}, "mime"
	killed := ended("done", -1, swarm.CauseKilled)
	for _, c := range []struct {
		v    Verb
		w    worker.Worker
		want string
	}{
		{Keys, ended("done", 0, swarm.CauseExited), "cannot send keys to 'done': it has ended (exited 0)"},
		{Send, ended("done", 3, swarm.CauseExited), "cannot send to 'done': it has ended (exited 3)"},
		{Kill, killed, "cannot kill 'done': it has already ended"},
		{Clean, process, "cannot clean 'process': it has not ended; kill it first"},
		{Send, process, "cannot send to 'process': it has no terminal, and was spawned without --stdin"},
		{Attach, process, "cannot attach to 'process': it has no terminal"},
		{Answer, process, "cannot answer 'process': its agent asks nothing"},
		{Interrupt, mute, "cannot interrupt 'mute': its backend 'mime' takes no input"},
		{Respawn, worker.Worker{Spec: registry.Spec{Name: "far"}, Status: worker.StatusUnknown}, "cannot respawn 'far': it is unknown"},
	} {
		if i := item(c.w); c.v.Suits(i) || c.v.Refusal(i) != c.want {
			t.Errorf("%q, want %q", c.v.Refusal(i), c.want)
		}
	}
	if got := Kill.Skipped(3); got != "3 others had already ended" {
		t.Error(got)
	}
	if got := Clean.Skipped(1); got != "1 other has not ended" {
		t.Error(got)
	}
}

// slowKiller is a host that kills when a test says so.
type slowKiller struct {
	Doer
	killed chan struct{}
	err    error
}

func (d *slowKiller) Kill(_ context.Context, sel worker.Selection, req kill.Request) ([]kill.Outcome, error) {
	req.Progress(kill.Event{Worker: "a", Deadline: time.Unix(100, 0)})
	<-d.killed
	return []kill.Outcome{{Worker: worker.Worker{Spec: registry.Spec{Name: "a"}}, Err: d.err, Warnings: []worker.Warning{{Text: "careful", Hint: "the workspace is /w"}}}}, nil
}

// TestDo: the board shows a kill while it is under way.
func TestDo(t *testing.T) {
	t.Parallel()
	b := New(nil, nil)
	b.put([]worker.Worker{runningWorker("a")}, true)
	to := &slowKiller{killed: make(chan struct{}), err: errors.New("no")}
	done := make(chan []Outcome)
	changed := make(chan struct{}, 10)
	b.redraw = func() { changed <- struct{}{} }
	go func() { done <- b.Do(t.Context(), to, Action{Verb: Kill, Items: b.Snapshot().Items}) }()
	for {
		<-changed
		if d := b.Snapshot().Items[0].Doing; d.Text == "killing" && d.Deadline.Equal(time.Unix(100, 0)) {
			break
		}
	}
	close(to.killed)
	outs := <-done
	if len(outs) != 1 || outs[0].Err == nil || !slices.Equal(outs[0].Notes, []string{"careful", "the workspace is /w"}) {
		t.Errorf("%+v", outs)
	}
	if d := b.Snapshot().Items[0].Doing; d != (Pending{}) {
		t.Errorf("it is still shown as %+v", d)
	}
}
