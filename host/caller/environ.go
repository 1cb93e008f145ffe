package caller

import "github.com/swarmhost/swarm/shared/environ"

// Variables of an agent, which is who a team knows a caller by.
const (
	EnvTeam    = "SWARM_TEAM"
	EnvAgentID = "SWARM_AGENT_ID"
)

// lookupEnv returns the value of a variable in the caller's environment.
func (f *Finder) lookupEnv(name string) string { return environ.Get(f.opts.Env, name) }
