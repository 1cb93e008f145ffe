// Package hooks runs the commands that a person wants to be run for events, such as the
// failure of a worker, and delivers events to notifier plugins. A [Runner] reads the history from a durable cursor for each hook, so
// no event is missed while none runs; it runs a command at least once for each event. Each
// run has a process of its own above it, see [Supervise], which ends it in time even if the
// runner is killed.
package hooks

import (
	"fmt"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

// Hook is a command and the events that it is run for.
type Hook struct {
	// Name identifies the hook for good: its cursor and its log belong to the name.
	Name string
	// On are the words of its events, see [Words].
	On []string
	// Tags are tags of which a worker must have one; nil: all workers are meant.
	Tags []string
	// Command is a program and its arguments.
	Command []string
	// Notifier is the name of a plugin that gets the events in place of a command; empty: none.
	Notifier string
	// Timeout is how long a run may take; 0 means [DefaultTimeout].
	Timeout time.Duration
}

// NewNotifier returns the hook that delivers events to a notifier plugin. No hook with a command
// has its name.
func NewNotifier(plugin string, on, tags []string) Hook {
	return Hook{Name: "notifier:" + plugin, Notifier: plugin, On: on, Tags: tags}
}

// title names the hook to a person.
func (h *Hook) title() string {
	if h.Notifier != "" {
		return "notifier '" + h.Notifier + "'"
	}
	return "hook '" + h.Name + "'"
}

// DefaultTimeout is how long a run of a hook may take that does not say it.
const DefaultTimeout = 30 * time.Second

// The words for events.
const (
	Failed    = "failed"
	Lost      = "lost"
	CrashLoop = "crash-loop"
	Blocked   = "blocked"
	Limited   = "limited"
	Broken    = "broken"
	Ended     = "ended"
)

var words = map[registry.EventKind]string{
	history.Failed: Failed, history.RespawnFailed: Failed, history.Died: Lost, history.CrashLoop: CrashLoop,
	history.Blocked: Blocked, history.Limited: Limited, history.Broken: Broken,
}

// Words returns the words that an event is known by; nil for one that no hook is run for.
func Words(e registry.Event) []string {
	var all []string
	if word := words[e.Kind]; word != "" {
		all = append(all, word)
	}
	if e.Final {
		all = append(all, Ended)
	}
	return all
}

// wants returns the words by which a hook is to be run for an event; none if it is not.
func (h *Hook) wants(e registry.Event) []string {
	if h.Tags != nil && !slices.ContainsFunc(h.Tags, func(tag string) bool { return slices.Contains(e.Tags, tag) }) {
		return nil
	}
	return slices.DeleteFunc(Words(e), func(word string) bool { return !slices.Contains(h.On, word) })
}

// EventID returns what identifies an event permanently.
func EventID(e registry.Event) string { return fmt.Sprintf("%d-%s", e.Seq, e.ID) }

// Delivery is one run of a hook for one event.
type Delivery struct {
	Event registry.Event
	// Hook is the name of the hook, On are the words by which it is run.
	Hook string
	On   []string
	// Attempt counts the runs for this event, from 1.
	Attempt int
}
