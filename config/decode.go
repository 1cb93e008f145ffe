package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Checks look at values that are of the right type: whether a signal or a
// backend exists. The key is that of the file, such as "kill.signal".
type Checks map[string]func(value string) error

// decoder reads one file into a config.
type decoder struct {
	file     string
	src      string
	into     *Config
	origins  map[string]Position
	checks   Checks
	problems Problems
	// done are tables whose keys were dealt with together.
	done []string
}

func (d *decoder) decode() {
	// The parser skips a byte order mark, so the places would be off by it.
	d.src = strings.TrimPrefix(d.src, "\ufeff")
	root := map[string]any{}
	meta, err := toml.Decode(d.src, &root)
	if err != nil {
		d.damaged(err)
		return
	}
	places := spots(d.src)
	for i, key := range meta.Keys() {
		var at spot
		if i < len(places) {
			at = places[i]
		}
		d.key(key, root, at)
	}
}

// damaged reports a file that is not TOML.
func (d *decoder) damaged(err error) {
	at := Position{File: d.file, Line: 1, Column: 1}
	text := err.Error()
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		at = position(d.file, d.src, parse.Position.Start)
		text = parse.Message
	}
	d.problems = append(d.problems, Problem{At: at, Text: text})
}

// key deals with one key of the document, in the order of the document.
func (d *decoder) key(key toml.Key, root map[string]any, at spot) {
	name := joined(key)
	if d.isDone(name) {
		return
	}
	v := lookup(root, key)
	_, isTable := v.(map[string]any)
	switch {
	case key[0] == "plugins" && len(key) > 1 && !validPlugin(key[1]):
		d.reject(joined(key[:2]), at.key, "expected a plugin name of lower-case letters, digits and hyphens")
	case isTable && isSection(key):
	case isSection(key):
		d.reject(name, at.value, mismatch("a table", v).Error())
	case len(key) > 2 && key[0] == "plugins":
		// The plugin's own table may be written key by key: config.a = 1.
		d.plugin(key[:3], root, at)
	default:
		for _, f := range fields() {
			if f.key == name {
				d.set(name, at, func() error { return f.set(d.into, v) }, v)
				return
			}
		}
		d.unknown(key, at)
	}
}

// plugin sets one key of a table [plugins.NAME].
func (d *decoder) plugin(key toml.Key, root map[string]any, at spot) {
	name, v := joined(key), lookup(root, key)
	for _, f := range pluginFields() {
		if f.key != key[2] {
			continue
		}
		d.set(name, at, func() error {
			p := d.into.Plugins[key[1]]
			if err := f.set(&p, v); err != nil {
				return err
			}
			if d.into.Plugins == nil {
				d.into.Plugins = map[string]Plugin{}
			}
			d.into.Plugins[key[1]] = p
			return nil
		}, v)
		// The plugin's own table is the plugin's to check.
		d.done = append(d.done, name)
		return
	}
	d.unknown(key, at)
}

func (d *decoder) set(name string, at spot, set func() error, v any) {
	err := set()
	if s, ok := v.(string); ok && err == nil && d.checks[name] != nil {
		err = d.checks[name](s)
	}
	if err != nil {
		d.reject(name, at.value, err.Error())
		return
	}
	d.origins[name] = position(d.file, d.src, at.key)
}

func (d *decoder) unknown(key toml.Key, at spot) {
	text := "unknown key"
	if known := nearest(strings.Join(key, "."), knownKeys(key)); known != "" {
		text += " (did you mean '" + known + "'?)"
	}
	d.reject(joined(key), at.key, text)
}

// reject reports a key, and with it all that is below.
func (d *decoder) reject(name string, offset int, text string) {
	d.problems = append(d.problems, Problem{At: position(d.file, d.src, offset), Key: name, Text: text})
	d.done = append(d.done, name)
}

func (d *decoder) isDone(name string) bool {
	return slices.ContainsFunc(d.done, func(done string) bool {
		return name == done || strings.HasPrefix(name, done+".")
	})
}

// knownKeys returns the keys that could be meant by key.
func knownKeys(key toml.Key) []string {
	var keys []string
	if key[0] == "plugins" {
		for _, f := range pluginFields() {
			keys = append(keys, "plugins."+key[1]+"."+f.key)
		}
		return keys
	}
	for _, f := range fields() {
		keys = append(keys, f.key)
	}
	return append(keys, sections...)
}

// sections are the tables at the top.
var sections = []string{"defaults", "kill", "log", "plugins"}

func isSection(key toml.Key) bool {
	return len(key) == 1 && slices.Contains(sections, key[0]) || len(key) == 2 && key[0] == "plugins"
}

// validPlugin keeps out what would be a path in the name of an executable.
func validPlugin(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

// joined is the key as a person writes it.
func joined(key toml.Key) string {
	parts := make([]string, len(key))
	for i, part := range key {
		parts[i] = bare(part)
	}
	return strings.Join(parts, ".")
}

// lookup returns the value of key; of tables in an array, all of them.
func lookup(root map[string]any, key toml.Key) any {
	var v any = root
	for _, part := range key {
		m, ok := v.(map[string]any)
		if !ok {
			return v
		}
		v = m[part]
	}
	return v
}
