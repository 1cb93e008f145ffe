package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/warn"
)

const (
	// leaveLimit is how long the server waits for running calls when it leaves: clients
	// kill servers that stay.
	leaveLimit = 5 * time.Second
	// changeLimit is the same for kills and other changes that must not be left half done:
	// a kill alone takes as long as its grace.
	changeLimit = time.Minute
	// endLimit is how long it waits for the end of its shells then. Their shims continue
	// without it.
	endLimit = 10 * time.Second
)

// DefaultCallLimit is a moment less than the minute after which several clients give up.
const DefaultCallLimit = 50 * time.Second

type Options struct {
	// In carries the client's messages, Out those to the client, and nothing else.
	In  io.Reader
	Out io.Writer
	// Version is that of the program.
	Version string
	// Tools are the sets of tools that are offered; nil: shells and workers, and teams
	// where the caller is of one. The tools of a plugin are offered only if it is among them.
	Tools []tool.Set
	// LeaderAnswers says that the leaders of teams may answer what their agents ask.
	LeaderAnswers bool
	// Outside says that the client is in a container, and this server outside of it. It is
	// offered what each member of a team does there, and nothing that starts, shows or ends
	// workers: the client must not get out through its server.
	Outside bool
	// Session is that of the client: its shells end with the server.
	Session shell.Session
	// CallLimit is how long the client waits for an answer: Bash moves a command to the
	// background before that; 0 means [DefaultCallLimit].
	CallLimit time.Duration
	// Env returns the environment of a call of a tool; with an empty name, that of requests
	// other than calls of tools, and with "PLUGIN." that of requests to a plugin. The server fills in its Session and Progress.
	Env func(tool string) tool.Env
	// Logger gets messages for debugging; it may be nil.
	Logger hclog.Logger
}

type server struct {
	Options
	sdk *sdk.Server
	// caller is the caller for whom the tools are offered; callerUnknown is the reason why it
	// could not be identified at the start. Each call identifies it again. callerMu is for
	// caller, which changes with the teams.
	callerMu      sync.RWMutex
	caller        agent.Membership
	callerUnknown error
	tools         tools
	// behind holds the work besides the connection: calls, also after they were cancelled,
	// and goroutines that wait for changes to report.
	behind group
	// changes are the calls among them that continue to their end in any case.
	changes group
	subs    subscriptions
	list    list
	// conn is the connection with the client.
	conn *conn
	// inboxes has the last known state of each followed inbox by its URI: values are an
	// inboxState. cancelled has the ids of the tasks that the client has cancelled.
	inboxes, cancelled sync.Map
}

// Open opens a host, which the caller closes.
func (s *server) Open(ctx context.Context) (*host.Host, error) { return s.Env("").Open(ctx) }

// Serve serves one client until the input or ctx ends. When it returns, it has ended the
// session's shells, or asked their shims to. The end of the client is not an error.
func Serve(ctx context.Context, o Options) error {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	s := &server{Options: o}
	s.tools.ofPlugins = map[string][]tool.Tool{}
	s.tools.offered, s.list.listed, s.subs.open = map[string]string{}, map[string]string{}, map[string]*subscription{}
	s.identify(ctx)
	s.askPlugins(ctx)
	if err := s.build(); err != nil {
		return err
	}

	running, stop := context.WithCancel(ctx)
	defer stop()
	// The list that exists before the client connects is not a change.
	if !s.Outside {
		listed := make(chan struct{})
		begun := sync.OnceFunc(func() { close(listed) })
		s.behind.run(func() {
			defer s.caught("the list of workers", begun)
			s.watchList(running, begun)
		})
		<-listed
	}
	s.subs.follow = func(uri string) func() {
		one, stop := context.WithCancel(running)
		s.behind.run(func() {
			defer s.caught("notices about "+uri, nil)
			s.follow(one, uri)
		})
		return stop
	}
	c := newConn(o.In, o.Out)
	s.conn = c
	session, err := s.sdk.Connect(ctx, c, nil)
	if err != nil {
		return err
	}
	select {
	case <-c.ended:
	case <-ctx.Done():
		// That does not wake a writer to a client that reads nothing.
		_ = c.Close()
	}
	stop()

	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
	defer cancel()
	changing, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeLimit)
	defer cancel()
	// It runs concurrently with the rest: a running call may be a kill that waits for one of them.
	var ending sync.WaitGroup
	ending.Go(func() { s.endShells(context.WithoutCancel(ctx)) })
	// The manner of the client's end does not matter, but a client that reads nothing may
	// block an answer permanently.
	s.await(leaving, func() { _ = session.Wait() })
	s.await(leaving, s.behind.wait)
	s.await(changing, s.changes.wait)
	ending.Wait()
	// A call that was still running may have started another shell.
	s.endShells(context.WithoutCancel(ctx))
	return nil
}

// build makes the SDK's server, with everything that it serves.
func (s *server) build() error {
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "swarm", Title: "swarm", Version: s.Version}, &sdk.ServerOptions{
		Instructions:       s.instructions(),
		Capabilities:       &sdk.ServerCapabilities{},
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: s.unsubscribe,
	})
	s.offer()
	if !s.Outside {
		s.sdk.AddResourceTemplate(template, s.read)
	}
	s.sdk.AddReceivingMiddleware(s.guarded, s.offered, s.listNow, readable, discoverable, s.asTask, s.listen)
	return s.addTasks()
}

func (s *server) await(ctx context.Context, wait func()) {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.Logger.Warn("left before everything was done")
	}
}

// endShells ends the shells of the session. Their shims would do so after the end of this
// process, but this way the history has it at once.
func (s *server) endShells(ctx context.Context) {
	if s.Outside {
		return // it has none
	}
	defer s.caught("the end of the shells", nil)
	ctx, cancel := context.WithTimeout(ctx, endLimit)
	defer cancel()
	h, err := s.Open(ctx)
	if err != nil {
		s.Logger.Warn("the shells are left to their shims", "error", err)
		return
	}
	defer func() { _ = h.Close() }()
	shells, err := shell.List(ctx, h, s.Session, false)
	if err != nil || len(shells) == 0 {
		return
	}
	sel := worker.Selection{Names: make([]string, len(shells))}
	for i, sh := range shells {
		sel.Names[i] = sh.ID
	}
	outs, err := h.Kill().Kill(ctx, sel, kill.Request{})
	warn.If(s.Logger, err, "the shells are left to their shims")
	for _, out := range outs {
		if out.Err != nil {
			s.Logger.Warn("a shell was not ended", "worker", out.Worker.Name, "error", out.Err)
		}
	}
}

var errLeaving = errors.New("the server is leaving")

// group is a WaitGroup that accepts additions until the wait begins: a client may send a
// request at any moment.
type group struct {
	mu     sync.Mutex
	closed bool
	held   sync.WaitGroup
}

// add holds the group n times, and reports false if the wait has begun.
func (g *group) add(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.held.Add(n)
	}
	return !g.closed
}

func (g *group) done() { g.held.Done() }

// run calls f in a goroutine that holds the group, unless the wait has begun.
func (g *group) run(f func()) {
	if g.add(1) {
		go func() {
			defer g.done()
			f()
		}()
	}
}

// wait refuses further holders, and returns when none is left.
func (g *group) wait() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.held.Wait()
}
