package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/statedir"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Caller returns who calls: the agent whose token is in the environment, else who
// lives in the nearest worker above the calling process, as its shim proves it, else
// a person, unless something says otherwise, see [Host.unproven]. A token that is no
// agent's is [team.ErrUnknownToken]: who was told who it is must not be taken for
// somebody else. What runs in a shell that a tool has begun is who began it, for as
// long as that lives.
//
// Caller returns a [team.UnprovenError] if this process runs below a program that serves
// several sessions, or serves a client that does not provably act for one caller (see
// [Options.Client]).
//
// It writes nothing, and starts nothing.
func (h *Host) Caller(ctx context.Context) (team.Caller, error) {
	if err := checkShared(); err != nil {
		return team.Caller{}, err
	}
	caller, err := h.caller(ctx)
	if err == nil && h.opts.Client {
		err = h.checkClient(ctx, caller)
	}
	if err != nil {
		return team.Caller{}, err
	}
	return caller, nil
}

// caller returns who calls by the token, else by the processes above.
func (h *Host) caller(ctx context.Context) (caller team.Caller, err error) {
	token := h.lookupEnv(swarm.EnvToken)
	if token == "" {
		return h.standing(ctx, parentPID(), h.lookupEnv)
	}
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		caller, err = team.ByToken(ctx, tx, tokenHash(token))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = team.ErrUnknownToken
	}
	return caller, err
}

// standing returns the caller that a process is by the processes above it and by its
// environment. env is the environment of the child of pid that asks; if env is nil,
// pid itself is meant.
func (h *Host) standing(ctx context.Context, pid int, env func(string) string) (team.Caller, error) {
	run, from := h.acting(pid, shimAbove)
	if run != "" {
		return h.resident(ctx, run)
	}
	if from != pid {
		env = nil // that of the shell says only that it is a shell
	}
	return h.unproven(ctx, from, env)
}

// resident returns who lives in the worker with that run directory. A worker of
// another state directory is nobody here, whatever it is called.
func (h *Host) resident(ctx context.Context, run string) (team.Caller, error) {
	id := filepath.Base(run)
	if !statedir.SameFile(run, h.dir.RunDir(id)) {
		return team.Caller{WorkerID: run}, nil
	}
	return h.inhabitant(ctx, id)
}

// inhabitant returns who lives in a worker.
func (h *Host) inhabitant(ctx context.Context, id string) (caller team.Caller, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		caller, err = team.ByWorker(ctx, tx, id)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return team.Caller{WorkerID: id}, nil
	}
	return caller, err
}

// actsFor reports whether the caller is who lives where a process does, so that a
// shell which that owns gives nobody another one's rights.
func (h *Host) actsFor(ctx context.Context, o swarm.Owner) bool {
	caller, err := h.Caller(ctx)
	if err != nil {
		return false
	}
	owner, err := h.standing(ctx, o.PID, nil)
	return err == nil && owner == caller && ownerLives(o)
}

// actingDir returns the run directory that nearest finds. From a shell that acts as
// its owner, the search goes on at the owner.
func (h *Host) actingDir(pid int, nearest func(pid int) string) string {
	run, _ := h.acting(pid, nearest)
	return run
}

// acting is [Host.actingDir], and also returns the process at which the last search
// began. Owners are older than their shells, so this comes to an end.
func (h *Host) acting(pid int, nearest func(pid int) string) (run string, from int) {
	for {
		run = nearest(pid)
		if run == "" || !statedir.SameFile(run, h.dir.RunDir(filepath.Base(run))) {
			return run, pid
		}
		f, err := h.dir.ReadWorkerFile(filepath.Base(run))
		if err != nil || f.Shell == nil || !f.Shell.Acts || f.Owner == nil || !ownerLives(*f.Owner) {
			return run, pid
		}
		pid = f.Owner.PID
	}
}

// mayEnd refuses to end workers of a team, or to disturb them, for a caller who
// does not lead it, and the worker of its leader for its agents. Where none of them
// has to do with a team it does not even look who calls.
func (h *Host) mayEnd(ctx context.Context, recs ...registry.Record) error {
	var teams []string
	for _, r := range recs {
		if r.Team != "" {
			teams = append(teams, r.Team)
		}
	}
	led := h.ledFrom(ctx, recs)
	if len(teams) == 0 && len(led) == 0 {
		return nil
	}
	caller, err := h.Caller(ctx)
	if err != nil || caller.Person {
		return err
	}
	return h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, name := range unique(teams) {
			if err := team.MayEnd(ctx, tx, caller, name); err != nil {
				return err
			}
		}
		if slices.Contains(led, caller.Team) && team.Lead(ctx, tx, caller, caller.Team, "") != nil {
			return team.ErrKillLeader
		}
		return nil
	})
}

// ledFrom returns the names of the teams whose leaders live in one of the workers.
// What can't be read must not stand between a user and a kill.
func (h *Host) ledFrom(ctx context.Context, recs []registry.Record) (names []string) {
	err := h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		teams, _, err := tx.Teams(ctx)
		for _, t := range teams {
			if t.LeaderWorker != "" && indexID(recs, t.LeaderWorker) >= 0 {
				names = append(names, t.Name)
			}
		}
		return err
	})
	h.warnIf(err, "teams can't be read")
	return names
}
