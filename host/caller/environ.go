package caller

import (
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkerEnv returns the caller's environment for a local worker, without the variables that
// identify the caller.
func WorkerEnv(env []string) []string {
	return environ.Unset(plugin.CleanEnv(env),
		swarm.EnvToken, swarm.EnvShim, swarm.EnvEngine, swarm.EnvView, swarm.EnvWorker, swarm.EnvWorkerID, swarm.EnvDir, EnvTeam, EnvAgentID)
}
