package registry

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// State is what the registry says of a worker.
type State string

// The states of a record.
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
	// StepKilling: the worker was told to end and nobody waited for it.
	StepKilling = "killing"
	// StepRespawning: the worker of an agent is ended to be started again.
	StepRespawning = "respawning"
)

// The values of Spec.Retain besides durations.
const (
	// RetainUntilClean keeps the record of an ended worker; so does an empty text.
	RetainUntilClean = "until-clean"
	// RetainNone lets it go with the worker's end.
	RetainNone = "none"
)

// Record is all that is remembered of one worker.
type Record struct {
	Spec

	State State
	// Step is what is under way.
	Step      string
	Workspace *swarm.WorkspaceRef
	Handle    swarm.Handle
	Place     swarm.Where
	PID       int
	Started   time.Time
	// Exit is nil if it is not known.
	Exit *swarm.Exit
	// Completion is what the worker said when it was done, if it did.
	Completion *swarm.Completion
	// Restarts is how many of its restarts the events tell.
	Restarts int
	// Replaces is the record that this one is to take the place of once its spawn
	// is done; nil otherwise.
	Replaces *Record
	// Reason explains the state in one line; it may be empty.
	Reason string
	// ShellRead is how many bytes of a background shell's transcript were read.
	ShellRead int64
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
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Backend     string            `json:"backend"`
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
	Ralph   bool          `json:"ralph,omitempty"`
	// Project is the path of the config file that declared it, or empty.
	Project string `json:"project,omitempty"`
	// Profile is the profile of agents that it was given: a name, or "none"; empty:
	// that of its command.
	Profile string `json:"profile,omitempty"`
	// Previous are the ids of the incarnations before, the oldest first.
	Previous []string  `json:"previous,omitempty"`
	Created  time.Time `json:"created"`
}

// Shell is what a shell of an agent or of a tool client is beside a worker.
type Shell struct {
	// Foreground says that whoever began it waits for it: it is on no list.
	Foreground bool `json:"foreground,omitempty"`
	// FromLog says that its transcript is written from its log, since its streams were
	// kept apart.
	FromLog bool `json:"from_log,omitempty"`
	// Acts says that it acts as its owner, which is no other one than who began it.
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
}

// WorkspaceAsk is what workspace was asked for, and of which plugin.
type WorkspaceAsk struct {
	Plugin string  `json:"plugin"`
	Config *Plugin `json:"config,omitempty"`
	Base   string  `json:"base"`
	Branch string  `json:"branch,omitempty"`
	Parent string  `json:"parent,omitempty"`
	// Within says that the worker runs in the directory of the workspace that
	// corresponds to Base, not in the workspace itself.
	Within bool `json:"within,omitempty"`
}

// columns are those of a record, in the order of fields and scan.
const columns = `id, name, state, step, backend, plugin, command, dir, env, tags, options, kill_policy,
	output_limit, retain, owner, team, workspace_ask, workspace, handle_version, handle, place, pid,
	created_ns, started_ns, exit_code, exit_signal, exit_cause, exit_reason, ended_ns, reason,
	stdin, restart, ralph, previous, replaces, restarts, completion, project,
	agent, shell, shell_read, profile`

// row is a record as it is stored.
type row struct {
	Record
	plugin, command, env, tags, options, kill, ask, workspace, place string
	owner, restart, previous, replaces, completion, shell            string
	created, started, ended                                          int64
	code                                                             *int
	exit                                                             swarm.Exit
}

// targets are the places that a row is scanned into.
func (r *row) targets() []any {
	return []any{
		&r.ID, &r.Name, &r.State, &r.Step, &r.Backend, &r.plugin, &r.command, &r.Dir, &r.env, &r.tags, &r.options, &r.kill,
		&r.OutputLimit, &r.Retain, &r.owner, &r.Team, &r.ask, &r.workspace, &r.Handle.Version, &r.Handle.Data, &r.place, &r.PID,
		&r.created, &r.started, &r.code, &r.exit.Signal, &r.exit.Cause, &r.exit.Reason, &r.ended, &r.Reason,
		&r.Stdin, &r.restart, &r.Ralph, &r.previous, &r.replaces, &r.Restarts, &r.completion, &r.Project,
		&r.Agent, &r.shell, &r.ShellRead, &r.Profile,
	}
}

// decode fills in the record from what was scanned.
func (r *row) decode() error {
	for _, f := range []struct {
		text string
		into any
	}{
		{r.plugin, &r.Plugin},
		{r.command, &r.Command},
		{r.env, &r.Env},
		{r.tags, &r.Tags},
		{r.options, &r.Options},
		{r.kill, &r.Kill},
		{r.ask, &r.Ask},
		{r.workspace, &r.Workspace},
		{r.place, &r.Place},
		{r.owner, &r.Owner},
		{r.restart, &r.Restart},
		{r.previous, &r.Previous},
		{r.replaces, &r.Replaces},
		{r.completion, &r.Completion},
		{r.shell, &r.Shell},
	} {
		if f.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return err
		}
	}
	r.Created, r.Started = when(r.created), when(r.started)
	if r.code != nil {
		r.exit.Code, r.exit.Time = *r.code, when(r.ended)
		r.Exit = &r.exit
	}
	return nil
}

// values are what is stored of a record, in the order of columns.
func (r *Record) values() ([]any, error) {
	var err error
	text := func(v any, empty bool) string {
		if empty || err != nil {
			return ""
		}
		var b []byte
		b, err = json.Marshal(v)
		return string(b)
	}
	exit, code := r.exit()
	place, perr := r.place()
	err = errors.Join(err, perr)
	values := []any{
		r.ID, r.Name, string(r.State), r.Step, r.Backend, text(r.Plugin, r.Plugin == nil), text(r.Command, false), r.Dir,
		text(r.Env, len(r.Env) == 0), text(r.Tags, len(r.Tags) == 0), text(r.Options, len(r.Options) == 0), text(r.Kill, false),
		r.OutputLimit, r.Retain, text(r.Owner, r.Owner == nil), r.Team, text(r.Ask, r.Ask == nil), text(r.Workspace, r.Workspace == nil),
		r.Handle.Version, r.Handle.Data, place, r.PID,
		nanos(r.Created), nanos(r.Started), code, exit.Signal, string(exit.Cause), exit.Reason, nanos(exit.Time), r.Reason,
		r.Stdin, text(r.Restart, r.Restart == swarm.Restart{}), r.Ralph, text(r.Previous, len(r.Previous) == 0),
		text(r.Replaces, r.Replaces == nil), r.Restarts, text(r.Completion, r.Completion == nil), r.Project,
		r.Agent, text(r.Shell, r.Shell == nil), r.ShellRead, r.Profile,
	}
	return values, err
}

// exit is what is stored of an exit; the code is nil if there is none.
func (r *Record) exit() (swarm.Exit, *int) {
	if r.Exit == nil {
		return swarm.Exit{}, nil
	}
	return *r.Exit, &r.Exit.Code
}

func (r *Record) place() (string, error) {
	if r.Place.Kind == "" && r.Place.Name == "" && len(r.Place.Parts) == 0 {
		return "", nil
	}
	b, err := json.Marshal(r.Place)
	return string(b), err
}

func when(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
