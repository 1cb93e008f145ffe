package view

import (
	"cmp"
	"maps"
	"strconv"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkerJSON is a worker as docs/worker.schema.json describes it. Fields are
// only ever added, at the end.
type WorkerJSON struct {
	Name         string        `json:"name"`
	ID           string        `json:"id"`
	Status       string        `json:"status"`
	Backend      string        `json:"backend"`
	PID          *int          `json:"pid"`
	Cmd          []string      `json:"cmd"`
	Cwd          *string       `json:"cwd"`
	Tags         []string      `json:"tags"`
	Started      *string       `json:"started"`
	Ended        *string       `json:"ended"`
	Exit         *ExitJSON     `json:"exit"`
	Tmux         *tmuxJSON     `json:"tmux"`
	Worktree     *worktreeJSON `json:"worktree"`
	Retain       string        `json:"retain"`
	Owner        *string       `json:"owner"`
	Team         *string       `json:"team"`
	Ralph        *string       `json:"ralph"`
	StatusReason *string       `json:"status_reason"`
	Survivors    []processJSON `json:"survivors"`

	Kill       killPolicyJSON  `json:"kill"`
	Restart    *restartJSON    `json:"restart"`
	Restarts   int             `json:"restarts"`
	Completion *completionJSON `json:"completion"`
	Previous   []string        `json:"previous"`
	Stdin      bool            `json:"stdin"`
	Project    *string         `json:"project"`
	Agent      *string         `json:"agent"`

	State *StateJSON `json:"state"`

	Condition string     `json:"condition"`
	Usage     *UsageJSON `json:"usage"`
	Resurrect bool       `json:"resurrect"`

	Limits     *LimitsJSON `json:"limits"`
	Unenforced *string     `json:"unenforced"`
	ExitDetail *string     `json:"exit_detail"`

	Sandbox *SandboxJSON `json:"sandbox"`

	PerhapsAlive []perhapsJSON `json:"perhaps_alive"`

	Where *whereJSON `json:"where"`

	// RawBytes are the texts above that are not UTF-8, see [rawjson.Bytes].
	RawBytes map[string][]byte `json:"raw_bytes,omitempty"`
}

// perhapsJSON is a living process that is perhaps one of a lost worker.
type perhapsJSON struct {
	PID   int     `json:"pid"`
	Name  *string `json:"name"`
	Since *string `json:"since"`
}

// SandboxJSON is the sandbox of a worker, each field with its default.
type SandboxJSON struct {
	Network string   `json:"network"`
	Home    string   `json:"home"`
	Write   []string `json:"write"`
}

// sandboxJSONOf is null for a worker without a sandbox.
func sandboxJSONOf(s *swarm.Sandbox) *SandboxJSON {
	if s == nil {
		return nil
	}
	return &SandboxJSON{
		Network: cmp.Or(s.Network, swarm.NetworkHost), Home: cmp.Or(s.Home, swarm.HomeEmpty), Write: append([]string{}, s.Write...),
	}
}

// LimitsJSON are the limits of a worker; one that is not set is null.
type LimitsJSON struct {
	Memory     *int64   `json:"memory"`
	CPUs       *float64 `json:"cpus"`
	PIDs       *int     `json:"pids"`
	Nice       *int     `json:"nice"`
	IOWeight   *int     `json:"io_weight"`
	BestEffort bool     `json:"best_effort"`
}

// LimitsJSONOf is null for a worker without limits.
func LimitsJSONOf(l swarm.Limits) *LimitsJSON {
	if l.IsZero() {
		return nil
	}
	return &LimitsJSON{
		Memory: output.OrNull(l.Memory), CPUs: output.OrNull(l.CPUs), PIDs: output.OrNull(l.PIDs), Nice: output.OrNull(l.Nice),
		IOWeight: output.OrNull(l.IOWeight), BestEffort: l.BestEffort,
	}
}

type ExitJSON struct {
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
	Reason *string `json:"reason"`
}

// whereJSON is where a worker is, as its backend says.
type whereJSON struct {
	Kind  string            `json:"kind"`
	Name  *string           `json:"name"`
	ID    *string           `json:"id"`
	Parts map[string]string `json:"parts"`
}

func whereJSONOf(w swarm.Where) *whereJSON {
	if w.Kind == "" {
		return nil
	}
	parts := map[string]string{}
	maps.Copy(parts, w.Parts)
	return &whereJSON{Kind: w.Kind, Name: output.OrNull(w.Name), ID: output.OrNull(w.ID), Parts: parts}
}

type tmuxJSON struct {
	Session string  `json:"session"`
	Window  string  `json:"window"`
	Socket  *string `json:"socket"`
}

type worktreeJSON struct {
	Path     string  `json:"path"`
	Branch   *string `json:"branch"`
	BaseRepo string  `json:"base_repo"`
	// Host is of a worktree on another machine.
	Host string `json:"host,omitempty"`
}

type processJSON struct {
	PID  int     `json:"pid"`
	Name *string `json:"name"`
}

// killPolicyJSON is the kill policy of a worker. Durations are in seconds.
type killPolicyJSON struct {
	Signal *string `json:"signal"`
	Grace  float64 `json:"grace"`
	Force  bool    `json:"force"`
	Mode   string  `json:"mode"`
}

// restartJSON is a restart policy. Durations are in seconds.
type restartJSON struct {
	When     string  `json:"when"`
	MinDelay float64 `json:"min_delay"`
	MaxDelay float64 `json:"max_delay"`
	Budget   int     `json:"budget"`
	Window   float64 `json:"window"`
}

type completionJSON struct {
	Summary *string `json:"summary"`
	Time    *string `json:"time"`
}

func WorkersJSONIn(a *app.App, ws []worker.Worker) []WorkerJSON {
	return output.List(ws, func(w worker.Worker) WorkerJSON { return WorkerJSONIn(a, w) })
}

// WorkerJSONIn returns a worker; the directory of a loop is in the state directory of a.
func WorkerJSONIn(a *app.App, w worker.Worker) WorkerJSON {
	j := WorkerJSON{
		Name:         w.Name,
		ID:           w.ID,
		Status:       string(w.Status),
		Backend:      w.Backend,
		PID:          output.OrNull(w.PID),
		Cmd:          append([]string{}, w.Command...),
		Cwd:          output.OrNull(w.Dir),
		Tags:         append([]string{}, w.Tags...),
		Started:      output.TimeJSON(w.Started),
		Ended:        output.TimeJSON(w.Ended),
		Exit:         ExitJSONOf(w.Exit),
		Tmux:         tmuxJSONOf(w.Where),
		Retain:       w.Retain,
		Team:         output.OrNull(w.Team),
		StatusReason: output.OrNull(w.Reason),
		Survivors:    processesJSON(w.Survivors),
		Kill: killPolicyJSON{
			Signal: output.OrNull(w.Kill.Signal), Grace: w.Kill.Grace.Seconds(), Force: w.Kill.Force, Mode: w.Kill.Mode.String(),
		},
		Restart:  restartJSONOf(w.Restart),
		Restarts: w.Restarts,
		Previous: append([]string{}, w.Previous...),
		Stdin:    w.Stdin,
		Project:  output.OrNull(w.Project),
		Agent:    output.OrNull(w.Agent),
		State:    StateJSONOf(w.State),

		Condition: string(condition.Of(w).Kind),
		Resurrect: w.Resurrect,

		Limits: LimitsJSONOf(w.Limits), Unenforced: output.OrNull(w.Unenforced),
		Sandbox: sandboxJSONOf(w.Sandbox),

		PerhapsAlive: output.List(w.PerhapsAlive, func(p swarm.Process) perhapsJSON {
			return perhapsJSON{PID: p.PID, Name: output.OrNull(p.Name), Since: output.TimeJSON(p.Started)}
		}),
		Where: whereJSONOf(w.Where),
	}
	if w.Gone() {
		j.PID = nil // another process may have it by now
	}
	if w.Ralph {
		if store, err := a.RalphStore(); err == nil {
			j.Ralph = output.OrNull(store.Dir(w.Name))
		}
	}
	if w.Exit != nil {
		j.Usage, j.ExitDetail = UsageJSONOf(w.Exit.Usage), output.OrNull(w.Exit.Reason)
	}
	if w.Workspace != nil {
		j.Worktree = &worktreeJSON{Path: w.Workspace.Path, Branch: output.OrNull(w.Workspace.Branch), BaseRepo: w.Workspace.Base, Host: w.Workspace.Host}
	}
	if w.Owner != nil {
		j.Owner = output.OrNull(strconv.Itoa(w.Owner.PID))
	}
	if w.Completion != nil {
		j.Completion = &completionJSON{Summary: output.OrNull(w.Completion.Summary), Time: output.TimeJSON(w.Completion.Time)}
	}
	j.RawBytes = rawjson.Bytes(j)
	return j
}

// StateJSON is what an agent does.
type StateJSON struct {
	State    string           `json:"state"`
	Source   *string          `json:"source"`
	Since    *string          `json:"since"`
	Profile  string           `json:"profile"`
	Question *string          `json:"question"`
	Choices  []profile.Choice `json:"choices"`
	Command  *string          `json:"command"`
	Reason   *string          `json:"reason"`
	Broken   *string          `json:"broken"`
	Dialog   *DialogJSON      `json:"dialog"`
}

// DialogJSON is what a blocked agent asks, whole.
type DialogJSON struct {
	Digest string   `json:"digest"`
	Lines  []string `json:"lines"`
	Cut    bool     `json:"cut"`
}

// DialogJSONOf is null if no dialog is known.
func DialogJSONOf(d profile.Dialog) *DialogJSON {
	if d.Digest == "" {
		return nil
	}
	return &DialogJSON{Digest: d.Digest, Lines: append([]string{}, d.Lines...), Cut: d.Cut}
}

func StateJSONOf(s *judgement.State) *StateJSON {
	if s == nil {
		return nil
	}
	return &StateJSON{
		State: string(s.State), Source: output.OrNull(s.Source), Since: output.TimeJSON(s.Since), Profile: s.Profile,
		Question: output.OrNull(s.Question), Choices: append([]profile.Choice{}, s.Choices...), Broken: output.OrNull(s.Broken),
		Dialog: DialogJSONOf(s.Dialog), Command: output.OrNull(s.Command), Reason: output.OrNull(s.Reason),
	}
}

// restartJSONOf is null for a worker that ends with its main process.
func restartJSONOf(r swarm.Restart) *restartJSON {
	if r = r.OrDefault(); r.When == swarm.RestartNo {
		return nil
	}
	return &restartJSON{
		When: string(r.When), MinDelay: r.MinDelay.Seconds(), MaxDelay: r.MaxDelay.Seconds(),
		Budget: r.Budget, Window: r.Window.Seconds(),
	}
}

// ExitJSONOf leaves the code of a signalled worker null: -1 would be invented.
func ExitJSONOf(e *swarm.Exit) *ExitJSON {
	if e == nil {
		return nil
	}
	j := &ExitJSON{Signal: output.OrNull(e.Signal), Reason: output.OrNull(string(e.Cause))}
	if e.Signal == "" && e.Code >= 0 {
		j.Code = &e.Code
	}
	return j
}

func tmuxJSONOf(w swarm.Where) *tmuxJSON {
	session, window := w.Parts["session"], w.Parts["window"]
	if session == "" || window == "" {
		return nil
	}
	return &tmuxJSON{Session: session, Window: window, Socket: output.OrNull(w.Parts["socket"])}
}

func processesJSON(ps []swarm.Process) []processJSON {
	return output.List(ps, func(p swarm.Process) processJSON {
		return processJSON{PID: p.PID, Name: output.OrNull(p.Name)}
	})
}

// StatsJSON is what a worker uses as docs/stats.schema.json describes it. Fields are only
// ever added, at the end.
type StatsJSON struct {
	Name       string   `json:"name"`
	ID         string   `json:"id"`
	Status     string   `json:"status"`
	Time       *string  `json:"time"`
	CPU        *float64 `json:"cpu"`
	CPUSeconds *float64 `json:"cpu_seconds"`
	Memory     *int64   `json:"memory"`
	MemoryKind *string  `json:"memory_kind"`
	Peak       *int64   `json:"peak"`
	Processes  *int     `json:"processes"`
	Threads    *int     `json:"threads"`
	Read       *int64   `json:"read"`
	Written    *int64   `json:"written"`
}

func StatsJSONOf(f stats.Figures) StatsJSON {
	used := f.Usage()
	j := StatsJSON{
		Name: f.Worker.Name, ID: f.Worker.ID, Status: string(f.Worker.Status),
		CPU: f.CPU, CPUSeconds: seconds(used.CPUTime), Peak: used.Peak, Read: used.Read, Written: used.Written,
	}
	if s := f.Stats; s != nil {
		j.Time, j.Memory, j.MemoryKind = output.TimeJSON(s.Time), s.Memory, output.OrNull(string(s.MemoryKind))
		j.Processes, j.Threads = s.Processes, s.Threads
	}
	return j
}

// UsageJSON is what a worker used until its end.
type UsageJSON struct {
	CPUSeconds *float64 `json:"cpu_seconds"`
	Peak       *int64   `json:"peak"`
	Read       *int64   `json:"read"`
	Written    *int64   `json:"written"`
}

// UsageJSONOf is null if nothing is known.
func UsageJSONOf(u *swarm.Usage) *UsageJSON {
	if u == nil {
		return nil
	}
	return &UsageJSON{CPUSeconds: seconds(u.CPUTime), Peak: u.Peak, Read: u.Read, Written: u.Written}
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(d.Seconds())
}
