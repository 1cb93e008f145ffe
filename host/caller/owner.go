package caller

import (
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func OwnerLives(o swarm.Owner) bool {
	return proc.Identity{PID: o.PID, Start: o.Start, Boot: o.Boot}.Alive()
}
