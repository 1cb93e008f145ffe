package caller

import (
	"slices"

	"github.com/swarmhost/swarm/shared/proc"
)

// Hook is where the hook runs that calls.
type Hook struct {
	// Run is the run directory of the worker.
	Run string
	// Main is the worker's main process, and agent the process that runs the hook.
	Main, Agent proc.Identity
	// Above are the processes above the agent, up to the main process.
	Above []proc.Identity
}

// Hook finds the agent whose hook the calling process is. It requires the same proof as for
// an MCP server, see [Host.lineToMain]: a daemon may run hooks for agents in other workers.
func (f *Finder) Hook() (Hook, bool, error) {
	self, err := proc.Self()
	if err != nil {
		return Hook{}, false, err
	}
	line, run := lineUp(self.PID)
	if run == "" || len(line) < 2 {
		return Hook{}, false, nil
	}
	if err := checkShared(); err != nil {
		return Hook{}, false, err
	}
	// Clients run hooks in a shell, which goes with the hook.
	at := 1
	for at < len(line)-1 && slices.Contains(shells, line[at].Name) {
		at++
	}
	if err := f.lineToMain(line[at-1:], run); err != nil {
		return Hook{}, false, err
	}
	c := Hook{Run: run, Main: line[len(line)-1].Identity, Agent: line[at].Identity}
	for _, p := range line[at+1:] {
		c.Above = append(c.Above, p.Identity)
	}
	return c, true, nil
}

// shells are the names of shells that clients may run hooks in.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "busybox"}
