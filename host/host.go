package host

import (
	"context"
	"maps"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Host answers for the workers of one state directory.
type Host struct {
	opts    Options
	dir     statedir.Dir
	log     hclog.Logger
	store   *store.Store
	catalog *catalog.Catalog
	plugins *backend.Plugins
	history *history.History
	callers *caller.Finder
	roster  *roster.Roster
	settler *settle.Settler
	answers *question.Ruler
	// profiles reads the profiles of agents when they are first needed.
	profiles func() (*profile.Set, error)
}

// Open returns the host of a state directory, or the error of [statedir.Check]. It
// starts no plugin and opens no database yet; the caller closes it.
func Open(_ context.Context, o Options) (*Host, error) {
	if err := statedir.Check(o.Dir); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	h := &Host{
		opts:     o,
		dir:      statedir.Dir(o.Dir),
		log:      o.Logger,
		store:    store.New(store.Options{Dir: o.Dir, Logger: o.Logger, Quiet: o.NoWake, Warn: o.Warn}),
		catalog:  catalog.New(catalog.Options{Dir: o.Dir, Executable: o.Executable, Env: o.Env, Plugins: maps.Clone(o.Plugins)}),
		profiles: sync.OnceValues(func() (*profile.Set, error) { return profileDirs(o).Load() }),
	}
	starter := o.Starter
	if starter == nil {
		starter = backend.Launcher(launch.New(launch.Options{
			Dir: o.Dir, RunDirs: filepath.Join(o.Dir, statedir.WorkersDir), Env: o.Env, Engine: statedir.Dir(o.Dir).EngineMark, Logger: o.Logger,
		}))
	}
	h.plugins = backend.New(backend.Options{
		Dir: h.dir, Catalog: h.catalog, Logger: o.Logger, Starter: starter, Waiting: o.Waiting, DefaultWorkspace: defaultWorkspace,
	})
	h.history = history.New(history.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, Logger: o.Logger,
		Stranded: func(ctx context.Context, busy func(string) bool) error { return h.liveness().SweepGone(ctx, busy) },
	})
	h.identify()
	h.settler = settle.New(settle.Options{Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Logger: o.Logger})
	h.answers = question.NewRuler(question.RulerOptions{Rules: o.Answers, Answer: func(ctx context.Context, id, who string, r deliver.Reply) error {
		_, err := h.input().AnswerFor(ctx, id, who, r)
		return err
	}, Logger: o.Logger})
	return h, nil
}

// identify makes the parts that depend on the caller.
func (h *Host) identify() {
	h.callers = caller.New(caller.Options{
		Dir: h.dir, Env: h.opts.Env, Client: h.opts.Client, ClientIsPerson: h.opts.ClientIsPerson, Worker: h.opts.Worker, View: h.store.View,
	})
	h.roster = roster.New(roster.Options{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, Callers: h.callers, Logger: h.log,
	})
}

// Plugins returns the administration of plugins.
func (h *Host) Plugins() *pluginadmin.Admin {
	return pluginadmin.New(pluginadmin.Options{
		Dir: h.opts.Dir, Catalog: h.catalog, Plugins: h.plugins, Logger: h.log, Reading: h.store.Reading,
		Removed: func() error { return launch.ForgetRemoved(h.opts.Dir) },
	})
}

func (h *Host) liveness() *liveness.Checker {
	return liveness.New(liveness.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history,
		Settler: h.settler, Shows: h.display().Shows, StopIdle: h.StopIdleServers,
	})
}

// SweepTeam records what has become of the agents of a team, see [liveness.Checker.Sweep].
func (h *Host) SweepTeam(ctx context.Context, teamName string, living ...string) (warnings []string, err error) {
	return h.liveness().Sweep(ctx, teamName, living...)
}

// Signs returns what is known of the workers of a team's agents, see
// [liveness.Checker.Signs].
func (h *Host) Signs(ctx context.Context, teamName string) (map[string]team.Signs, error) {
	return h.liveness().Signs(ctx, teamName)
}

// Doctor examines everything and reports damage and leftovers, see [doctor.Examine]. The
// names of the plugins in the caller's configuration are passed as wanted.
func (h *Host) Doctor(ctx context.Context, rebuild bool, wanted ...string) ([]doctor.Finding, error) {
	return doctor.Examine(ctx, doctor.Options{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, Admin: h.Plugins(), History: h.history, Logger: h.log,
		Wanted: wanted,
		Configured: func(name string) bool {
			_, configured := h.opts.Plugins[name]
			return configured
		},
		DefaultWorkspace: defaultWorkspace,
		Couriers: func(recs []registry.Record) []doctor.Finding {
			return append(h.examineCouriers(recs), h.examineServers(recs)...)
		},
		Profiles: h.examineProfiles,
		Saved: func(ctx context.Context) ([]swarm.SavedWork, error) {
			works, _, err := h.Saved().List(ctx)
			return works, err
		},
	}, rebuild)
}

// Dir returns the state directory.
func (h *Host) Dir() string { return h.opts.Dir }

// RunDir returns the run directory of a worker on this machine, whether or not it is
// there.
func (h *Host) RunDir(id string) string { return h.dir.RunDir(id) }

// Close ends the plugins, within a bounded time, and closes the registry. It
// ends no worker.
func (h *Host) Close() error {
	h.plugins.Close()
	return h.store.Close()
}

// Leave is Close for a process that exits right after it: plugins are killed without
// being asked, and end while the registry is closed.
func (h *Host) Leave() error {
	h.plugins.Leave()
	defer h.plugins.Reap()
	return h.store.Close()
}

// Change runs change in one transaction of the registry, see [store.Store.Change]. It must
// not call the Host, which would wait for the transaction.
//
// It is for the packages that build on this one, such as host/agent.
func (h *Host) Change(ctx context.Context, change func(context.Context, *registry.Tx) error) error {
	return h.store.Change(ctx, change)
}

// View is like [Host.Change] for what only reads, see [store.Store.View].
func (h *Host) View(ctx context.Context, view func(context.Context, *registry.Tx) error) error {
	return h.store.View(ctx, view)
}

// AwaitChange calls check now and after every change of the registry, see
// [store.Store.AwaitChange].
func (h *Host) AwaitChange(ctx context.Context, check func(context.Context) (done bool, err error)) error {
	return h.store.AwaitChange(ctx, check)
}

// Events returns what happened, the oldest first, see [history.Read].
func (h *Host) Events(ctx context.Context, q history.Query) ([]history.Event, error) {
	reg, err := h.store.Reading(ctx)
	if err != nil {
		return nil, err
	}
	return history.Read(ctx, reg, q)
}

// FollowEvents calls each with the events that the query selects, and then with those
// that follow as they are written, until ctx ends or each returns an error.
func (h *Host) FollowEvents(ctx context.Context, q history.Query, each func(history.Event) error) error {
	return history.Follow(ctx, h.opts.Dir, q, each, h.warn)
}

// EachEvent calls each with the events that the query selects, as [Host.Events] returns them,
// however many there are.
func (h *Host) EachEvent(ctx context.Context, q history.Query, each func(history.Event) error) error {
	reg, err := h.store.Reading(ctx)
	if err != nil {
		return err
	}
	return history.Each(ctx, reg, q, each)
}

// warn passes on what a user should know.
func (h *Host) warn(text string) {
	if h.opts.Warn != nil {
		h.opts.Warn(text)
	} else {
		h.log.Warn(text)
	}
}
