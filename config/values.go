package config

import (
	"maps"
	"slices"

	"github.com/BurntSushi/toml"
)

// Value is one key with the value that holds, written in TOML.
type Value struct {
	Key, Value string
	// Origin is where it was set; nil: it is the default.
	Origin *Position
}

// Data returns the value as encoding/json takes it.
func (v Value) Data() any {
	var doc struct{ V any }
	if _, err := toml.Decode("V = "+v.Value, &doc); err != nil {
		return v.Value // not in this package's own TOML
	}
	return doc.V
}

// Values returns every key that has a value, those of plugins last.
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
	return values
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
