package apptest

import (
	"bytes"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// New returns an app that writes into buffers and has no environment.
func New() (a *app.App, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app.App{Printer: output.Printer{Out: &output.Stream{W: stdout}, Err: stderr, OutWidth: noTerminal, ErrWidth: noTerminal}}, stdout, stderr
}

func noTerminal() int { return 0 }
