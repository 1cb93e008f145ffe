package host

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host/courier"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/watch"
)

// This file passes each room its dependencies.

func (h *Host) display() *display.Reader {
	return display.New(display.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, Roster: h.roster, Logger: h.log, Profiles: h.profiles,
	})
}

// Saved returns the room of work that was saved from removed workspaces.
func (h *Host) Saved() *saved.Keeper {
	return saved.New(saved.Options{Dir: h.dir, Plugins: h.plugins, Roster: h.roster})
}

func (h *Host) input() *input.Sender {
	return input.New(input.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, Display: h.display(), Roster: h.roster, Settler: h.settler,
		Env: h.opts.Env, LeaderAnswers: h.opts.LeaderAnswers,
	})
}

func (h *Host) questions() *question.Reader {
	return question.NewReader(question.Options{View: h.View, MayAnswer: h.input().MayAnswer, LeaderAnswers: h.opts.LeaderAnswers})
}

func (h *Host) couriers() *courier.Office {
	return courier.New(courier.Options{
		Dir: h.dir, Plugins: h.plugins, Display: h.display(), Input: h.input(), Callers: h.callers, Logger: h.log,
		Executable: h.opts.Executable, Env: func() []string { return spawn.HostEnv(h.opts.Env) }, Quiet: h.opts.NoWake, View: h.View, Change: h.Change, Reopen: h.store.Reopen,
		Rules: h.opts.Answers, Notify: h.opts.Notify,
	})
}

func (h *Host) killer() *kill.Killer {
	return kill.New(kill.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Roster: h.roster, Settler: h.settler, Logger: h.log,
	})
}

func (h *Host) spawner() *spawn.Spawner {
	policy := DefaultKill()
	if h.opts.Kill != nil {
		policy = *h.opts.Kill
	}
	return spawn.New(spawn.Options{
		Dir: h.dir, Store: h.store, Catalog: h.catalog, Plugins: h.plugins, History: h.history, Display: h.display(),
		Roster: h.roster, Settler: h.settler, Callers: h.callers, Killer: h.killer(), Logger: h.log, Env: h.opts.Env, Executable: h.opts.Executable,
		Kill: policy, OutputLimit: h.opts.OutputLimit, Defaults: h.opts.Defaults, DefaultWorkspace: defaultWorkspace,
		Wake: h.Wake,
	})
}

func (h *Host) watcher() *watch.Watcher {
	return watch.New(watch.Options{
		Dir: h.dir, Store: h.store, Plugins: h.plugins, History: h.history, Settler: h.settler, Logger: h.log,
		KeepEvents: h.opts.KeepEvents,
		Kill:       h.killDisowned,
		Unfinished: h.killer().FinishRemovals,
		SweepTeams: func(ctx context.Context) ([]string, error) { return h.SweepTeam(ctx, "") },
		TeamsLive:  h.liveness().Any,
		Wake:       func(ctx context.Context) { h.Wake(ctx, "") },
		Profiled:   h.display().Profiled,
		TellStates: func(ctx context.Context, db *registry.Registry, recs []registry.Record) error {
			states, err := h.display().Tell(ctx, db, recs)
			h.answers.Apply(ctx, recs, states)
			return errors.Join(err, h.notifyLeaders(ctx, recs, states))
		},
	})
}
