package config

import (
	"time"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/tomlscan"
)

// Hook is a command that "swarm watch --hooks" runs for events.
type Hook struct {
	// On are the events that it is run for.
	On []string
	// Tags are those of which a worker must have one; nil: all workers are meant.
	Tags    []string
	Command []string
	// Timeout is how long a run may take; 0: as long as hooks may by default.
	Timeout time.Duration
}

// Notify says which notifier plugins "swarm watch --hooks" delivers events to.
type Notify struct {
	// Use are the names of the plugins.
	Use []string
	// On and Tags are as those of a [Hook].
	On, Tags []string
}

// DefaultHook is the name of the hook that the keys of [hooks] itself make.
const DefaultHook = "default"

func hookFields() []field[Hook] {
	return []field[Hook]{
		newField("on", eventsKind, func(h *Hook) *[]string { return &h.On },
			"The events that the command is run for: a worker failed, its shim is gone and its exit is unknown (\"lost\"), it was restarted too often (\"crash-loop\"), an agent asks something (\"blocked\"), stopped at a usage limit (\"limited\") or with an error (\"broken\"), or any end (\"ended\")."),
		newField("tags", textsKind, func(h *Hook) *[]string { return &h.Tags },
			"Only events of workers that have one of these tags. Without it: of all workers."),
		newField("command", commandKind, func(h *Hook) *[]string { return &h.Command },
			"The program and its arguments, run without a shell. It gets the event as JSON on its standard input. A path is relative to this file."),
		newField("timeout", delayKind, func(h *Hook) *time.Duration { return &h.Timeout },
			"How long a run may take; after that it is ended and counts as failed. Without it: 30s."),
	}
}

// hookKey returns the whole key of a field of a hook; with an empty key that of its table.
func hookKey(name, key string) string {
	parts := toml.Key{"hooks"}
	if name != DefaultHook {
		parts = append(parts, name)
	}
	if key != "" {
		parts = append(parts, key)
	}
	return joined(parts)
}

func (d *decoder) keyOfHook(key toml.Key, at tomlscan.Spot) {
	name, skip := DefaultHook, 1
	_, isTable := lookup(d.root, key[:2]).(map[string]any)
	if _, isField := d.hook.field(key[1]); !isField && (isTable || len(key) > 2) {
		name, skip = key[1], 2
	}
	switch {
	case skip == 2 && !validPlugin(name):
		d.reject(joined(key[:2]), at.Key, "expected a name of lower-case letters, digits and hyphens")
		return
	case skip == 2 && name == DefaultHook:
		d.reject(joined(key[:2]), at.Key, "this is the name of the hook that the keys of [hooks] make: choose another one")
		return
	}
	h, seen := d.into.Hooks[name]
	if !seen {
		d.origins[hookKey(name, "")] = d.source.position(at.Key)
	}
	if len(key) > skip {
		apply(d, d.hook, &h, key, skip, at)
	}
	d.into.Hooks[name] = h
}

func (d *decoder) checkHooks() {
	for _, name := range sortedKeys(d.into.Hooks) {
		h := d.into.Hooks[name]
		lacks := func(key, text string) {
			if !d.done[hookKey(name, key)] { // else its value is a mistake
				d.wrong(hookKey(name, ""), text)
			}
		}
		if h.Command == nil {
			lacks("command", "a command is missing, such as command = [\"notify-send\", \"swarm\"]")
		}
		if len(h.On) == 0 {
			lacks("on", "the events are missing, such as on = [\"failed\", \"lost\"]")
		}
		if h.Command == nil || len(h.On) == 0 {
			delete(d.into.Hooks, name)
		}
	}
}
