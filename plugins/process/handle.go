package process

import (
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// handle is what is needed to find a worker again.
type handle struct{ shim.Worker }

func handleOf(id, dir string) (swarm.Handle, error) {
	return shim.EncodeHandle(handleVersion, handle{shim.Worker{ID: id, Dir: dir}})
}

func decode(raw swarm.Handle) (handle, error) {
	return shim.DecodeHandle[handle](raw, handleVersion)
}
