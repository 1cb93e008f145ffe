package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
)

const untilEnded = "ended"

// untilFlag are the states that wait waits for; nil: the end.
type untilFlag struct{ states []profile.State }

// Set reads "idle" or "idle,blocked".
func (f *untilFlag) Set(s string) error {
	var states []profile.State
	words := strings.Split(s, ",")
	for _, word := range words {
		switch state := profile.State(word); state {
		case profile.Idle, profile.Blocked, profile.Working:
			states = append(states, state)
		case untilEnded:
			if len(words) > 1 {
				return errors.New("'ended' can't be combined with another state: every wait ends when the worker does")
			}
		default:
			return errors.New("expected idle, blocked, working or ended, or several such as idle,blocked")
		}
	}
	f.states = states
	return nil
}
func (f *untilFlag) Type() string { return "state" }
func (f *untilFlag) String() string {
	if f.states == nil {
		return ""
	}
	words := make([]string, len(f.states))
	for i, s := range f.states {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

func runWaitUntil(ctx context.Context, a *app.App, sel host.Selection, o *waitOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		waiting, cancel := o.timeout.Limit(ctx)
		defer cancel()
		names := sel.Names
		if names == nil {
			var err error
			if names, err = a.RunningNames(ctx, h, sel); err != nil {
				return err
			}
		}
		var (
			mu     sync.Mutex
			late   []string
			all    sync.WaitGroup
			seen   []host.Worker
			failed error
		)
		for _, name := range names {
			all.Go(func() {
				w, err := h.WaitState(waiting, name, o.until.states)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, host.ErrEnded) && w.Name != "":
					err = fmt.Errorf("'%s' ended before it was %s (%s)", w.Name, strings.ReplaceAll(o.until.String(), ",", " or "), view.ExitText(w))
				case err == nil && !o.json:
					printState(a, w)
				}
				switch {
				case err == nil:
					seen = append(seen, w)
				case w.State != nil:
					late = append(late, strings.TrimSpace(fmt.Sprintf("'%s' %s", w.Name, view.StateText(w.State, time.Now()))))
				}
				failed = errors.Join(failed, err)
			})
		}
		all.Wait()
		over := o.timeout.Over(waiting, failed)
		if failed != nil && over == nil {
			return failed
		}
		if o.json {
			slices.SortFunc(seen, func(x, y host.Worker) int { return strings.Compare(x.ID, y.ID) })
			if err := a.PrintJSON(view.WorkersJSONIn(a, seen)); err != nil {
				return err
			}
		}
		if over != nil && late != nil {
			slices.Sort(late)
			over = &output.CodeError{Code: output.ExitTimeout, Err: fmt.Errorf("%w: %s", over, strings.Join(late, "; "))}
		}
		return over
	})
}

// printState prints "NAME: idle", or "NAME: blocked: Proceed? (1 Yes, 2 No)".
func printState(a *app.App, w host.Worker) {
	if w.State.State == profile.Blocked {
		a.Printf("%s: blocked: %s\n", w.Name, strings.TrimPrefix(view.AsksText(w.State.Question, w.State.Choices), "asks: "))
		return
	}
	a.Printf("%s: %s\n", w.Name, w.State.State)
}
