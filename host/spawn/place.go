package spawn

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// checkWithin refuses a directory that is not in the workspace which was just made:
// what is checked out there may be a link to elsewhere.
func checkWithin(workspace, dir string) error {
	if dir == workspace {
		return nil
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	top, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if real != top && !strings.HasPrefix(real, top+"/") {
		return worker.Invalid("%s escapes the workspace, to %s", dir, real)
	}
	return nil
}

// sendAway makes a plan fit for a backend that is not local, or refuses what needs
// this machine: its directories, or the state that is kept on it. The backend makes the
// workspace, if it can.
func (p *plan) sendAway(defaultWorkspace string) error {
	if p.owner.Local {
		return nil
	}
	rec := &p.rec
	refuse := func(why string) error {
		return worker.Invalid("backend '%s' does not run its workers on this machine: %s", rec.Backend, why)
	}
	switch {
	case rec.Ask != nil && !p.owner.Has(swarm.CapWorkspaces):
		return refuse("they can't be in a workspace of plugin '" + rec.Ask.Plugin + "'")
	case p.req.Workspace != nil && (rec.Ask.Plugin != defaultWorkspace || rec.Ask.Options != nil):
		return refuse("it makes their workspaces itself, by its own --option; use --worktree in place of --workspace")
	case rec.Ask != nil && !p.req.DirGiven:
		return refuse("name the directory of the repository there (--cwd)")
	case rec.Ralph:
		return refuse("a loop has to run here; what it runs may start workers there")
	case rec.Agent != "":
		return refuse("an agent has to run here, where its team is kept")
	}
	if !p.req.DirGiven {
		rec.Dir = ""
	}
	if rec.Ask != nil {
		ask := *rec.Ask
		ask.Away = true
		rec.Ask, p.workspace = &ask, p.backend
		if p.maker != nil {
			p.maker = p.owner
		}
	}
	return nil
}

// OwnerOf names a process of this machine as the owner of workers: when it ends,
// they are killed.
func OwnerOf(pid int) (swarm.Owner, error) {
	p, err := proc.Read(pid)
	if err != nil || !p.Alive() {
		return swarm.Owner{}, worker.Invalid("no such process: %d", pid)
	}
	return swarm.Owner(p.Identity), nil
}

// ownerFor returns what a backend gets of a worker's owner: processes of this
// machine mean nothing elsewhere, and where no plugin watches it, the host does.
func ownerFor(p *backend.Peer, o *swarm.Owner) *swarm.Owner {
	if !p.Local || !p.Has(swarm.CapOwner) {
		return nil
	}
	return o
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return worker.Invalid("no such directory: %s", dir)
	case err != nil:
		return worker.Invalid("%v", err)
	case !info.IsDir():
		return worker.Invalid("not a directory: %s", dir)
	}
	return nil
}

// repositoryVariables are what git sets for the programs that it runs, such as hooks,
// so that they work on its own repository, index and options. Variables that say
// where configuration and programs are, or who the author is, are not among them.
var repositoryVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
	"GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
}

// workerHostEnv is [caller.WorkerEnv] for one worker. A worker with a workspace works on what
// that was made of, not on the repository that the caller works on.
func (s *Spawner) workerHostEnv(rec *registry.Record) []string {
	env := caller.WorkerEnv(s.Env)
	if rec.Ask == nil && rec.Workspace == nil {
		return env
	}
	return environ.Unset(env, repositoryVariables...)
}

// workerEnv returns the variables that a worker gets on top of its environment:
// the user's, then those by which it knows itself. On another machine the state
// directory is not there. token is that of an agent.
func (s *Spawner) workerEnv(rec *registry.Record, local bool, token string) []string {
	env := append(environ.Unset(rec.Env, swarm.EnvToken),
		swarm.EnvWorker+"="+rec.Name, swarm.EnvWorkerID+"="+rec.ID)
	if local {
		env = append(env, swarm.EnvDir+"="+string(s.Dir))
	}
	if rec.Agent != "" {
		env = append(env, caller.EnvTeam+"="+rec.Team, caller.EnvAgentID+"="+rec.Agent, swarm.EnvToken+"="+token)
	}
	return env
}
