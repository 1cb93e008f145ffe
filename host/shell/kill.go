package shell

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

// KillRequest says how to end a shell.
type KillRequest struct {
	ID string
	// Signal is SIGTERM, SIGKILL or SIGINT, and goes to all processes of the shell.
	Signal string
	// Force says to end with SIGKILL what is alive after Timeout.
	Force   bool
	Timeout time.Duration
	// Progress is told when the kill begins and ends; nil: nobody.
	Progress func(host.KillEvent)
}

// KillResult is the answer to a [KillRequest], in the words of the tool.
type KillResult struct {
	// Shell is as it is now; zero if there is none of that id.
	Shell   Shell
	Success bool
	// SignalSent is the signal that was asked for, or "none" if the shell had
	// ended.
	SignalSent string
	// ForceKilled is nil if nothing was signalled.
	ForceKilled *bool
	// ExitCode is nil if it is not known.
	ExitCode *int
	// Problem is what the answer has as its error, or empty.
	Problem string
}

// Kill ends a shell and everything it started. What goes wrong with the shell is in
// the result; an error is for what has nothing to do with it.
func Kill(ctx context.Context, h *host.Host, s Session, req KillRequest) (KillResult, error) {
	return KillResult{}, errNotYet
}
