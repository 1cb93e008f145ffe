package caller

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Caller returns the identity of the caller: the agent whose token is in the environment,
// else the member in the nearest worker above the calling process, as its shim proves it,
// else a person, unless something contradicts that, see [Finder.unproven]. A token that
// belongs to no agent is [team.ErrUnknownToken]: a caller that claims an identity must not
// get another one. A process in a shell that a tool started has the identity of the member
// that started it, for as long as that member lives.
//
// It returns a [team.UnprovenError] if this process runs below a program that serves
// several sessions, or serves a client that does not provably act for one caller (see
// [Finder.Client]).
//
// It writes nothing, and starts nothing.
func (f *Finder) Caller(ctx context.Context) (team.Caller, error) {
	if f.Worker != "" {
		return f.inhabitant(ctx, f.Worker)
	}
	if err := checkShared(); err != nil {
		return team.Caller{}, err
	}
	caller, err := f.caller(ctx)
	if err == nil && f.Client {
		err = f.checkClient(ctx, caller)
	}
	if err != nil {
		return team.Caller{}, err
	}
	return caller, nil
}

// caller identifies the caller by the token, else by the processes above it.
func (f *Finder) caller(ctx context.Context) (caller team.Caller, err error) {
	token := f.lookupEnv(swarm.EnvToken)
	if token == "" {
		return f.callerAt(ctx, ParentPID(), f.lookupEnv)
	}
	err = f.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		caller, err = team.ByToken(ctx, tx, HashToken(token))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = team.ErrUnknownToken
	}
	return caller, err
}

// callerAt returns the caller that a process is by the processes above it and by its
// environment. env is the environment of the child of pid that asks; if env is nil,
// pid itself is meant.
func (f *Finder) callerAt(ctx context.Context, pid int, env func(string) string) (team.Caller, error) {
	run, from := f.nearestRun(ctx, pid, shimAbove)
	if run != "" {
		return f.resident(ctx, run)
	}
	if from != pid {
		env = nil // the shell's own run directory only says that it is a shell
	}
	return f.unproven(ctx, from, env)
}

// resident returns the identity of processes in the worker with that run directory. A
// worker of another state directory has no identity here, whatever its name.
func (f *Finder) resident(ctx context.Context, run string) (team.Caller, error) {
	id := filepath.Base(run)
	if !statedir.SameFile(run, f.Dir.RunDir(id)) {
		return team.Caller{WorkerID: run}, nil
	}
	return f.inhabitant(ctx, id)
}

func (f *Finder) inhabitant(ctx context.Context, id string) (caller team.Caller, err error) {
	err = f.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		caller, err = team.ByWorker(ctx, tx, id)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return team.Caller{WorkerID: id}, nil
	}
	return caller, err
}

// ActsFor reports whether the caller has the identity of the processes around a given one,
// so that a shell owned by that process gives no caller the rights of another.
func (f *Finder) ActsFor(ctx context.Context, o swarm.Owner) bool {
	caller, err := f.Caller(ctx)
	if err != nil {
		return false
	}
	owner, err := f.callerAt(ctx, o.PID, nil)
	return err == nil && owner == caller && OwnerLives(o)
}

// nearestRun returns the run directory that nearest finds, and the process at which that search
// began: from a shell that acts as its owner, the search continues at the owner. Owners are
// older than their shells, so the search ends.
func (f *Finder) nearestRun(ctx context.Context, pid int, nearest func(pid int) string) (run string, from int) {
	for {
		run = nearest(pid)
		if run == "" || !statedir.SameFile(run, f.Dir.RunDir(filepath.Base(run))) {
			return run, pid
		}
		rec, ok := f.record(ctx, filepath.Base(run))
		if !ok || rec.Shell == nil || !rec.Shell.Acts || rec.Owner == nil || !OwnerLives(*rec.Owner) {
			return run, pid
		}
		pid = rec.Owner.PID
	}
}

// record returns the record of a worker. The worker's own file says the same, but the worker can
// write it.
func (f *Finder) record(ctx context.Context, id string) (rec registry.Record, ok bool) {
	err := f.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		rec, err = tx.Get(ctx, id)
		return err
	})
	return rec, err == nil
}

// The variables that identify an agent to its team.
const (
	EnvTeam    = "SWARM_TEAM"
	EnvAgentID = "SWARM_AGENT_ID"
)

func (f *Finder) lookupEnv(name string) string { return environ.Get(f.Env, name) }

// TokenBytes is the number of random bytes of a token.
const TokenBytes = 32

// NewToken returns the token of an agent that is about to be started.
func NewToken() string {
	b := make([]byte, TokenBytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// HashToken returns the hash of a token, which is stored in its place.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// OwnerLives reports whether the owner of workers has not ended.
func OwnerLives(o swarm.Owner) bool { return proc.Identity(o).Alive() }

// WorkerEnv returns the caller's environment for a local worker, without the variables that
// identify the caller.
func WorkerEnv(env []string) []string {
	return environ.Unset(client.CleanEnv(env),
		swarm.EnvToken, swarm.EnvShim, swarm.EnvEngine, swarm.EnvView, swarm.EnvWorker, swarm.EnvWorkerID, swarm.EnvDir, EnvTeam, EnvAgentID)
}
