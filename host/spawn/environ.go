package spawn

import (
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

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
	env := caller.WorkerEnv(s.opts.Env)
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
		env = append(env, swarm.EnvDir+"="+string(s.opts.Dir))
	}
	if rec.Agent != "" {
		env = append(env, caller.EnvTeam+"="+rec.Team, caller.EnvAgentID+"="+rec.Agent, swarm.EnvToken+"="+token)
	}
	return env
}
