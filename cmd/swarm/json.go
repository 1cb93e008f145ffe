package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// workerJSON is a worker as docs/worker.schema.json describes it. Fields are
// only ever added, at the end.
type workerJSON struct {
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
	Exit         *exitJSON     `json:"exit"`
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

	State *stateJSON `json:"state"`
}

type exitJSON struct {
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
	Reason *string `json:"reason"`
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
}

type processJSON struct {
	PID  int     `json:"pid"`
	Name *string `json:"name"`
}

// killPolicyJSON is how a worker ends when it is killed. Durations are in seconds.
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

// workerJSON adds what only the caller's state directory tells.
func (a *app) workerJSON(w host.Worker) workerJSON {
	j := workerJSONOf(w)
	if w.Ralph {
		if store, err := a.ralphStore(); err == nil {
			j.Ralph = orNull(store.Dir(w.Name))
		}
	}
	return j
}

func (a *app) workersJSON(ws []host.Worker) []workerJSON {
	list := make([]workerJSON, len(ws))
	for i, w := range ws {
		list[i] = a.workerJSON(w)
	}
	return list
}

func workerJSONOf(w host.Worker) workerJSON {
	j := workerJSON{
		Name:         w.Name,
		ID:           w.ID,
		Status:       string(w.Status),
		Backend:      w.Backend,
		PID:          orNull(w.PID),
		Cmd:          append([]string{}, w.Command...),
		Cwd:          orNull(w.Dir),
		Tags:         append([]string{}, w.Tags...),
		Started:      timeJSON(w.Started),
		Ended:        timeJSON(w.Ended),
		Tmux:         tmuxJSONOf(w.Where),
		Retain:       w.Retain,
		Team:         orNull(w.Team),
		StatusReason: orNull(w.Reason),
		Survivors:    processesJSON(w.Survivors),
		Kill: killPolicyJSON{
			Signal: orNull(w.Kill.Signal), Grace: w.Kill.Grace.Seconds(), Force: w.Kill.Force, Mode: w.Kill.Mode.String(),
		},
		Restart:  restartJSONOf(w.Restart),
		Restarts: w.Restarts,
		Previous: append([]string{}, w.Previous...),
		Stdin:    w.Stdin,
		Project:  orNull(w.Project),
		Agent:    orNull(w.Agent),
		State:    stateJSONOf(w.State),
	}
	if w.Gone() {
		j.PID = nil // another process may have it by now
	}
	if w.Exit != nil {
		j.Exit = exitJSONOf(*w.Exit)
	}
	if w.Workspace != nil {
		j.Worktree = &worktreeJSON{Path: w.Workspace.Path, Branch: orNull(w.Workspace.Branch), BaseRepo: w.Workspace.Base}
	}
	if w.Owner != nil {
		j.Owner = orNull(strconv.Itoa(w.Owner.PID))
	}
	if w.Completion != nil {
		j.Completion = &completionJSON{Summary: orNull(w.Completion.Summary), Time: timeJSON(w.Completion.Time)}
	}
	return j
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

// exitJSONOf leaves the code of a signalled worker null: -1 would be invented.
func exitJSONOf(e swarm.Exit) *exitJSON {
	j := &exitJSON{Signal: orNull(e.Signal), Reason: orNull(string(e.Cause))}
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
	return &tmuxJSON{Session: session, Window: window, Socket: orNull(w.Parts["socket"])}
}

func processesJSON(ps []swarm.Process) []processJSON {
	list := make([]processJSON, len(ps))
	for i, p := range ps {
		list[i] = processJSON{PID: p.PID, Name: orNull(p.Name)}
	}
	return list
}

// orNull is null for the zero value.
func orNull[V comparable](v V) *V {
	var zero V
	if v == zero {
		return nil
	}
	return &v
}

func timeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(t.UTC().Format(time.RFC3339Nano))
}

// printJSON is all that a verb with --json writes to stdout.
func (p *printer) printJSON(v any) error { return p.writeJSON(v, "  ") }

// printJSONLine is what a verb with --json writes for each of many, as they come.
func (p *printer) printJSONLine(v any) error { return p.writeJSON(v, "") }

// writeJSON writes v so that a terminal can show it, whoever wrote the texts in it.
func (p *printer) writeJSON(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := p.out.Write(safetext.JSON(b.Bytes()))
	return err
}
