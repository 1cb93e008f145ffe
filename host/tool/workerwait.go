package tool

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxWait is how long a call waits at most: several clients give up after a minute.
const maxWait = 50 * time.Second

type WorkerWaitInput struct {
	Names   []string `json:"names" jsonschema:"Names of the workers" schema:"min=1"`
	For     string   `json:"for,omitempty" jsonschema:"All of them, or any one" schema:"default=all,enum=all|any"`
	Until   string   `json:"until,omitempty" jsonschema:"State of an agent; idle: its turn has ended, also if it asks or has stopped" schema:"default=ended,enum=ended|idle|blocked|working|background|compacting|limited|broken"`
	Pattern string   `json:"pattern,omitempty" jsonschema:"Regular expression: also done once an output line matches"`
	Timeout int      `json:"timeout,omitempty" jsonschema:"Ms to wait, at most 50000" schema:"default=50000,over=0"`
	Cursor  string   `json:"cursor,omitempty" jsonschema:"Of an earlier answer: match only later output"`
}

type WorkerWaitOutput struct {
	outcome
	Pending bool           `json:"pending,omitempty" jsonschema:"The time ran out first: call again with cursor"`
	Workers []AwaitedState `json:"workers" jsonschema:"The workers, in the order of the names"`
	Cursor  string         `json:"cursor,omitempty" jsonschema:"Cursor for the next call"`
	failure
}

// AwaitedState is one of the workers that were waited for.
type AwaitedState struct {
	Name     string `json:"name" jsonschema:"Name of the worker"`
	Done     bool   `json:"done" jsonschema:"The awaited event has happened"`
	Status   string `json:"status" jsonschema:"Its status" schema:"enum=starting|running|stopped|lost|unknown"`
	State    string `json:"state,omitempty" jsonschema:"State of an agent, if the call waits for one: working, idle, blocked, background, compacting, limited, broken, unknown"`
	Question string `json:"question,omitempty" jsonschema:"Question of a blocked agent"`
	ExitCode *int   `json:"exit_code,omitempty" jsonschema:"Exit code once it has ended, 128+n after signal n" schema:"number"`
	Signal   string `json:"signal,omitempty" jsonschema:"Signal that ended it"`
	Matched  string `json:"matched,omitempty" jsonschema:"The line that matched"`
}

var workerWait = &definition[WorkerWaitInput, WorkerWaitOutput]{
	tool: Tool{
		Name:  "worker-wait",
		Title: "Wait for workers",
		Description: `Wait until workers have ended, or have written a line that matches pattern. Do not
poll. If the answer says pending, time ran out: call again with its cursor.`,
		Set:        Workers,
		ReadOnly:   true,
		Idempotent: true,
	},
	run: runWorkerWait,
}

func runWorkerWait(ctx context.Context, h *host.Host, env Env, in WorkerWaitInput) (WorkerWaitOutput, error) {
	cursors, problem := parseCursors(in.Cursor)
	if problem != "" {
		return WorkerWaitOutput{}, invalid("cursor", problem)
	}
	re, err := pattern("pattern", in.Pattern)
	if err != nil {
		return WorkerWaitOutput{}, err
	}
	states := awaitedStates(in.Until)
	if states != nil && re != nil {
		return WorkerWaitOutput{}, invalid("pattern", "goes with until ended alone")
	}
	ws, err := findWorkers(ctx, h, false, in.Names...)
	if err != nil {
		return WorkerWaitOutput{}, err
	}
	limited, cancel := env.waitContext(ctx, in.Timeout)
	defer cancel()
	all := make([]*awaited, len(ws))
	done := make(chan error, len(ws))
	var waiting sync.WaitGroup
	for i, w := range ws {
		from := cursors[w.ID]
		from.id = w.ID
		all[i] = &awaited{h: h, worker: w, pattern: re, states: states, follower: newFollower(from)}
		waiting.Go(func() { done <- all[i].wait(limited) })
	}
	for range ws {
		werr := <-done
		if werr != nil && limited.Err() == nil {
			err = errors.Join(err, werr)
			cancel()
		}
		if in.For == "any" {
			cancel() // events that the others have seen until now count too
		}
	}
	waiting.Wait()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return WorkerWaitOutput{}, err
	}
	return waited(all, in.For == "any"), nil
}

// awaitedStates are the states that end a wait for the given one; nil if only an end does.
func awaitedStates(until string) []profile.State {
	switch until {
	case "", "ended":
		return nil
	case string(profile.Idle):
		return []profile.State{profile.Idle, profile.Blocked, profile.Limited, profile.Broken}
	default:
		return []profile.State{profile.State(until)}
	}
}

func waited(all []*awaited, anyOne bool) WorkerWaitOutput {
	var out WorkerWaitOutput
	n := 0
	var cursors []string
	for _, a := range all {
		s := AwaitedState{Name: a.worker.Name, Done: a.done, Status: string(a.worker.Status), Matched: a.matched}
		s.ExitCode, s.Signal = exitOf(a.worker)
		if state := a.worker.State; state != nil && !a.worker.Gone() {
			s.State, s.Question = string(state.State), state.Question
		}
		out.Workers = append(out.Workers, s)
		cursors = append(cursors, a.String())
		if a.done {
			n++
		}
	}
	out.Pending = n == 0 || n < len(all) && !anyOne
	if all[0].pattern != nil {
		out.Cursor = strings.Join(cursors, ",")
	}
	return out
}

type awaited struct {
	h       *host.Host
	worker  worker.Worker
	pattern *regexp.Regexp
	// states are the states that end the wait, too; it may be nil.
	states []profile.State
	*follower

	done    bool
	matched string
	// lines are the lines that the current piece has finished.
	lines []string
	shown shownLines
}

// errMatched ends the reading of an output in which a line matched.
var errMatched = errors.New("a line matched")

// wait returns once the worker is done, or the context has ended.
func (a *awaited) wait(ctx context.Context) error {
	if a.pattern != nil {
		a.shown = shownLines{live: true, line: func(text string) { a.lines = append(a.lines, text) }}
		err := a.h.Display().Logs(ctx, a.worker.ID, swarm.OutputOptions{Since: a.from.at, Follow: true}, a.look)
		if errors.Is(err, errMatched) {
			a.done = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	if a.states != nil {
		w, err := a.h.Display().WaitState(ctx, a.worker.ID, a.states)
		switch {
		case err == nil:
			a.done, a.worker.State = true, w.State
			return nil
		case !errors.Is(err, worker.ErrEnded):
			a.worker.State = w.State
			return err
		}
	}
	// The status of a worker that ends right now is known in a moment.
	return a.h.Wait(ctx, worker.Selection{Names: []string{a.worker.ID}}, func(w worker.Worker) { a.worker, a.done = w, true })
}

// look searches a piece of output for the pattern, including an unfinished line: a question
// has no line end.
func (a *awaited) look(o swarm.Output) error {
	if !a.isNew(o) {
		return nil
	}
	a.lines = a.lines[:0]
	a.shown.add(o)
	for _, line := range append(a.lines, a.shown.open()...) {
		if screen.Matches(a.pattern, []byte(line)) {
			a.matched = capped(strings.TrimSuffix(line, "\n"), 1000)
			return errMatched
		}
	}
	return nil
}
