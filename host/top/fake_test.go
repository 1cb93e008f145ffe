package top

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fakeHost answers what a test has put into it, and notes what it is asked to do.
type fakeHost struct {
	mu      sync.Mutex
	workers []worker.Worker
	events  []registry.Event
	output  []swarm.Output
	screen  []string
	calls   []string
}

func (f *fakeHost) note(words ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, strings.Join(words, " "))
}

func (f *fakeHost) called() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fakeHost) Workers(context.Context, worker.Selection) ([]worker.Worker, []string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.workers), nil, nil
}

func (f *fakeHost) Watch(ctx context.Context, req watch.Request) error {
	req.Ready()
	<-ctx.Done()
	return ctx.Err()
}

func (f *fakeHost) Logs(ctx context.Context, _ string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	for _, out := range f.output {
		if err := each(out); err != nil {
			return err
		}
	}
	if o.Follow {
		<-ctx.Done()
	}
	return nil
}

func (f *fakeHost) Peek(context.Context, string, int) (display.Peek, error) {
	return display.Peek{Lines: f.screen, Screen: f.screen != nil}, nil
}

func (f *fakeHost) Details(_ context.Context, id string, _ host.DetailsRequest) (host.Details, []string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.workers, func(w worker.Worker) bool { return w.ID == id })
	if i < 0 {
		return host.Details{}, nil, store.ErrNotFound
	}
	return host.Details{Worker: f.workers[i]}, nil, nil
}

func (f *fakeHost) Events(context.Context, registry.EventQuery) ([]registry.Event, error) {
	return f.events, nil
}

func (f *fakeHost) Changes(_ context.Context, ws []worker.Worker, _ time.Duration) map[string]compare.Changes {
	all := map[string]compare.Changes{}
	for n, w := range ws {
		all[w.ID] = compare.Changes{Files: 1, Added: 12 + n, Removed: 3}
	}
	return all
}

func (f *fakeHost) Meter() *stats.Meter {
	return &stats.Meter{Roster: unmeasured{}}
}

// unmeasured is a roster without workers.
type unmeasured struct{}

func (unmeasured) See(context.Context, worker.Selection) ([]registry.Record, []string, error) {
	return nil, nil, errors.New("nothing is measured")
}

func (unmeasured) Observe(context.Context, []registry.Record) []worker.Worker { return nil }

func (f *fakeHost) Attach(_ context.Context, name string, _ bool) (swarm.Attachment, error) {
	f.note("attach", name)
	return swarm.Attachment{}, errors.New("backend 'process' does not support attach")
}

func (f *fakeHost) Compare(context.Context, string, swarm.DiffOptions) (swarm.WorkspaceRef, swarm.Diff, error) {
	return swarm.WorkspaceRef{}, swarm.Diff{Files: []swarm.FileChange{{Path: "login.go", Added: 12, Removed: 3}}}, nil
}

func (f *fakeHost) List(context.Context, ...string) ([]swarm.SavedWork, []string, error) {
	return []swarm.SavedWork{{Ref: "refs/r/fix/1", Name: "fix", Title: "uncommitted changes"}}, nil, nil
}

func (f *fakeHost) outcomes(sel worker.Selection) []input.Outcome {
	var outs []input.Outcome
	for _, id := range sel.Names {
		outs = append(outs, input.Outcome{Worker: worker.Worker{Spec: registry.Spec{ID: id, Name: strings.TrimPrefix(id, "id-")}}})
	}
	return outs
}

func (f *fakeHost) Deliver(_ context.Context, sel worker.Selection, req input.DeliverRequest) ([]input.Outcome, error) {
	f.note(append([]string{"send", string(req.Text)}, sel.Names...)...)
	return f.outcomes(sel), nil
}

func (f *fakeHost) Send(_ context.Context, sel worker.Selection, in swarm.Input) ([]input.Outcome, error) {
	kind := map[swarm.InputKind]string{swarm.InputInterrupt: "interrupt"}[in.Kind]
	f.note(append([]string{kind, string(in.Data)}, sel.Names...)...)
	return f.outcomes(sel), nil
}

func (f *fakeHost) Press(_ context.Context, sel worker.Selection, req input.KeysRequest) ([]input.Outcome, error) {
	f.note(append([]string{"keys", req.Keys}, sel.Names...)...)
	return f.outcomes(sel), nil
}

func (f *fakeHost) Answer(_ context.Context, name string, r deliver.Reply) (deliver.Answered, error) {
	words := append([]string{"answer", name}, r.Choices...)
	for _, word := range []string{r.Choice, r.Text} {
		if word != "" {
			words = append(words, word)
		}
	}
	if r.Submit {
		words = append(words, "submit")
	}
	f.note(append(words, r.Digest)...)
	return deliver.Answered{}, nil
}

func (f *fakeHost) Kill(_ context.Context, sel worker.Selection, _ kill.Request) ([]kill.Outcome, error) {
	f.note(append([]string{"kill"}, sel.Names...)...)
	var outs []kill.Outcome
	for _, id := range sel.Names {
		outs = append(outs, kill.Outcome{Worker: worker.Worker{Spec: registry.Spec{ID: id, Name: strings.TrimPrefix(id, "id-")}}})
	}
	return outs, nil
}

func (f *fakeHost) Respawn(_ context.Context, name string, _ spawn.RespawnRequest) (worker.Worker, error) {
	f.note("respawn", name)
	return worker.Worker{}, errors.New("no such program")
}

func (f *fakeHost) Clean(_ context.Context, sel worker.Selection, _ kill.CleanRequest) ([]kill.Outcome, error) {
	f.note(append([]string{"clean"}, sel.Names...)...)
	return nil, nil
}

// rig is a model without a terminal. Its commands are run by hand.
type rig struct {
	testing.TB
	*model
	host *fakeHost
}

// clock is the time of all tests.
var clock = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newRig returns a model of a terminal of that size, with workers.
// newRig shows workers in a dashboard, all of them: an open question would be shown first.
func newRig(t testing.TB, width, height int, ws ...worker.Worker) *rig {
	t.Helper()
	return openRig(t, width, height, true, ws...)
}

// openRig opens a dashboard. met says that it has been open before.
func openRig(t testing.TB, width, height int, met bool, ws ...worker.Worker) *rig {
	t.Helper()
	f := &fakeHost{workers: ws}
	ctx, cancel := context.WithCancel(t.Context())
	s := newSession(ctx, Options{Host: f, Workspaces: f, Rescues: f})
	t.Cleanup(func() { cancel(); s.running.Wait() })
	m := newModel(s, theme{})
	m.met = met
	m.clock = func() time.Time { return clock }
	r := &rig{t, m, f}
	r.send(tea.WindowSizeMsg{Width: width, Height: height})
	b := dash.New(f, nil)
	ready := make(chan struct{})
	bctx, stop := context.WithCancel(ctx)
	go func() { b.Run(bctx); close(ready) }()
	for !b.Snapshot().Read {
		time.Sleep(time.Millisecond)
	}
	b.Measured(figuresFor(ws))
	stop()
	<-ready
	s.board = b
	r.send(boardMsg(b.Snapshot()))
	return r
}

// figuresFor returns figures for the workers that run.
func figuresFor(ws []worker.Worker) map[string]dash.Figure {
	all := map[string]dash.Figure{}
	for n, w := range ws {
		if w.Status == worker.StatusRunning {
			all[w.ID] = dash.Figure{Time: clock, CPU: float64(n) / 10, Memory: int64(n+1) << 24}
		}
	}
	return all
}

// send gives the model a message, and drops what it wants to be done.
func (r *rig) send(msg tea.Msg) { _, _ = r.Update(msg) }

// finish gives the model a message, and does at once what it wants to be done.
func (r *rig) finish(msg tea.Msg) {
	_, cmd := r.Update(msg)
	r.run(cmd)
}

func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	case tickMsg, followMsg, nil:
	default:
		r.send(msg)
	}
}

// press presses keys, by their names.
func (r *rig) press(names ...string) {
	for _, name := range names {
		r.finish(keyNamed(name))
	}
}

// types types a text.
func (r *rig) types(text string) {
	for _, c := range text {
		r.send(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

func keyNamed(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// text returns what the terminal shows, without colours.
func (r *rig) text() string { return ansi.Strip(r.View().Content) }

func runningWorker(name string, change ...func(*worker.Worker)) worker.Worker {
	w := worker.Worker{
		Spec:   registry.Spec{ID: "id-" + name, Name: name, Backend: "process", Command: []string{"make", "watch"}},
		Status: worker.StatusRunning, PID: 7, Started: clock.Add(-2 * time.Hour),
	}
	for _, c := range change {
		c(&w)
	}
	return w
}

func ended(name string, code int, cause swarm.Cause) worker.Worker {
	return worker.Worker{
		Spec:   registry.Spec{ID: "id-" + name, Name: name, Command: []string{"sh", "-c", "exit"}},
		Status: worker.StatusStopped, Exit: &swarm.Exit{Code: code, Cause: cause}, Ended: clock.Add(-5 * time.Minute),
	}
}

// agent returns a worker of a coding agent.
func agent(name string, state profile.State) worker.Worker {
	return runningWorker(name, func(w *worker.Worker) {
		w.Where = swarm.Where{Kind: "tmux window", Name: "swarm:" + name}
		w.Command = []string{"claude"}
		w.Workspace = &swarm.WorkspaceRef{Path: "/w/" + name, Branch: name, Base: "/repo"}
		w.State = &judgement.State{State: state, Since: clock.Add(-3 * time.Minute)}
		if state == profile.Blocked {
			w.State.Question = "Do you want to run make deploy?"
			w.State.Choices = []profile.Choice{{Key: "1", Label: "Yes", Selected: true}, {Key: "2", Label: "No"}}
			w.State.Dialog = profile.Dialog{Text: []string{"Bash command", "  make deploy", "Do you want to run make deploy?"}, Digest: "d1"}
			w.State.Dialog.Lines = append(w.State.Dialog.Text, "❯ 1. Yes", "  2. No")
		}
	})
}
