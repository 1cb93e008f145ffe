package registry

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// State is what the registry says of a worker.
type State string

const (
	// Starting: the spawn is not over, or was interrupted.
	Starting State = "starting"
	// Running: the worker was started and no end is recorded.
	Running State = "running"
	// Stopped: nothing of the worker is left, or it never began.
	Stopped State = "stopped"
)

// The steps of a spawn, in their order: what may have been made.
const (
	StepRecord    = ""
	StepWorkspace = "workspace"
	StepBackend   = "backend"
	// StepKilling: the worker was asked to end and no call waited for it.
	StepKilling = "killing"
	// StepUndo: the backend was asked to start the worker, and the call failed then; a
	// worker that it has started is to be ended.
	StepUndo = "undo"
	// StepRespawning: the worker of an agent is ended to be started again.
	StepRespawning = "respawning"
)

// The values of Spec.Retain besides durations.
const (
	// RetainUntilClean keeps the record of an ended worker, as an empty text does.
	RetainUntilClean = "until-clean"
	// RetainNone lets it go with the worker's end.
	RetainNone = "none"
)

// Record is all that is remembered of one worker.
type Record struct {
	Spec

	State State `json:"state,omitempty"`
	// Step is what is under way.
	Step      string              `json:"step,omitempty"`
	Workspace *swarm.WorkspaceRef `json:"workspace,omitempty"`
	// Removing says that the removal of Workspace was begun and that no end of it is recorded.
	Removing bool         `json:"removing,omitempty"`
	Handle   swarm.Handle `json:"handle,omitzero"`
	Place    swarm.Where  `json:"place,omitzero"`
	PID      int          `json:"pid,omitempty"`
	Started  time.Time    `json:"started,omitzero"`
	// Exit is nil if it is not known.
	Exit *swarm.Exit `json:"exit,omitempty"`
	// Completion is what the worker said when it was done, if it did.
	Completion *swarm.Completion `json:"completion,omitempty"`
	// Restarts is how many of its restarts the events report.
	Restarts int `json:"restarts,omitempty"`
	// Replaces is the record that this one is to take the place of once its spawn
	// is done; nil otherwise.
	Replaces *Record `json:"replaces,omitempty"`
	// Reason explains the state in one line; it may be empty.
	Reason string `json:"reason,omitempty"`
	// ShellRead is how many bytes of a background shell's transcript were read.
	ShellRead int64 `json:"shell_read,omitempty"`
}

// IsRunning reports whether the worker was started and no end is recorded.
func (r Record) IsRunning() bool { return r.State == Running }

// IsEphemeral reports whether the record goes with the worker's end.
func (r Record) IsEphemeral() bool { return r.Retain == RetainNone }

// IndexOf returns the index of the record with that id, or -1.
func IndexOf(recs []Record, id string) int {
	return slices.IndexFunc(recs, func(r Record) bool { return r.ID == id })
}

// Spec is what was asked for. It does not change, and it is what a run
// directory's worker.json holds.
type Spec struct {
	ID          string            `json:"id,omitempty"`
	Name        string            `json:"name,omitempty"`
	Backend     string            `json:"backend,omitempty"`
	Plugin      *Plugin           `json:"plugin,omitempty"`
	Command     []string          `json:"command"`
	Dir         string            `json:"dir"`
	Env         []string          `json:"env,omitempty"`
	Tags        []string          `json:"tags,omitempty"`
	Options     map[string]string `json:"options,omitempty"`
	Kill        swarm.KillOptions `json:"kill"`
	OutputLimit int64             `json:"output_limit,omitempty"`
	Retain      string            `json:"retain,omitempty"`
	Owner       *swarm.Owner      `json:"owner,omitempty"`
	Team        string            `json:"team,omitempty"`
	// Agent is the id of the agent of its team that it is, or empty.
	Agent string `json:"agent,omitempty"`
	// Shell is set for a shell.
	Shell   *Shell        `json:"shell,omitempty"`
	Ask     *WorkspaceAsk `json:"workspace_ask,omitempty"`
	Stdin   bool          `json:"stdin,omitempty"`
	Restart swarm.Restart `json:"restart,omitzero"`
	// Limits are what it may use. They alone may change, in the record, while it runs.
	Limits swarm.Limits `json:"limits,omitzero"`
	// Sandbox is what it is kept from; nil: nothing.
	Sandbox *swarm.Sandbox `json:"sandbox,omitempty"`
	Ralph   bool           `json:"ralph,omitempty"`
	// Shown is the command that people are shown in place of its own, which only runs that
	// one; empty: its own.
	Shown []string `json:"shown,omitempty"`
	// Project is the path of the config file that declared it, or empty.
	Project string `json:"project,omitempty"`
	// Profile is the profile of agents that it was given: a name, or "none"; empty:
	// that of its command.
	Profile string `json:"profile,omitempty"`
	// Resurrect says that it is to be started again after the machine was.
	Resurrect bool `json:"resurrect,omitempty"`
	// NoScreen says that its backend shows no screens: its program is on no terminal.
	NoScreen bool `json:"no_screen,omitempty"`
	// Real are the directories to which the paths of a worker in a sandbox, and that of the
	// workspace of any worker, led when it was first started. Later starts use them.
	Real []RealPath `json:"real,omitempty"`
	// Own says which settings were chosen for this worker, so that later defaults do not
	// change them.
	Own Own `json:"own,omitzero"`
	// SpawnedBy are the ids of the workers from inside of which it was spawned. Its acts
	// count as theirs.
	SpawnedBy []string `json:"spawned_by,omitempty"`
	// Previous are the ids of the incarnations before, the oldest first.
	Previous []string  `json:"previous,omitempty"`
	Created  time.Time `json:"created"`
}

// Own are the settings of a worker that were chosen for it. The defaults of the user's config
// say the others.
type Own struct {
	Memory    bool `json:"memory,omitempty"`
	CPUs      bool `json:"cpus,omitempty"`
	PIDs      bool `json:"pids,omitempty"`
	Nice      bool `json:"nice,omitempty"`
	IOWeight  bool `json:"io_weight,omitempty"`
	Effort    bool `json:"effort,omitempty"`
	Sandbox   bool `json:"sandbox,omitempty"`
	Resurrect bool `json:"resurrect,omitempty"`
}

// Or returns the settings that are in either of them.
func (o Own) Or(other Own) Own {
	return Own{
		Memory: o.Memory || other.Memory, CPUs: o.CPUs || other.CPUs, PIDs: o.PIDs || other.PIDs, Nice: o.Nice || other.Nice,
		IOWeight: o.IOWeight || other.IOWeight, Effort: o.Effort || other.Effort, Sandbox: o.Sandbox || other.Sandbox,
		Resurrect: o.Resurrect || other.Resurrect,
	}
}

// Shell is what a shell of an agent or of a tool client is in addition to a worker.
type Shell struct {
	// Foreground says that its caller waits for it: it is on no list.
	Foreground bool `json:"foreground,omitempty"`
	// FromLog says that its transcript is written from its log, since its streams were
	// kept apart.
	FromLog bool `json:"from_log,omitempty"`
	// Acts says that it acts as its owner, which is the process that began it.
	Acts bool `json:"acts,omitempty"`
	// Session is the session that it belongs to, and that alone can find it.
	Session     string `json:"session,omitempty"`
	Description string `json:"description,omitempty"`
}

// Plugin is how a config file said that a plugin is to be started; it is kept
// so that no config file is needed to end its workers.
type Plugin struct {
	Command []string       `json:"command,omitempty"`
	Version string         `json:"version,omitempty"`
	SHA256  string         `json:"sha256,omitempty"`
	MTLS    bool           `json:"mtls,omitempty"`
	Config  map[string]any `json:"config,omitempty"`
	// Source is the config file that said so, as the catalog names it.
	Source string `json:"source,omitempty"`
}

// WorkspaceAsk is what workspace was asked for, and of which plugin.
type WorkspaceAsk struct {
	Plugin string  `json:"plugin"`
	Config *Plugin `json:"config,omitempty"`
	Base   string  `json:"base"`
	Branch string  `json:"branch,omitempty"`
	Parent string  `json:"parent,omitempty"`
	// Options are for Plugin.
	Options map[string]string `json:"options,omitempty"`
	// Within says that the worker runs in the directory of the workspace that
	// corresponds to Base, not in the workspace itself.
	Within bool `json:"within,omitempty"`
	// Away says that the backend of the worker makes the workspace, on the machine of the
	// worker, in place of Plugin.
	Away bool `json:"away,omitempty"`
}

// columns are those that a record is read from, in the order of fields. Besides them a
// row has seq, and what indexes need: ended_ns and shell, see values.
const columns = "id, name, document, state, backend, team, retain, handle_version, handle"

const written = columns + ", ended_ns, shell"

func (r *Record) fields() []any {
	return []any{&r.ID, &r.Name, document{r}, &r.State, &r.Backend, &r.Team, &r.Retain, &r.Handle.Version, &r.Handle.Data}
}

// values are what is stored of a record, in the order of written. Its document leaves
// out what has a column.
func (r *Record) values() []any {
	rest := *r
	rest.ID, rest.Name, rest.State, rest.Backend, rest.Team, rest.Retain, rest.Handle = "", "", "", "", "", "", swarm.Handle{}
	values := r.fields()
	values[2] = document{&rest}
	return append(values, r.ended(), r.Shell != nil)
}

// ended is when the worker ended, in Unix nanoseconds; 0 if that is not known.
func (r *Record) ended() int64 {
	if r.Exit == nil {
		return 0
	}
	return nanos(r.Exit.Time)
}

// IgnoreNotFound returns nil for an [ErrNotFound], else err.
func IgnoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Edit changes the record of a worker in a transaction of its own.
func (r *Registry) Edit(ctx context.Context, id string, change func(*Record)) error {
	return r.Change(ctx, func(ctx context.Context, tx *Tx) error {
		return tx.Update(ctx, id, func(rec *Record) error {
			change(rec)
			return nil
		})
	})
}

// RealPath says to which directory a path led.
type RealPath struct {
	Path string `json:"path"`
	// Real is the directory, without symbolic links.
	Real string `json:"real"`
}

// RealOf returns the directory to which a path led when the worker was first started, and
// whether that is recorded.
func (r *Record) RealOf(path string) (real string, known bool) {
	for _, p := range r.Real {
		if p.Path == path {
			return p.Real, true
		}
	}
	return "", false
}
