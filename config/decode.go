package config

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/tomlscan"
)

// Checks check values that have the right type, such as the names of signals. The key is
// that of the file, such as "kill.signal"; in "workers.*.kill.signal" the star is the name
// of any worker. "workers.*" checks the name itself.
type Checks map[string]func(value string) error

func (c Checks) of(key, value string) error {
	if check := c[key]; check != nil {
		return check(value)
	}
	return nil
}

type decoder struct {
	source source
	// user says that it is the user's file, which declares no workers.
	user bool
	root map[string]any
	// into holds the settings of the file; none of its maps is nil.
	into     *Config
	origins  map[string]Position
	checks   Checks
	problems Problems
	// done are keys that were dealt with, together with all that is below.
	done map[string]bool
	// places are where keys are, by their joined names.
	places map[string]tomlscan.Spot
	config section[Config]
	plugin section[Plugin]
	worker section[Worker]
	hook   section[Hook]
	answer section[Answer]
}

type section[T any] struct {
	// prefix is what [Checks] have before them.
	prefix string
	fields []field[T]
	// opened is the value that the presence of a table sets.
	opened map[string]func(*T)
}

func (s section[T]) has(key string) bool {
	return slices.ContainsFunc(s.fields, func(f field[T]) bool { return strings.HasPrefix(f.key, key+".") })
}

func (s section[T]) field(key string) (field[T], bool) {
	i := slices.IndexFunc(s.fields, func(f field[T]) bool { return f.key == key })
	if i < 0 {
		return field[T]{}, false
	}
	return s.fields[i], true
}

func (d *decoder) decode() {
	d.root = map[string]any{}
	found, over := tomlscan.Keys(d.source.text)
	if over != nil {
		d.problems = append(d.problems, Problem{At: d.source.position(over.At), Text: over.Why})
		return
	}
	meta, err := toml.Decode(d.source.text, &d.root)
	if err != nil {
		at, text := d.source.position(0), err.Error()
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			at, text = d.source.position(parse.Position.Start), parse.Message
		}
		d.problems = append(d.problems, Problem{At: at, Text: text})
		return
	}
	d.config = section[Config]{fields: fields()}
	d.plugin = section[Plugin]{prefix: "plugins.*.", fields: pluginFields()}
	d.worker = section[Worker]{prefix: "workers.*.", fields: workerFields(), opened: opened}
	d.hook = section[Hook]{prefix: "hooks.*.", fields: hookFields()}
	d.answer = section[Answer]{prefix: answersKey + ".*.", fields: answerFields()}
	d.done, d.places = map[string]bool{}, map[string]tomlscan.Spot{}
	keys := meta.Keys()
	found = append(found, make([]tomlscan.Spot, len(keys))...) // there may be fewer
	for i, key := range keys {
		d.places[joined(key)] = cmp.Or(d.places[joined(key)], found[i])
	}
	for i, key := range keys {
		// A table that is written key by key begins with the first of these.
		for n := 1; n < len(key); n++ {
			name := joined(key[:n])
			d.places[name] = cmp.Or(d.places[name], found[i])
		}
	}
	for i, key := range keys {
		switch {
		case !isAnswers(key):
			d.key(key, found[i])
		case !d.done[answersKey]:
			d.rules(keys, found, found[i])
		}
	}
	d.checkPlugins()
	d.checkWorkers()
	d.checkHooks()
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
}

// key deals with one key of the document, in the order of the document.
func (d *decoder) key(key toml.Key, at tomlscan.Spot) {
	if d.isDone(key) {
		return
	}
	inTables := key[0] == "plugins" || key[0] == "workers" || key[0] == "hooks"
	switch {
	case key[0] == "hooks" && !d.user:
		// No trust in a project's file makes them run.
		d.origins["hooks"], d.done["hooks"] = d.source.position(at.Key), true
	case key[0] == "workers" && d.user:
		d.reject("workers", at.Key, "workers are declared in a project's "+ProjectFile+", not in the user's file")
	case !inTables:
		apply(d, d.config, d.into, key, 0, at)
	case len(key) == 1:
		d.table(key, at)
	case key[0] == "plugins":
		d.keyOfPlugin(key, at)
	case key[0] == "hooks":
		d.keyOfHook(key, at)
	default:
		d.keyOfWorker(key, at)
	}
}

func (d *decoder) table(key toml.Key, at tomlscan.Spot) bool {
	v := lookup(d.root, key)
	_, ok := v.(map[string]any)
	if !ok {
		text := mismatch("a table", v).Error()
		if joined(key) == "hooks" && kindOf(v) == "an array" {
			text += ": give each hook a name, as in [hooks.mail]"
		}
		d.reject(joined(key), at.Value, text)
	}
	return ok
}

func (d *decoder) keyOfPlugin(key toml.Key, at tomlscan.Spot) {
	if !validPlugin(key[1]) {
		d.reject(joined(key[:2]), at.Key, "expected a plugin name of lower-case letters, digits and hyphens")
		return
	}
	if len(key) == 2 {
		d.table(key, at)
		return
	}
	p := d.into.Plugins[key[1]]
	if apply(d, d.plugin, &p, key, 2, at) {
		d.into.Plugins[key[1]] = p
	}
}

func (d *decoder) checkPlugins() {
	for _, name := range sortedKeys(d.into.Plugins) {
		if p := d.into.Plugins[name]; p.Version != "" && p.Command != nil {
			d.wrong(pluginKey(name, "version"), "a version is of an installed plugin, a command names another: leave out one of the two")
		}
	}
}

// apply sets the field of a key; the first parts of the key select into. It reports whether
// into has changed.
func apply[T any](d *decoder, s section[T], into *T, key toml.Key, skip int, at tomlscan.Spot) bool {
	// A table without fields of its own is dealt with as a whole, even if it is
	// written key by key: config.a = 1.
	for n := skip + 1; n < len(key); n++ {
		part := joined(key[skip:n])
		if _, ok := s.field(part); ok && !s.has(part) {
			key = key[:n]
		}
	}
	rest, v := joined(key[skip:]), lookup(d.root, key)
	f, known := s.field(rest)
	_, isTable := v.(map[string]any)
	switch {
	case isTable && s.has(rest):
		if open := s.opened[rest]; open != nil {
			open(into)
		}
		return true
	case known:
		return d.set(key, s.prefix+rest, at, v, func(v any) error { return f.set(into, v) })
	case s.has(rest):
		d.reject(joined(key), at.Value, mismatch("a table", v).Error())
	default:
		text := "unknown key"
		if len(d.problems) < maxSuggestions {
			text += didYouMean(nearestKey(strings.Join(key, "."), d.knownKeys(key)))
		}
		d.reject(joined(key), at.Key, text)
	}
	return false
}

// set sets one key, whose name in [Checks] is check.
func (d *decoder) set(key toml.Key, check string, at tomlscan.Spot, v any, set func(any) error) bool {
	name := joined(key)
	d.done[name] = true
	err := set(v)
	if s, ok := v.(string); ok && err == nil {
		err = d.checks.of(check, s)
	}
	if wrong, ok := errors.AsType[keyErrors](err); ok {
		for _, part := range sortedKeys(wrong) {
			below := name + "." + bare(part)
			d.reject(below, cmp.Or(d.places[below], at).Value, wrong[part].Error())
		}
		return false
	}
	if err != nil {
		d.reject(name, at.Value, err.Error())
		return false
	}
	d.origins[name] = d.source.position(at.Key)
	return true
}

// maxSuggestions is how many problems may have a suggestion. A file with more of them is
// probably meant for another program.
const maxSuggestions = 100

func didYouMean(known string) string {
	if known == "" {
		return ""
	}
	return " (did you mean '" + known + "'?)"
}

// reject reports a key with everything below it.
func (d *decoder) reject(name string, offset int, text string) {
	d.problems = append(d.problems, Problem{At: d.source.position(offset), Key: name, Text: text})
	d.done[name] = true
}

func (d *decoder) isDone(key toml.Key) bool {
	for n := range key {
		if d.done[joined(key[:n+1])] {
			return true
		}
	}
	return false
}

func (d *decoder) knownKeys(key toml.Key) []string {
	switch key[0] {
	case "plugins":
		return keysBelow("plugins."+key[1]+".", d.plugin.fields)
	case "workers":
		return keysBelow("workers."+key[1]+".", d.worker.fields)
	case "hooks":
		return append(keysBelow("hooks.", d.hook.fields), keysBelow("hooks."+key[1]+".", d.hook.fields)...)
	default:
		return keysOutside()
	}
}

// keysOutside returns the keys outside of the tables with names, and the sections.
func keysOutside() []string { return append(keysBelow("", fields()), sortedKeys(sectionDocs)...) }

func keysBelow[T any](prefix string, fields []field[T]) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = prefix + f.key
	}
	return keys
}

// validPlugin keeps out what would be a path in the name of an executable.
func validPlugin(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

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
