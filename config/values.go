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
	eachField(l.Config.Plugins, pluginFields(), pluginKey, add)
	// A setting that the file leaves open is reported at the keys that it comes from.
	addSet := func(key, shown string) {
		if l.Origins[key].Line > 0 {
			add(key, shown)
		}
	}
	eachField(l.Config.Workers, workerFields(), WorkerKey, addSet)
	eachField(l.Config.Hooks, hookFields(), hookKey, addSet)
	return values
}

// eachField calls add for the fields of all tables with their whole keys.
func eachField[T any](tables map[string]T, fields []field[T], key func(name, key string) string, add func(key, shown string)) {
	for _, name := range sortedKeys(tables) {
		of := tables[name]
		for _, f := range fields {
			add(key(name, f.key), f.show(&of))
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
