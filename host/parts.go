package host

import (
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/index"
	"github.com/swarmhost/swarm/host/catalog/source"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/sweep"
	"github.com/swarmhost/swarm/host/teamserver"
	"github.com/swarmhost/swarm/host/toolbox"
	"github.com/swarmhost/swarm/host/watch"
)

// This file makes the parts of a host. A part has the methods of one verb or of one question;
// it holds no state of its own, so it is made when it is asked for.

// Store returns the registry's transactions. They must not call the Host, which would wait for
// the transaction.
func (h *Host) Store() *store.Store { return h.store }

func (h *Host) Callers() *caller.Finder { return h.callers }

// Roster returns what selects and observes workers.
func (h *Host) Roster() *roster.Roster { return h.roster }

// History returns the events of workers.
func (h *Host) History() *history.History { return h.history }

// Liveness returns what is known of the lives of agents.
func (h *Host) Liveness() *liveness.Checker { return h.liveness }

func (h *Host) Plugins() *pluginadmin.Admin {
	client := download.New()
	return &pluginadmin.Admin{
		Dir: h.opts.Dir, Catalog: h.catalog, Plugins: h.plugins, Store: h.store, Logger: h.log, Env: h.opts.Env, Command: h.opts.Command,
		Sources: source.Resolver{
			Client: client, Indexes: index.Store{Dir: h.opts.Dir, Client: client, Env: h.opts.Env},
			GitHubAPI: h.opts.GitHubAPI, Keys: h.opts.PluginKeys,
		},
	}
}

// Notifiers returns what delivers events to notifier plugins.
func (h *Host) Notifiers() *backend.Plugins { return h.plugins }

// Toolboxes returns the tools of plugins.
func (h *Host) Toolboxes() *toolbox.Boxes {
	return &toolbox.Boxes{Catalog: h.catalog, Plugins: h.plugins}
}

// Display returns what reads the output, screens and states of workers.
func (h *Host) Display() *display.Reader {
	return &display.Reader{Dir: h.dir, Store: h.store, Plugins: h.plugins, Roster: h.roster, Logger: h.log, Profiles: h.profiles}
}

// Meter returns what measures workers. Callers that measure again and again keep it.
func (h *Host) Meter() *stats.Meter {
	return &stats.Meter{Plugins: h.plugins, Roster: h.roster}
}

// Saved returns the work that was saved from removed workspaces.
func (h *Host) Saved() *saved.Rescues {
	return &saved.Rescues{Dir: h.dir, Plugins: h.plugins, Roster: h.roster}
}

// Workspaces returns the workspaces of workers, which it compares with their beginnings.
func (h *Host) Workspaces() *compare.Workspaces {
	return &compare.Workspaces{Plugins: h.plugins, Roster: h.roster}
}

// Input returns what sends input and signals to workers, and bounds them.
func (h *Host) Input() *input.Sender {
	return &input.Sender{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, Display: h.Display(), Roster: h.roster, Settler: h.settler,
		Env: h.opts.Env, LeaderAnswers: h.opts.LeaderAnswers,
	}
}

// Notifier returns what notifies agents of waiting messages and tasks, and leaders of stops.
func (h *Host) Notifier() *notifier.Notifier {
	return &notifier.Notifier{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, Display: h.Display(), Input: h.Input(), Callers: h.callers, Logger: h.log,
		Executable: h.opts.Executable, Env: h.opts.Env, Quiet: h.opts.NoWake, Ruler: h.ruler, Notify: h.opts.Notify,
	}
}

// Kill returns what ends workers, and removes what ended ones have left.
func (h *Host) Kill() *kill.Killer {
	return &kill.Killer{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Roster: h.roster, Settler: h.settler, Logger: h.log,
	}
}

// Spawn returns what starts workers.
func (h *Host) Spawn() *spawn.Spawner {
	policy := DefaultKill()
	if h.opts.Kill != nil {
		policy = *h.opts.Kill
	}
	return &spawn.Spawner{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, History: h.history, Display: h.Display(),
		Roster: h.roster, Settler: h.settler, Callers: h.callers, Killer: h.Kill(), Notifier: h.Notifier(), Logger: h.log,
		Env: h.opts.Env, Executable: h.opts.Executable, KillPolicy: policy, OutputLimit: h.opts.OutputLimit,
		Defaults: h.opts.Defaults, DefaultWorkspace: h.opts.Workspace,
	}
}

// TeamServers returns what holds and stops the servers of teams.
func (h *Host) TeamServers() *teamserver.Servers {
	return &teamserver.Servers{Dir: h.dir, Store: h.store, Killer: h.Kill()}
}

// Sweeper returns what records the ends and the silence of agents.
func (h *Host) Sweeper() *sweep.Sweeper {
	return &sweep.Sweeper{
		Store: h.store, Plugins: h.plugins, History: h.history, Settler: h.settler, Liveness: h.liveness, Display: h.Display(),
		Servers: h.TeamServers(), Dir: h.dir,
	}
}

// Watch returns what records the ends of workers that no other call has recorded.
func (h *Host) Watch() *watch.Watcher {
	return &watch.Watcher{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Settler: h.settler, Killer: h.Kill(),
		Liveness: h.liveness, Sweeper: h.Sweeper(), Display: h.Display(), Ruler: h.ruler, Notifier: h.Notifier(),
		Logger: h.log, KeepEvents: h.opts.KeepEvents,
	}
}
