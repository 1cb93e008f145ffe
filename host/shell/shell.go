package shell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host"
)

var errNotYet = errors.New("not built yet")

// Status is how a shell is, in one word.
type Status string

// The statuses of a shell.
const (
	// Running: something of it is alive.
	Running Status = "running"
	// Completed: it ended by itself, with 0.
	Completed Status = "completed"
	// Killed: it was ended by [Kill], by `swarm kill`, or with its session.
	Killed Status = "killed"
	// Failed: it ended otherwise, was never started, or its keeper was killed.
	Failed Status = "error"
)

// Shell is a background shell.
type Shell struct {
	// ID is "bg-" and six letters or digits.
	ID string
	// Command is the command line.
	Command string
	// Description is what whoever began it said of it.
	Description string
	// Dir is the directory that it was begun in.
	Dir string
	// Session is whose it is.
	Session string
	Status  Status
	// PID is the main process; 0 unless it runs.
	PID            int
	Started, Ended time.Time
	// ExitCode is set once it has ended, if it is known: 128+n after signal n.
	ExitCode *int
	// OutputFile is where it writes its output, standard output and error in the
	// order written.
	OutputFile string
}

// NotFoundError says that the session has no shell of that id.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("Shell not found: %s", e.ID) }

// Command is a command line to run with bash.
type Command struct {
	// Command is the command line, not empty.
	Command string
	// Description is what the caller says of it, or empty.
	Description string
	// Dir is the working directory, absolute.
	Dir string
	// Timeout is how long it may take in the foreground; 0: [DefaultTimeout].
	Timeout time.Duration
	// Session is whose it is.
	Session Session
}

// Start begins a command in the background and returns once it runs.
func Start(ctx context.Context, h *host.Host, c Command) (Shell, error) {
	return Shell{}, errNotYet
}

// List returns the shells of a session, the oldest first: those that run, or all.
func List(ctx context.Context, h *host.Host, s Session, all bool) ([]Shell, error) {
	return nil, errNotYet
}
