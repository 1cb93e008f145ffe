package main

import (
	"errors"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/catalog"
)

// companion returns the path of swarm and that of a program which is installed
// with it.
func (a *app) companion(name string) (own, path string, err error) {
	if own, err = setup.Executable(); err != nil {
		return "", "", err
	}
	known, err := a.setup().Catalog(nil)
	if err != nil {
		return "", "", err
	}
	path, err = known.Beside(name)
	if missing, ok := errors.AsType[*catalog.MissingError](err); ok {
		err = &hintError{missing, "it is installed with swarm: run 'make install', or go install github.com/swarmhost/swarm/cmd/...@latest"}
	}
	return own, path, err
}
