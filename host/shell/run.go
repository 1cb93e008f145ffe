package shell

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

const (
	// DefaultTimeout is how long a command in the foreground may take.
	DefaultTimeout = 2 * time.Minute
	// TimedOut is the exit code of one that took longer.
	TimedOut = 124
	// NotStarted is the exit code of one that could not be begun.
	NotStarted = 127
)

// Result is what came of a command in the foreground.
type Result struct {
	// Stdout and Stderr are the newest part of what it wrote, as valid UTF-8.
	Stdout, Stderr string
	// ExitCode is its exit code, 128+n after signal n, [TimedOut] or [NotStarted].
	ExitCode int
	// Problem says in one line why it was not begun, or not waited for to its end;
	// else empty.
	Problem string
}

// Run runs a command in the foreground. When it takes too long, or the context
// ends, all of it is ended before Run returns.
func Run(ctx context.Context, h *host.Host, c Command) (Result, error) {
	return Result{}, errNotYet
}
