package config

import (
	"maps"
	"slices"
)

// Value is one key with the value that holds, written in TOML.
type Value struct {
	Key, Value string
	// Origin is where it was set; nil: it is the default.
	Origin *Position
	// Concealed says that Value is a remark in place of the value.
	Concealed bool
}

// Data returns the value as encoding/json takes it, nil if it is concealed.
func (v Value) Data() any {
	if v.Concealed {
		return nil
	}
	return data(v.Value)
}

// Values returns every key that has a value, those of plugins, workers and hooks last. Of a
// worker's variables only the names are included, not the values.
func (l *Loaded) Values() []Value {
	var values []Value
	add := func(key, shown string) {
		if shown == "" {
			return
		}
		v := Value{Key: key, Value: shown}
		if at, set := l.Origins[key]; set {
			v.Origin = &at
		}
		values = append(values, v)
	}
	for _, f := range fields() {
		add(f.key, f.show(&l.Config))
	}
	for _, name := range sortedKeys(l.Config.Plugins) {
		p := l.Config.Plugins[name]
		for _, f := range pluginFields() {
			add(pluginKey(name, f.key), f.show(&p))
		}
	}
	for _, name := range sortedKeys(l.Config.Workers) {
		w := l.Config.Workers[name]
		for _, f := range workerFields() {
			// A setting that the file leaves open is reported at the keys that it comes from.
			if key := WorkerKey(name, f.key); l.Origins[key].Line > 0 {
				add(key, f.show(&w))
			}
		}
	}
	for _, name := range sortedKeys(l.Config.Hooks) {
		h := l.Config.Hooks[name]
		for _, f := range hookFields() {
			if key := hookKey(name, f.key); l.Origins[key].Line > 0 {
				add(key, f.show(&h))
			}
		}
	}
	return values
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
