package top

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// Host is what a dashboard asks. A [host.Host] is one.
type Host interface {
	dash.Host
	Attach(ctx context.Context, name string, readOnly bool) (swarm.Attachment, error)
}

// The messages that a session sends to the model.
type (
	// boardMsg says how the board is now.
	boardMsg dash.Snapshot
	// outputMsg says that the followed worker has written.
	outputMsg struct{}
	// contentMsg is what a tab shows of a worker.
	contentMsg struct {
		id      string
		tab     tab
		entries []entry
		err     error
	}
	// savedMsg reports the work that was saved from a worker's workspaces.
	savedMsg struct {
		id      string
		entries []entry
	}
	// changesMsg are the changes of workspaces, by the ids of their workers.
	changesMsg map[string]compare.Changes
	// outcomeMsg says what came of an action.
	outcomeMsg struct {
		action   dash.Action
		skipped  string
		outcomes []dash.Outcome
	}
	// attachMsg is the program that attaches a worker.
	attachMsg struct {
		name string
		to   swarm.Attachment
		err  error
	}
	// backMsg says that the attached program has ended.
	backMsg struct {
		name string
		err  error
	}
)

type session struct {
	opts  Options
	ctx   context.Context //nolint:containedctx // it is the life of all that runs concurrently with the model
	board *dash.Board
	gauge *dash.Gauge
	// boardChanged and outputChanged get a value when there is more to show.
	boardChanged, outputChanged chan struct{}
	running                     sync.WaitGroup
}

func newSession(ctx context.Context, o Options) *session {
	s := &session{opts: o, ctx: ctx, boardChanged: make(chan struct{}, 1), outputChanged: make(chan struct{}, 1)}
	s.board = dash.New(o.Host, func() { wake.Up(s.boardChanged) })
	s.gauge = s.board.Gauge(o.Host.Meter(), measureEvery, measureShare)
	return s
}

// run keeps the model current through send, until the session's context ends.
func (s *session) run(send func(tea.Msg)) {
	s.running.Go(func() { s.board.Run(s.ctx) })
	s.running.Go(func() { s.gauge.Run(s.ctx) })
	s.running.Go(func() {
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-s.boardChanged:
				send(boardMsg(s.board.Snapshot()))
				_ = sleep.For(s.ctx, boardPause)
			}
		}
	})
	s.running.Go(func() {
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-s.outputChanged:
				send(outputMsg{})
			}
		}
	})
}

const (
	// boardPause is the shortest time between two pictures of the board.
	boardPause = 50 * time.Millisecond
	// measureEvery is the time between two looks at what workers use, and measureShare how many
	// times as long as the look itself it is at least.
	measureEvery, measureShare = 8 * time.Second, 200
)

type followed struct {
	*dash.Follower
	stop context.CancelFunc
}

func (s *session) follow(id string, screen bool) *followed {
	ctx, cancel := context.WithCancel(s.ctx)
	f := dash.Follow(s.opts.Host, id, func() { wake.Up(s.outputChanged) })
	f.Look(screen)
	s.running.Go(func() { f.Run(ctx) })
	return &followed{f, cancel}
}

// async runs something that takes time, and returns its answer as a message.
func (s *session) async(work func() tea.Msg) tea.Cmd {
	answer := make(chan tea.Msg, 1)
	s.running.Go(func() { answer <- work() })
	return func() tea.Msg { return <-answer }
}

func (s *session) do(a dash.Action, skipped string) tea.Cmd {
	return s.async(func() tea.Msg { return outcomeMsg{a, skipped, s.board.Do(s.ctx, s.opts.Host, a)} })
}

func (s *session) attach(i dash.Item) tea.Cmd {
	return s.async(func() tea.Msg {
		to, err := s.opts.Host.Attach(s.ctx, i.ID, false)
		return attachMsg{i.Name, to, err}
	})
}

const historyKept = 500

func (s *session) load(i dash.Item, at tab) tea.Cmd {
	return s.async(func() tea.Msg {
		c := contentMsg{id: i.ID, tab: at}
		switch at {
		case tabDetails:
			d, _, err := s.opts.Host.Details(s.ctx, i.ID, host.DetailsRequest{})
			c.entries, c.err = detailEntries(dash.FactsOf(d)), err
		case tabHistory:
			last := historyKept
			events, err := s.opts.Host.Events(s.ctx, registry.EventQuery{Worker: i.Name, Last: &last})
			c.entries, c.err = historyEntries(events), err
		case tabDiff:
			diff, err := dash.Diff(s.ctx, s.opts.Workspaces, i.ID)
			c.entries, c.err = diffEntries(diff, i.Name), err
		case tabScreen, tabLog:
		}
		return c
	})
}

// saved looks for the work that was saved from a worker's workspaces.
func (s *session) saved(i dash.Item) tea.Cmd {
	return s.async(func() tea.Msg {
		fact, err := dash.SavedOf(s.ctx, s.opts.Rescues, i.Name, time.Now())
		if err != nil || len(fact.Lines) == 0 {
			return savedMsg{id: i.ID}
		}
		return savedMsg{i.ID, append(detailEntries(dash.Facts{Facts: []dash.Fact{fact}}), entry{})}
	})
}

const compareLimit = 10 * time.Second

func (s *session) compare(ws []worker.Worker) tea.Cmd {
	return s.async(func() tea.Msg { return changesMsg(s.opts.Workspaces.Changes(s.ctx, ws, compareLimit)) })
}

// attachedPatience is how long the program that has the terminal may take to give it back.
const attachedPatience = 2 * time.Second

// child is a program that has the terminal while it runs.
type child struct{ cmd *exec.Cmd }

func (s *session) child(to swarm.Attachment) *child {
	// It ends when the person leaves it, with the terminal, or with the dashboard.
	cmd := exec.CommandContext(s.ctx, to.Command[0], to.Command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = attachedPatience
	cmd.Env = append(environ.Unset(s.opts.Env, to.Unset...), to.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.opts.In, s.opts.Out, os.Stderr
	if s.opts.Held != nil {
		cmd.ExtraFiles = []*os.File{s.opts.Held}
	}
	// Its view of a worker must not stay behind if this process is killed.
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGHUP)
	return &child{cmd}
}

// Run runs the program. Its end is bound to that of the thread which started it.
func (c *child) Run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return c.cmd.Run()
}

// SetStdin, SetStdout and SetStderr do nothing: the program has the files of the terminal.
func (c *child) SetStdin(io.Reader)  {}
func (c *child) SetStdout(io.Writer) {}
func (c *child) SetStderr(io.Writer) {}
