package dash

import (
	"cmp"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
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
	case w.Status == worker.StatusRunning && w.State != nil:
		return cmp.Or(w.State.Question, w.State.Reason, w.State.Broken)
	case w.Completion != nil:
		return w.Completion.Summary
	case w.Status == worker.StatusStopped && w.Exit != nil:
		return w.Exit.Reason
	case w.Status == worker.StatusRunning:
		return ""
	default:
		return w.Reason
	}
}

// Dialog returns the whole of what the agent of a worker asks; its zero value if it asks
// nothing, or if its screen does not show it.
func (i Item) Dialog() profile.Dialog {
	if s := i.Worker.State; s != nil && s.State == profile.Blocked && i.Status == worker.StatusRunning {
		return s.Dialog
	}
	return profile.Dialog{}
}

// Digest identifies the dialog of [Item.Dialog]; empty if there is none.
func (i Item) Digest() string { return i.Dialog().Digest }

// DialogLines returns the lines of a dialog above its choices, or all of them, fit for a
// terminal or a page.
func DialogLines(d profile.Dialog, all bool) []string {
	var lines []string
	if d.Cut && len(d.Lines) > 0 {
		lines = append(lines, deliver.CutText)
	}
	shown := d.Text
	if all {
		shown = d.Lines
	}
	for _, line := range shown {
		lines = append(lines, safetext.Line(line))
	}
	return lines
}

// ToneOf returns how an event is to be shown.
func ToneOf(e registry.Event) condition.Tone {
	switch e.Kind {
	case history.Failed, history.Died, history.CrashLoop, history.RespawnFailed:
		return condition.Bad
	case history.Exited:
		if e.Exit != nil && e.Exit.Code != 0 {
			return condition.Bad
		}
		return condition.Good
	case history.Complete, history.Spawned, history.Adopted, history.Working, history.Background, history.Compacting:
		return condition.Good
	case history.Blocked, history.Asked, history.Limited, history.Broken, history.LoopPaused:
		return condition.Asking
	case history.Restarted:
		return condition.Waiting
	default:
		return condition.Quiet
	}
}

// Series returns the known figures of a worker that runs, the oldest first.
func (i Item) Series() (cpus, memories []float64) {
	if i.Status != worker.StatusRunning {
		return nil, nil
	}
	for _, f := range i.Figures {
		if f.CPU >= 0 {
			cpus = append(cpus, f.CPU)
		}
		if f.Memory >= 0 {
			memories = append(memories, float64(f.Memory))
		}
	}
	return cpus, memories
}

// figuresOf returns the figures of the workers that run, by their ids.
func figuresOf(all []stats.Figures) map[string]Figure {
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
