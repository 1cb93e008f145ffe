package dash

import (
	"cmp"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/shared/humane"
)

// Condition returns how a worker is, in the words of tables. Doing is what a person asked
// for that is not done yet, such as "killing, 4s left"; empty: nothing.
func (i Item) Condition(now time.Time) (c condition.Condition, doing string) {
	c = condition.Of(i.Worker)
	if doing = i.Doing.Text; doing != "" && i.Doing.Deadline.After(now) {
		doing += ", " + humane.Age(i.Doing.Deadline.Sub(now)) + " left"
	}
	return c, doing
}

// Remark returns what a person should know of a worker's state, in one line, such as the
// question of its agent; empty: nothing. A worker may have written it.
func (i Item) Remark() string {
	w := i.Worker
	switch {
	case w.Status == host.StatusRunning && w.State != nil:
		return cmp.Or(w.State.Question, w.State.Broken)
	case w.Completion != nil:
		return w.Completion.Summary
	case w.Status == host.StatusStopped && w.Exit != nil:
		return w.Exit.Reason
	case w.Status == host.StatusRunning:
		return ""
	default:
		return w.Reason
	}
}

// FiguresOf returns the figures of the workers that run, by their ids.
func FiguresOf(all []stats.Figures) map[string]Figure {
	m := make(map[string]Figure, len(all))
	for _, f := range all {
		if f.Stats == nil {
			continue
		}
		fig := Figure{Time: f.Stats.Time, CPU: -1, Memory: -1}
		if f.CPU != nil {
			fig.CPU = *f.CPU
		}
		if f.Stats.Memory != nil {
			fig.Memory = *f.Stats.Memory
		}
		m[f.Worker.ID] = fig
	}
	return m
}
