package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// DefaultTimeout is how long a command in the foreground may take.
	DefaultTimeout = 2 * time.Minute
	// TimedOut is the exit code of one that took longer.
	TimedOut = 124
	// NotStarted is the exit code of one that could not be begun.
	NotStarted = 127
	// Unknown is the exit code of one whose keeper was killed.
	Unknown = -1
)

const (
	// foreground begins the names of workers that somebody waits for.
	foreground = "fg-"
	// leftovers is how long such a worker stays if nobody removes it, since who
	// waited was killed.
	leftovers = 10 * time.Minute
	// kept is how much of its output is kept, over both streams.
	kept = 64 << 20
	// tidyLimit is how long the output and the removal may take.
	tidyLimit = 30 * time.Second
)

// Result is what came of a command in the foreground.
type Result struct {
	// Stdout and Stderr are the newest part of what it wrote, as valid UTF-8. A line
	// in brackets says how much was before.
	Stdout, Stderr string
	// ExitCode is its exit code, 128+n after signal n, [TimedOut], [NotStarted] or
	// [Unknown].
	ExitCode int
	// Problem says in one line why there is no exit code of its own; else empty.
	Problem string
}

// Run runs a command in the foreground. When it takes too long, or the context
// ends, or this process does, all of it is ended; but for the last, before Run
// returns. So is what it left behind.
func Run(ctx context.Context, h *host.Host, c Command) (Result, error) {
	req := c.request()
	// Not "none": whoever comes across its end would remove the output that is not
	// read yet.
	req.Retain = leftovers.String()
	req.OutputLimit = kept
	req.Shell = &registry.Shell{Foreground: true}
	owner, err := host.OwnerOf(os.Getpid())
	if err != nil {
		return Result{}, err
	}
	req.Owner = &owner
	w, err := spawn(ctx, h, req, foreground)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return Result{ExitCode: NotStarted, Problem: strings.TrimPrefix(err.Error(), swarm.ErrInvalidSpec.Error()+": ")}, nil
	}
	if err != nil {
		return Result{}, cancelled(ctx, err)
	}
	res, err := await(ctx, h, w, c.Timeout)
	if out, rerr := read(ctx, h, w); rerr == nil {
		res.Stdout, res.Stderr = out[swarm.Stdout].String(), out[swarm.Stderr].String()
	} else {
		err = errors.Join(err, rerr)
	}
	return res, errors.Join(err, remove(ctx, h, w))
}

// await waits for the end of a worker, or brings it about.
func await(ctx context.Context, h *host.Host, w host.Worker, timeout time.Duration) (Result, error) {
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	only := host.Selection{Names: []string{w.ID}}
	err := h.Wait(limited, only, func(now host.Worker) { w = now })
	if err == nil && w.Gone() {
		return resultOf(w), nil
	}
	outs, kerr := h.Kill(context.WithoutCancel(ctx), only, host.KillRequest{})
	for _, out := range outs {
		kerr = errors.Join(kerr, out.Err)
	}
	var res Result
	switch {
	case ctx.Err() != nil:
		return Result{ExitCode: Unknown, Problem: "Command was cancelled"}, errors.Join(ctx.Err(), kerr)
	case err == nil:
		res = resultOf(w) // its keeper was killed, and it went on
	case limited.Err() == nil:
		return Result{ExitCode: Unknown}, errors.Join(err, kerr)
	default:
		res = Result{ExitCode: TimedOut, Problem: fmt.Sprintf("Command timed out after %s", timeout)}
	}
	if kerr != nil {
		res.Problem += ": " + kerr.Error()
	}
	return res, nil
}

// IsForeground reports whether a worker is a command that somebody waits for with
// [Run], and that goes with its answer.
func IsForeground(r registry.Record) bool {
	return r.Shell != nil && r.Shell.Foreground
}

// cancelled says so of an error that came of it.
func cancelled(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func resultOf(w host.Worker) Result {
	switch {
	case w.Exit != nil:
		return Result{ExitCode: exitCode(*w.Exit)}
	case w.Reason != "":
		return Result{ExitCode: Unknown, Problem: w.Reason}
	default:
		return Result{ExitCode: Unknown, Problem: fmt.Sprintf("the worker is %s", w.Status)}
	}
}

// read returns what a worker wrote, by its streams.
func read(ctx context.Context, h *host.Host, w host.Worker) (map[swarm.Stream]*tail, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	out := map[swarm.Stream]*tail{swarm.Stdout: {}, swarm.Stderr: {}}
	err := h.Logs(ctx, w.ID, swarm.OutputOptions{}, func(o swarm.Output) error {
		if t := out[o.Stream]; t != nil {
			t.dropped += o.Dropped
			t.add(o.Data, o.Partial)
		}
		return nil
	})
	return out, err
}

// remove removes a worker that has ended.
func remove(ctx context.Context, h *host.Host, w host.Worker) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	outs, err := h.Clean(ctx, host.Selection{Names: []string{w.ID}}, host.CleanRequest{})
	if errors.Is(err, host.ErrNotFound) {
		return nil // somebody was quicker
	}
	for _, out := range outs {
		// What could not be ended stays, and is known to `swarm`.
		if !errors.Is(out.Err, host.ErrRunning) {
			err = errors.Join(err, out.Err)
		}
	}
	return err
}
