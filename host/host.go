package host

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// Host answers for the workers of one state directory.
type Host struct {
	opts     Options
	dir      statedir.Dir
	log      hclog.Logger
	store    *store.Store
	catalog  *catalog.Catalog
	plugins  *backend.Plugins
	profiles *profile.Loader
	history  *history.History
	liveness *liveness.Checker
	settler  *settle.Settler
	ruler    *question.Ruler
	callers  *caller.Finder
	roster   *roster.Roster
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
		opts:    o,
		dir:     statedir.Dir(o.Dir),
		log:     o.Logger,
		store:   store.New(store.Options{Dir: o.Dir, Logger: o.Logger, Quiet: o.NoWake, Warn: o.Warn}),
		catalog: catalog.New(catalog.Options{Dir: o.Dir, Executable: o.Executable, Env: o.Env, Plugins: maps.Clone(o.Plugins)}),
	}
	h.profiles = profile.NewLoader(h.ProfileDirs())
	starter := o.Starter
	if starter == nil {
		shim, err := h.catalog.ProgramPath(backend.ShimName)
		if err != nil {
			shim = "" // a Spawn reports it
		}
		starter = backend.Launcher(launch.New(launch.Options{
			Dir: o.Dir, RunDirs: filepath.Join(o.Dir, statedir.WorkersDir), Shim: shim, Env: o.Env,
			Logger: o.Logger, Loggers: o.PluginLoggers, Command: o.Command, Notice: o.Waiting,
			Trusted: o.TrustedPrograms,
		}))
	}
	h.plugins = backend.New(backend.Options{
		Dir: h.dir, Catalog: h.catalog, Logger: o.Logger, Starter: starter, Waiting: o.Waiting, DefaultWorkspace: o.Workspace,
	})
	h.history = &history.History{Dir: h.dir, Store: h.store, Plugins: h.plugins, Logger: o.Logger}
	h.liveness = &liveness.Checker{Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history}
	h.settler = &settle.Settler{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Liveness: h.liveness, Logger: o.Logger,
	}
	h.identify()
	h.ruler = question.NewRuler(question.RulerOptions{Rules: o.Answers, Logger: o.Logger, Answer: func(ctx context.Context, id, who string, r deliver.Reply) error {
		_, err := h.Input().AnswerFor(ctx, id, who, r)
		return err
	}})
	return h, nil
}

// identify makes the parts that depend on the caller.
func (h *Host) identify() {
	h.callers = &caller.Finder{
		Dir: h.dir, Store: h.store, Env: h.opts.Env, Client: h.opts.Client, ClientIsPerson: h.opts.ClientIsPerson, Worker: h.opts.Worker,
	}
	h.roster = &roster.Roster{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, Callers: h.callers, Logger: h.log,
	}
}

// Doctor examines everything and reports damage and leftovers, see [doctor.Examine]. The
// names of the plugins in the caller's configuration are passed as wanted.
func (h *Host) Doctor(ctx context.Context, rebuild bool, wanted ...string) ([]doctor.Finding, error) {
	return doctor.Examine(ctx, doctor.Options{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, Admin: h.Plugins(), History: h.history,
		Notifier: h.Notifier(), Saved: h.Saved(), Profiles: h.profiles, Logger: h.log,
		Wanted: wanted, Settings: h.opts.Plugins, DefaultWorkspace: h.opts.Workspace,
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

// Quiet makes the calls of this host wake no agent, as with [Options.NoWake]. It must not be
// called concurrently with other methods.
func (h *Host) Quiet() {
	h.opts.NoWake = true
	h.store.Quieten()
}

// Profiles returns the profiles of this user. Files that can't be used are left out; the
// error says which and why.
func (h *Host) Profiles() (*profile.Set, error) { return h.profiles.Load() }

// ProfileDirs returns the directories of the profiles of agents.
func (h *Host) ProfileDirs() profile.Dirs {
	return profile.Dirs{Own: h.opts.ProfileDir, Bundle: h.dir.ProfileBundle()}
}

// OnlyPerson refuses all callers but a person outside of every worker: an agent must not decide how
// the screens of agents are read.
func (h *Host) OnlyPerson(ctx context.Context) error {
	who, err := h.Callers().Caller(ctx)
	if err != nil {
		return err
	}
	ids, err := h.dir.RunDirs()
	if err != nil {
		return err
	}
	// In a PID namespace of its own, it may be a part of any of those that it can't see.
	if who.Person && len(h.callers.Within()) == 0 && !slices.ContainsFunc(ids, h.dir.Hidden) {
		return nil
	}
	return worker.Hinted("only a person may do this, and not from inside a worker", "run it in a terminal outside of the workers of swarm")
}
