package top

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/worker"
)

// Options say what is shown where.
type Options struct {
	// Host is asked for everything.
	Host Host
	// Workspaces compares the workspaces of workers with their beginnings, and Rescues are what
	// was saved from removed ones.
	Workspaces Workspaces
	Rescues    dash.Rescues
	// In and Out are the terminal.
	In, Out *os.File
	// Held, which may be nil, is kept open by each program that has the terminal, until it
	// leaves it.
	Held *os.File
	// Env is the environment of the programs that attach workers.
	Env []string
	// Colour says that the terminal gets colours, Plain that symbols are ASCII.
	Colour, Plain bool
}

// Workspaces compares workspaces. [host.Host.Workspaces] returns them.
type Workspaces interface {
	dash.Differ
	Changes(ctx context.Context, workers []worker.Worker, limit time.Duration) map[string]compare.Changes
}

// frames is how often a second the terminal is written to, at most.
const frames = 25

// Run shows the workers until the person leaves or ctx ends, and gives the terminal back as
// it was. Workers continue after its end.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(ctx, o)
	profile := colorprofile.Ascii
	if o.Colour {
		profile = max(colorprofile.ANSI, colorprofile.Detect(o.Out, o.Env))
	}
	p := tea.NewProgram(newModel(s, theme{plain: o.Plain}),
		tea.WithContext(ctx), tea.WithInput(&terminalInput{File: o.In, ended: cancel}), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env),
		tea.WithColorProfile(profile), tea.WithFPS(frames))
	s.run(p.Send)
	_, err := p.Run()
	cancel()
	s.running.Wait()
	if errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) || errors.Is(err, tea.ErrInterrupted) {
		return nil // a signal, or the terminal is gone
	}
	return err
}

// terminalInput is the terminal's input. Its end ends the program, which no key could end any more.
type terminalInput struct {
	*os.File
	ended func()
}

func (i *terminalInput) Read(p []byte) (int, error) {
	n, err := i.File.Read(p)
	if errors.Is(err, io.EOF) {
		i.ended()
	}
	return n, err
}
