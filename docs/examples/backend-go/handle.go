package main

import (
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles. The host keeps handles for as long
// as workers: a plugin reads every version that it ever wrote.
const handleVersion = 1

func encode(id, dir string) (swarm.Handle, error) {
	return shim.EncodeHandle(handleVersion, shim.Worker{ID: id, Dir: dir})
}

func decode(raw swarm.Handle) (shim.Worker, error) {
	return shim.DecodeHandle[shim.Worker](raw, handleVersion)
}
