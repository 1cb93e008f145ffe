package backend

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Starter starts plugins. It is a [launch.Set] but in tests.
type Starter interface {
	// Start starts the plugins ahead of a likely Get, which returns the result of the
	// start. It returns when their processes run.
	Start(entries ...catalog.Entry)
	// Get returns the plugin, which it starts at the first call for that entry.
	Get(ctx context.Context, e catalog.Entry) (*Peer, error)
	// Restart returns a new process of the plugin in place of gone, which has ended.
	Restart(ctx context.Context, e catalog.Entry, gone *Peer) (*Peer, error)
	// Died returns an error about the end of the plugin, or nil if it has not ended.
	Died(ctx context.Context, p *Peer) error
	// Close ends all plugins, within a bounded time.
	Close()
}

type backend interface {
	swarm.Backend
	swarm.BatchStatuser
	swarm.Sweeper
	swarm.Outputter
	swarm.Finder
	swarm.Inputter
	swarm.Signaller
	swarm.Screener
	swarm.BatchScreener
	swarm.Attacher
	swarm.Resizer
	swarm.Execer
	swarm.Copier
	swarm.Forwarder
	swarm.Completer
	swarm.Lister
	swarm.Measurer
	swarm.CPUMeasurer
	swarm.Limiter
	swarm.Pauser
	swarm.Progresser
	swarm.SpawnChecker
	KillBatch(ctx context.Context, items []client.KillItem, each func(i int, r swarm.KillResult, err error)) error
	WaitBatch(ctx context.Context, hs []swarm.Handle, each func(i int, s swarm.Status, err error)) error
	WatchBatch(ctx context.Context, hs []swarm.Handle, each func(i int, s swarm.Status, err error)) error
}

type workspace interface {
	swarm.Workspace
	swarm.WorkspaceFinder
	swarm.WorkspaceChecker
}

// Peer is a plugin that was started.
type Peer struct {
	client.Info
	// Backend or Workspace is set; both are for a backend that makes workspaces.
	Backend   backend
	Workspace workspace
	// Tools is set for a plugin of any kind that offers some.
	Tools swarm.Toolbox
	// Notifier is set for a plugin of this kind.
	Notifier swarm.Notifier
	Report   func(context.Context) (uses string, err error)
	// Debugged says that a person debugs it, so that its calls may take any time.
	Debugged bool
	// client is the connection behind it; nil in tests.
	client *client.Client
}

// Ask starts the plugin and calls f with it. With again, f is called a second time, with a
// new process, if the first process ended during the call; f must be idempotent then.
func (ps *Plugins) Ask(ctx context.Context, e catalog.Entry, again bool, f func(*Peer) error) error {
	p, err := ps.Get(ctx, e)
	if err != nil {
		return err
	}
	err = ps.crash(ctx, p, f(p))
	if !again || !errors.Is(err, client.ErrPluginGone) || ctx.Err() != nil {
		return err
	}
	ps.opts.Logger.Warn("plugin ended in a call, trying once more", "plugin", e.Name, "error", err)
	p, err = ps.Restart(ctx, e, p)
	if err != nil {
		return err
	}
	return ps.crash(ctx, p, f(p))
}

// crash replaces the error that a plugin has ended by one that says how it ended.
func (ps *Plugins) crash(ctx context.Context, p *Peer, err error) error {
	if !errors.Is(err, client.ErrPluginGone) {
		return err
	}
	if died := ps.Died(ctx, p); died != nil {
		return died
	}
	return err
}

// AskBackend is like Ask, for a plugin that has to be a backend.
func (ps *Plugins) AskBackend(ctx context.Context, e catalog.Entry, again bool, f func(*Peer) error) error {
	return ps.Ask(ctx, e, again, func(p *Peer) error {
		if p.Backend == nil {
			return notKind(e.Name, client.KindBackend)
		}
		return f(p)
	})
}

// AskOwner is like AskBackend, for the backend that owns the worker of a record.
func (ps *Plugins) AskOwner(ctx context.Context, rec *registry.Record, again bool, f func(*Peer) error) error {
	e, err := ps.Entry(rec.Backend, rec.Plugin)
	if err != nil {
		return err
	}
	return ps.AskBackend(ctx, e, again, f)
}

// askMaker is like AskWorkspace, for an idempotent call about the workspace of a record, within
// [removeLimit].
func (ps *Plugins) askMaker(ctx context.Context, rec *registry.Record, f func(context.Context, *Peer) error) error {
	e, err := ps.WorkspaceEntry(rec)
	if err != nil {
		return err
	}
	ctx, cancel := ps.Within(ctx, e.Name, removeLimit)
	defer cancel()
	return ps.AskWorkspace(ctx, e, true, func(p *Peer) error { return f(ctx, p) })
}

// AskWorkspace is like Ask, for a plugin that has to make workspaces.
func (ps *Plugins) AskWorkspace(ctx context.Context, e catalog.Entry, again bool, f func(*Peer) error) error {
	return ps.Ask(ctx, e, again, func(p *Peer) error {
		if p.Workspace == nil {
			return notKind(e.Name, client.KindWorkspace)
		}
		defer ps.AnnounceWait("waiting for plugin '%s'; another process may be using the repository", e.Name)()
		return f(p)
	})
}

// notifyLimit is how long a notifier may take for one event.
const notifyLimit = 30 * time.Second

// Notify delivers an event to a notifier plugin, which has to be of this kind.
func (ps *Plugins) Notify(ctx context.Context, plugin string, event swarm.Event) (answer swarm.NotifyAnswer, err error) {
	e, err := ps.opts.Catalog.Find(plugin)
	if err != nil {
		return answer, err
	}
	ctx, cancel := ps.Within(ctx, plugin, notifyLimit)
	defer cancel()
	err = ps.Ask(ctx, e, true, func(p *Peer) error {
		if p.Notifier == nil {
			return notKind(plugin, client.KindNotifier)
		}
		answer, err = p.Notifier.Notify(ctx, event)
		return err
	})
	return answer, err
}

const (
	// ShimName is the program that keeps local workers.
	ShimName = "swarm-shim"
)

// Local returns the local facts of a worker for a local backend, nil for any other.
func (ps *Plugins) Local(p *Peer, id string) (*swarm.Local, error) {
	if !p.Local {
		return nil, nil
	}
	shim, err := ps.opts.Catalog.ProgramPath(ShimName)
	if err != nil {
		return nil, err
	}
	server, err := ps.opts.Catalog.ProgramPath(programs.Serve)
	if err != nil {
		server = "" // what needs it says so
	}
	return &swarm.Local{RunDir: ps.opts.Dir.RunDir(id), StateDir: string(ps.opts.Dir), Shim: shim, Server: server}, nil
}

// Find asks a backend for the worker of a record that holds no handle.
func (ps *Plugins) Find(ctx context.Context, p *Peer, rec *registry.Record) (swarm.Handle, error) {
	local, err := ps.Local(p, rec.ID)
	if err != nil {
		return swarm.Handle{}, err
	}
	return p.Backend.Find(ctx, swarm.Lookup{ID: rec.ID, Name: rec.Name, Options: rec.Options, Local: local})
}

func notKind(name string, kind client.Kind) error {
	return fmt.Errorf("%w: plugin '%s' is not a %s plugin", swarm.ErrInvalidSpec, name, kind)
}

// Within returns a context that ends after limit, for calls of the plugin; without a limit if the
// plugin is being debugged, since it may be stopped for as long as a person reads.
func (p *Peer) Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return within(ctx, limit, p.Debugged)
}

// Within is [Peer.Within] for a plugin that may have to be started.
func (ps *Plugins) Within(ctx context.Context, name string, limit time.Duration) (context.Context, context.CancelFunc) {
	session, _ := reattach.Find(string(ps.opts.Dir), name) // an error is that of the start
	return within(ctx, limit, session != nil)
}

func within(ctx context.Context, limit time.Duration, debugged bool) (context.Context, context.CancelFunc) {
	if debugged {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// patience is how long the user waits for a plugin before Waiting is called.
const patience = 5 * time.Second

// AnnounceWait calls Waiting with a description, unless stop is called soon. A repository may
// be locked by another process, or be large.
func (ps *Plugins) AnnounceWait(format string, args ...any) (stop func()) {
	if ps.opts.Waiting == nil {
		return func() {}
	}
	t := time.AfterFunc(patience, func() { ps.opts.Waiting(fmt.Sprintf(format, args...)) })
	return func() { t.Stop() }
}

// Launcher returns a starter that starts plugins as processes.
func Launcher(set *launch.Set) Starter { return launched{set} }

// launched starts plugins as processes.
type launched struct{ *launch.Set }

func (l launched) Get(ctx context.Context, e catalog.Entry) (*Peer, error) {
	return newPeer(l.Set.Get(ctx, e))
}

func (l launched) Restart(ctx context.Context, e catalog.Entry, gone *Peer) (*Peer, error) {
	return newPeer(l.Set.Restart(ctx, e, gone.client))
}

func (l launched) Died(ctx context.Context, p *Peer) error { return l.Set.Died(ctx, p.client) }

func newPeer(c *client.Client, err error) (*Peer, error) {
	if err != nil {
		return nil, err
	}
	p := &Peer{Info: c.Info(), Report: c.Report, Debugged: c.IsDebugged(), client: c}
	// A nil pointer in an interface is not a nil interface.
	if b := c.Backend(); b != nil {
		p.Backend = b
	}
	if w := c.Workspace(); w != nil {
		p.Workspace = w
	}
	if t := c.Tools(); t != nil {
		p.Tools = t
	}
	if n := c.Notifier(); n != nil {
		p.Notifier = n
	}
	return p, nil
}
