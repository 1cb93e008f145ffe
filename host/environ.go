package host

import (
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Variables of an agent, which is who a team knows a caller by.
const (
	envTeam    = "SWARM_TEAM"
	envAgentID = "SWARM_AGENT_ID"
)

// hostEnv returns what a local worker gets of the caller's environment: nothing
// that says who the caller is.
func (h *Host) hostEnv() []string {
	own := []string{
		swarm.EnvToken, swarm.EnvKeeper, swarm.EnvWorker, swarm.EnvWorkerID, swarm.EnvDir, envTeam, envAgentID,
	}
	return slices.DeleteFunc(plugin.CleanEnv(slices.Clone(h.opts.Env)), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(own, name)
	})
}

// workerEnv returns the variables that a worker gets on top of its environment:
// the user's, then those by which it knows itself. On another machine the state
// directory is not there. token is that of an agent.
func (h *Host) workerEnv(rec *registry.Record, local bool, token string) []string {
	env := slices.DeleteFunc(slices.Clone(rec.Env), func(kv string) bool { return strings.HasPrefix(kv, swarm.EnvToken+"=") })
	env = append(env,
		swarm.EnvWorker+"="+rec.Name,
		swarm.EnvWorkerID+"="+rec.ID,
	)
	if local {
		env = append(env, swarm.EnvDir+"="+h.opts.Dir)
	}
	if rec.Agent != "" {
		env = append(env, envTeam+"="+rec.Team, envAgentID+"="+rec.Agent, swarm.EnvToken+"="+token)
	}
	return env
}

// lookupEnv returns the value of a variable in the caller's environment.
func (h *Host) lookupEnv(name string) string {
	for _, kv := range slices.Backward(h.opts.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// isSwarmVariable reports whether an entry of an environment is one of swarm's
// own, which are not written to disk.
func isSwarmVariable(kv string) bool { return strings.HasPrefix(kv, "SWARM_") }
