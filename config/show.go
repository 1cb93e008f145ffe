package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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
	add(answersKey, showAnswers(l.Config.Answers))
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

// ifSet shows a value unless it is zero, which means that it was not set.
func ifSet[V comparable](show func(V) string) func(V) string {
	return func(v V) string {
		var zero V
		if v == zero {
			return ""
		}
		return show(v)
	}
}

func showTexts(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return inlineList(list)
}

func showDuration(d time.Duration) string { return quote(FormatDuration(d)) }

func showSize(n int64) string { return quote(FormatSize(n)) }

func showReady(r Ready) string {
	if r.Pattern != "" {
		return quote(r.Pattern)
	}
	return strconv.FormatBool(r.Wait)
}

// hidden takes the place of a value that may be a secret.
const hidden = "***"

func showNames(pairs map[string]string) string {
	pairs = maps.Clone(pairs)
	for name := range pairs {
		pairs[name] = hidden
	}
	return showTable(pairs)
}

func showTable[V any](t map[string]V) string {
	if t == nil {
		return ""
	}
	pairs := make([]string, 0, len(t))
	for _, k := range sortedKeys(t) {
		pairs = append(pairs, bare(k)+" = "+inline(t[k]))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

func inline(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case map[string]any:
		return showTable(v)
	case []map[string]any:
		return inlineList(v)
	case []any:
		return inlineList(v)
	default:
		return fmt.Sprint(v)
	}
}

func inlineList[V any](vs []V) string {
	items := make([]string, len(vs))
	for i, v := range vs {
		items[i] = inline(v)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// quote writes a basic string; of Go's escapes, TOML does not know all.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// bare returns one part of a key, quoted if it has to be.
func bare(part string) string {
	special := func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && r != '_' && r != '-'
	}
	if part == "" || strings.ContainsFunc(part, special) {
		return quote(part)
	}
	return part
}

func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " or ")
}

//go:embed example.toml
var example string

// Example returns a commented file that shows every key and changes nothing.
func Example() string { return example }

// firstWorker is what the example of a project has in addition: a worker with which "swarm up"
// works as the file is.
const firstWorker = `# The first one: put your own command in its place, and run "swarm up".
[workers.hello]
command = ["sh", "-c", "echo hello; exec sleep 3600"]
#
`

// beforeWorkers is the line of the example before which the first worker is inserted.
const beforeWorkers = "# [workers.db]\n"

// ProjectExample is [Example] with a worker that can be started.
func ProjectExample() string {
	return strings.Replace(example, beforeWorkers, firstWorker+beforeWorkers, 1)
}

// ErrExists says that the file exists and is not overwritten.
var ErrExists = errors.New("already exists")

// WriteNew writes a text to path, together with the directories above it. If the file exists,
// the error is [ErrExists].
func WriteNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
