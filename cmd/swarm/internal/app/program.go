package app

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Companion returns the path of swarm and that of a program that is installed with it.
func (a *App) Companion(name string) (own, path string, err error) {
	if own, err = setup.Executable(); err != nil {
		return "", "", err
	}
	known, err := a.Setup().Catalog(nil)
	if err != nil {
		return "", "", err
	}
	path, err = known.Beside(name)
	if missing, ok := errors.AsType[*catalog.MissingError](err); ok {
		err = &output.HintError{Err: missing, Hint: "it comes with swarm: run 'make install', or go install github.com/swarmhost/swarm/cmd/...@latest"}
	}
	return own, path, err
}

// Become replaces this process by another program.
func (a *App) Become(to swarm.Attachment) error {
	path, err := exec.LookPath(to.Command[0])
	if err != nil {
		return err
	}
	env := slices.DeleteFunc(slices.Clone(a.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(to.Unset, name)
	})
	return fmt.Errorf("cannot run %s: %w", path, unix.Exec(path, to.Command, env))
}
