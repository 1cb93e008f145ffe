package workers

import (
	"context"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/store"
)

// PrintFirstSteps prints the first commands for a person who has no workers yet. It reports
// whether it did.
func PrintFirstSteps(ctx context.Context, a *app.App) bool {
	dir, err := a.StateDir()
	if err != nil || a.OutWidth() == 0 {
		return false
	}
	if names, err := store.Names(ctx, dir); err != nil || len(names) > 0 {
		return false
	}
	faint := func(text string) output.Made {
		if a.Colours() {
			text = output.Faint.Paint(text)
		}
		return output.Made(text)
	}
	a.Printf("swarm keeps commands running after the terminal is gone, and ends them for good.\n\n")
	a.Printf("You have no workers yet. The first three commands:\n\n")
	for _, step := range [][2]string{
		{"swarm spawn --name clock -- sh -c 'while date; do sleep 1; done'", "start a worker"},
		{"swarm logs clock --follow", "see what it writes (Ctrl-C leaves it running)"},
		{"swarm kill clock", "end it, and everything that it has started"},
	} {
		a.Printf("  %s\n      %s\n", step[0], faint(step[1]))
	}
	a.Printf("\n'swarm --help' shows all commands.\n")
	return true
}
