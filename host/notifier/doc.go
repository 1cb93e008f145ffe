// Package notifier notifies the agents of teams of their waiting messages and tasks. A
// notifier process is a process that waits until an agent is at its prompt and types one line there;
// an agent with hooks gets the line through a hook. Nothing is reported twice: the items of a
// line are recorded as being brought before it is typed.
package notifier

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Notifier sends notifier processes, and holds their dependencies. Its methods may be called
// concurrently. Its fields are what it needs.
type Notifier struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	Display *display.Reader
	Input   *input.Sender
	Callers *caller.Finder
	Logger  hclog.Logger
	// Executable is the program that becomes a notifier process, Env the caller's environment.
	Executable string
	Env        []string
	// Ruler decides by the person's rules what hooks ask.
	Ruler *question.Ruler
	// Notify are the stops that hooks report to leaders of teams, see [team.Stop].
	Notify []string
	// Quiet says that no notifier process is sent.
	Quiet bool
}
