package process

import (
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

func encode(id, dir string) (swarm.Handle, error) {
	return shim.EncodeHandle(handleVersion, shim.Worker{ID: id, Dir: dir})
}

func decode(raw swarm.Handle) (shim.Worker, error) {
	return shim.DecodeHandle[shim.Worker](raw, handleVersion)
}
