package agent

import "time"

// ServerHost is the address that servers of teams listen on.
const ServerHost = "127.0.0.1"

// Server is the server that the agents of a team share.
type Server struct {
	// Worker is the name of its worker.
	Worker string
	// Port is where it listens, or did. PID is 0 if it does not run.
	Port, PID int
	// Running says that its process lives and its port answers.
	Running bool
	// Sessions is how many agents use it.
	Sessions int
	Host     string
	Started  time.Time
}
