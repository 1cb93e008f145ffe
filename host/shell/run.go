package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// DefaultTimeout is how long a command in the foreground may take.
	DefaultTimeout = 2 * time.Minute
	// TimedOut is the exit code of one that took longer.
	TimedOut = 124
	// NotStarted is the exit code of one that could not be begun.
	NotStarted = 127
	// Unknown is the exit code of one whose shim was killed.
	Unknown = -1
)

const (
	// foreground begins the names of workers that a caller waits for.
	foreground = "fg-"
	// leftovers is how long such a worker stays if the process that waited for it was
	// killed, and so did not remove it.
	leftovers = 10 * time.Minute
	// kept is how much of its output is kept, over both streams.
	kept = 64 << 20
	// tidyLimit is how long the output and the removal may take.
	tidyLimit = 30 * time.Second
)

// Result is the result of a command in the foreground, as the tool Bash returns it.
type Result struct {
	// Stdout and Stderr are the newest part of its output, as valid UTF-8. A line in
	// brackets says how much came before.
	Stdout string `json:"stdout" jsonschema:"Its standard output; empty in the background"`
	Stderr string `json:"stderr" jsonschema:"Its standard error; empty in the background"`
	// ExitCode may be [TimedOut], [NotStarted] or [Unknown].
	ExitCode int `json:"exit_code" jsonschema:"Exit code, 128+n after signal n; -1 in the background; see error if it is not the command's own" schema:"number"`
	// TaskID is empty if the command has ended.
	TaskID string `json:"task_id,omitempty" jsonschema:"ID of the background shell, for BashOutput and KillShell"`
	// OutputFile has all output, if that is more than was requested; it is removed an hour
	// later. Otherwise it is empty.
	OutputFile string `json:"output_file,omitempty" jsonschema:"File that the background shell writes to, standard output and error merged; in the foreground only if the output was too long; the file holds all of it"`
	// Problem says in one line why there is no exit code of its own; otherwise it is empty.
	Problem string `json:"-"`
	// Transcribe copies the output of the background shell to its file until the shell has
	// ended; nil if there is none.
	Transcribe func(context.Context) error `json:"-"`
}

// Run runs a command in the foreground. When it takes too long, or the context
// ends, or this process does, the command and everything that it left behind is ended: in the first
// two cases before Run returns.
func Run(ctx context.Context, h *host.Host, c Command) (Result, error) {
	req := c.request()
	// Not "none": the process that finds its end would remove the output that is not
	// read yet.
	req.Retain = leftovers.String()
	req.OutputLimit = kept
	req.Shell = &registry.Shell{Foreground: true}
	owner, err := spawn.OwnerOf(os.Getpid())
	if err != nil {
		return Result{}, err
	}
	req.Owner = &owner
	named := foreground
	if c.HandOver > 0 {
		// A name is permanently, and it may become a shell.
		in, err := c.Session.scope(ctx, h)
		if err != nil {
			return Result{}, err
		}
		named, req.Shell.Session, req.Shell.Description = prefix, in.session, c.Description
		if c.Session.Owner != nil {
			req.Owner = c.Session.Owner
		}
	}
	w, err := spawnNamed(ctx, h, req, named)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return Result{ExitCode: NotStarted, Problem: errtext.Without(err, swarm.ErrInvalidSpec)}, nil
	}
	if err != nil {
		return Result{}, cancelled(ctx, err)
	}
	res, err := await(ctx, h, w, c)
	if res.TaskID != "" {
		res.Transcribe = func(ctx context.Context) error { return transcribe(ctx, h, w.ID, res.OutputFile, true) }
		return res, err
	}
	out, rerr := read(ctx, h, w)
	if rerr != nil {
		return res, errors.Join(err, rerr, remove(ctx, h, w))
	}
	if file := transcriptPath(h, w); c.shorten(&res, out, file) {
		return res, errors.Join(err, retain(ctx, h, w, file))
	}
	return res, errors.Join(err, remove(ctx, h, w))
}

// shorten puts the output into a result, and reports whether some of it had to be left
// out. All of it is in file then. If both streams are long, standard error gets a third.
func (c Command) shorten(res *Result, out map[swarm.Stream]*tail, file string) bool {
	stdout, stderr := out[swarm.Stdout], out[swarm.Stderr]
	if c.Most == 0 || stdout.length()+stderr.length() <= c.Most {
		res.Stdout, res.Stderr = stdout.String(), stderr.String()
		return false
	}
	forErr := min(stderr.length(), max(c.Most/3, c.Most-stdout.length()))
	res.Stdout, res.Stderr, res.OutputFile = stdout.ends(c.Most-forErr, file), stderr.ends(forErr, file), file
	return true
}

// retain keeps a command that has ended as long as a shell, for its output, all of which
// it writes to a file.
func retain(ctx context.Context, h *host.Host, w worker.Worker, file string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	err := makeTranscript(file)
	if err == nil {
		err = transcribe(ctx, h, w.ID, file, false)
	}
	if err != nil {
		return err
	}
	return h.Store().Edit(ctx, w.ID, func(r *registry.Record) { r.Retain = retention.String() })
}

// handOver makes a shell of a command that a call waited for.
func handOver(ctx context.Context, h *host.Host, w worker.Worker) error {
	if err := makeTranscript(transcriptPath(h, w)); err != nil {
		return err
	}
	return h.Store().Edit(ctx, w.ID, func(r *registry.Record) {
		r.Retain = retention.String()
		r.Shell.Foreground, r.Shell.FromLog = false, true
	})
}

// await waits for the end of a worker, or brings it about, or hands it over.
func await(ctx context.Context, h *host.Host, w worker.Worker, c Command) (Result, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	wait, handsOver := timeout, c.HandOver > 0 && c.HandOver < timeout
	if handsOver {
		wait = c.HandOver
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	only := worker.Selection{Names: []string{w.ID}}
	err := h.Wait(limited, only, func(now worker.Worker) { w = now })
	if err == nil && w.Gone() {
		return resultOf(w), nil
	}
	if handsOver && err != nil && limited.Err() != nil && ctx.Err() == nil {
		if err = handOver(ctx, h, w); err == nil {
			return Result{ExitCode: Unknown, TaskID: w.Name, OutputFile: transcriptPath(h, w)}, nil
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	outs, kerr := h.Kill().Kill(ending, only, kill.Request{})
	for _, out := range outs {
		kerr = errors.Join(kerr, out.Err)
	}
	var res Result
	switch {
	case ctx.Err() != nil:
		return Result{ExitCode: Unknown, Problem: "Command was cancelled"}, errors.Join(ctx.Err(), kerr)
	case err == nil:
		res = resultOf(w) // its shim was killed, and it continued
	case limited.Err() == nil || handsOver:
		return Result{ExitCode: Unknown}, errors.Join(err, kerr)
	default:
		res = Result{ExitCode: TimedOut, Problem: fmt.Sprintf("Command timed out after %s", timeout)}
	}
	if kerr != nil {
		res.Problem += ": " + kerr.Error()
	}
	return res, nil
}

// IsForeground reports whether a worker is a command that a caller waits for with
// [Run], and that goes with its answer.
func IsForeground(r registry.Record) bool {
	return r.Shell != nil && r.Shell.Foreground
}

func cancelled(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

func resultOf(w worker.Worker) Result {
	switch {
	case w.Exit != nil:
		return Result{ExitCode: proc.ExitCode(w.Exit.Code, w.Exit.Signal)}
	case w.Reason != "":
		return Result{ExitCode: Unknown, Problem: w.Reason}
	default:
		return Result{ExitCode: Unknown, Problem: fmt.Sprintf("the worker is %s", w.Status)}
	}
}

func read(ctx context.Context, h *host.Host, w worker.Worker) (map[swarm.Stream]*tail, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	out := map[swarm.Stream]*tail{swarm.Stdout: {}, swarm.Stderr: {}}
	err := h.Display().Logs(ctx, w.ID, swarm.OutputOptions{}, func(o swarm.Output) error {
		if t := out[o.Stream]; t != nil {
			t.dropped, t.lost = t.dropped+o.Dropped, t.lost || o.Dropped > 0
			t.add(o.Data, o.Partial)
		}
		return nil
	})
	return out, err
}

func remove(ctx context.Context, h *host.Host, w worker.Worker) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	outs, err := h.Kill().Clean(ctx, worker.Selection{Names: []string{w.ID}}, kill.CleanRequest{})
	if errors.Is(err, store.ErrNotFound) {
		return nil // another process was quicker
	}
	for _, out := range outs {
		// A shell that could not be ended stays, and `swarm` lists it.
		if !errors.Is(out.Err, worker.ErrRunning) {
			err = errors.Join(err, out.Err)
		}
	}
	return err
}

// Outcome returns what came of a shell of the session that has ended, as [Run] would have:
// of a command that was handed over, with its streams apart. most is how many characters
// of output it returns at most. A shell that runs still is an [host.ErrRunning], an
// unknown one a [NotFoundError].
func Outcome(ctx context.Context, h *host.Host, s Session, id string, most int) (Result, error) {
	w, err := find(ctx, h, s, id)
	if err != nil {
		return Result{}, err
	}
	if !w.Gone() {
		return Result{}, worker.ErrRunning
	}
	out, err := read(ctx, h, w)
	if err != nil {
		return Result{}, err
	}
	res := resultOf(w)
	Command{Most: most}.shorten(&res, out, transcriptPath(h, w))
	return res, nil
}
