package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/team"
)

// DefaultBackend owns the workers of agents that are spawned without a backend.
const DefaultBackend = "tmux"

// SpawnRequest says what agent to start.
type SpawnRequest struct {
	Team string
	// Name is its name in the team; empty: its id.
	Name string
	// Role is empty for a worker.
	Role  team.Role
	Model string
	// Prompt takes the place of {prompt} in Command. Without one there it is typed
	// once the agent shows that it is ready for input.
	Prompt string
	// Dir is the working directory, absolute.
	Dir string
	// Backend is empty for [DefaultBackend].
	Backend string
	// Command is the program and its arguments. {prompt}, {model}, {name} and
	// {port}, the port of the team's server, are replaced in it.
	Command []string
}

// Spawned is a new agent.
type Spawned struct {
	ID, Name, Color string
	// Session is the id of its worker, Worker the worker's name.
	Session, Worker string
	// Pane is where its screen is, empty if it has none.
	Pane     string
	Warnings []string
}

// Spawn starts an agent and returns when it is active. A prompt that it could not
// be given is a warning, and a message in its inbox.
func Spawn(ctx context.Context, h *host.Host, req SpawnRequest) (Spawned, error) {
	return Spawned{}, errNotYet
}
