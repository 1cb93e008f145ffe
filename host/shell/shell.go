package shell

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// retention is how long the record of a shell stays after its end.
const retention = time.Hour

type Status string

const (
	// Running: something of it is alive.
	Running Status = "running"
	// Completed: it ended by itself, with 0.
	Completed Status = "completed"
	// Killed: it was ended by [Kill], by `swarm kill`, or with its session.
	Killed Status = "killed"
	// Failed: it ended otherwise, was never started, or its shim was killed.
	Failed Status = "error"
)

// Shell is a background shell, as tools return it.
type Shell struct {
	// ID is "bg-" and six letters or digits.
	ID string `json:"id" jsonschema:"ID for BashOutput and KillShell"`
	// PID is 0 unless it runs.
	PID         int    `json:"pid,omitempty" jsonschema:"Main process while it runs" schema:"number"`
	Command     string `json:"command" jsonschema:"Command line"`
	Description string `json:"description,omitempty" jsonschema:"Description that Bash was given"`
	// Dir is the directory that it was started in.
	Dir       string           `json:"-"`
	StartedAt humane.Timestamp `json:"started_at" jsonschema:"When it was started"`
	EndedAt   humane.Timestamp `json:"ended_at,omitzero" jsonschema:"When it ended"`
	Status    Status           `json:"status" jsonschema:"Its status" schema:"enum=running|completed|killed|error"`
	// ExitCode is nil while it runs, or if it is not known.
	ExitCode *int `json:"exit_code,omitempty" jsonschema:"Exit code once it has ended, 128+n after signal n" schema:"number"`
	// OutputFile holds standard output and error in the order written.
	OutputFile string `json:"output_file" jsonschema:"File that it writes to"`
	// Session is empty for a person's shell.
	Session string `json:"session,omitempty" jsonschema:"Session that it belongs to"`
}

// NotFoundError says that the session has no shell of that id.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("Shell not found: %s", e.ID) }

func shellOf(h *host.Host, w worker.Worker) Shell {
	s := Shell{
		ID: w.Name, PID: w.PID, Command: strings.Join(w.Command[min(2, len(w.Command)):], " "),
		Description: w.Shell.Description, Dir: w.Dir, Session: w.Shell.Session, Status: statusOf(w),
		StartedAt: humane.At(w.Started), EndedAt: humane.At(w.Ended),
		OutputFile: transcriptPath(h, w),
	}
	if s.StartedAt.IsZero() {
		s.StartedAt.Time = w.Created
	}
	if s.Status != Running && w.Exit != nil {
		s.ExitCode = new(proc.ExitCode(w.Exit.Code, w.Exit.Signal))
	}
	return s
}

func transcriptPath(h *host.Host, w worker.Worker) string {
	return filepath.Join(h.RunDir(w.ID), swarm.TranscriptFile)
}

func statusOf(w worker.Worker) Status {
	switch {
	case !w.Gone():
		// A shell whose backend can't be asked is not known to have ended.
		return Running
	case w.Exit == nil:
		return Failed
	case w.Exit.Cause == swarm.CauseKilled || w.Exit.Cause == swarm.CauseOwner:
		return Killed
	case w.Exit.Cause == swarm.CauseCompleted || w.Exit.Cause == swarm.CauseExited && w.Exit.Code == 0:
		return Completed
	default:
		return Failed
	}
}

func expired(ended, now time.Time) bool {
	return !ended.IsZero() && now.Sub(ended) >= retention
}

// ended returns the end of the worker of a record, zero if that is not recorded.
func ended(r *registry.Record) time.Time {
	if r.State != registry.Stopped || r.Exit == nil {
		return time.Time{}
	}
	return r.Exit.Time
}
