package pluginlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// entry is an entry of a log.
type entry struct {
	level hclog.Level
	// fatal says that the program can't continue.
	fatal   bool
	message string
	// args are the keys and values of the entry.
	args []any
	// err is the value of the key error, if it has one.
	err string
}

// summary returns the entry as the cause of an end.
func (e *entry) summary() string {
	if e.err == "" || strings.Contains(e.message, e.err) {
		return e.message
	}
	return e.message + ": " + e.err
}

// The keys of JSON that loggers use for the level, the message and the time: those of hclog, which
// the protocol names, come first, then those of slog, zap, logrus, zerolog, pino and bunyan.
var (
	levelKeys   = []string{"@level", "level", "severity", "lvl", "levelname"}
	messageKeys = []string{"@message", "msg", "message", "event"}
	timeKeys    = []string{"@timestamp", "time", "ts", "timestamp"}
	errorKeys   = []string{"error", "err"}
)

// parse reads a line as an entry: a JSON object with a level and a message, or a text with a
// level where loggers write it.
func parse(text string) (*entry, bool) {
	if text[0] != '{' {
		return parseText(text)
	}
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil {
		return nil, false
	}
	given := take(fields, levelKeys)
	message := take(fields, messageKeys)
	if given == nil && message == nil {
		return nil, false
	}
	e := &entry{level: hclog.Debug}
	if level, fatal, ok := levelOf(given); ok {
		e.level, e.fatal = level, fatal
	}
	if message != nil {
		e.message = fmt.Sprint(message)
	}
	when := take(fields, timeKeys)
	for _, key := range errorKeys {
		if value, ok := fields[key]; ok && e.err == "" {
			e.err = fmt.Sprint(value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		e.args = append(e.args, key, fields[key])
	}
	if when != nil {
		e.args = append(e.args, "timestamp", when)
	}
	return e, true
}

// take returns the value of the first of the keys that is there, and removes it.
func take(fields map[string]any, keys []string) any {
	for _, key := range keys {
		value, ok := fields[key]
		if !ok {
			continue
		}
		if delete(fields, key); value != nil {
			return value
		}
	}
	return nil
}

// parseText reads a level where loggers that write text for people have it:
//
//	[WARN] text, 2026-11-27T07:17:39Z [WARN] text       hclog
//	time=… level=WARN msg=…                             slog, logrus
//	2026/11/27 07:17:39 WARN text                       slog by default, zap, zerolog, tracing
//	2026-11-27 07:17:39,123 - name - WARNING - text     logging of Python, log4j
//	WARNING:name:text, WARN[0001] text                  logging of Python by default, logrus on a terminal
//	W1127 07:17:39.123456       1 file.go:12] text      klog
//
// Below an error, "warning: text" is an entry too. "error: text" and "fatal: text" are what programs
// say before they end.
func parseText(text string) (*entry, bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, false
	}
	if level, fatal, ok := firstLevel(words); ok {
		return &entry{level: level, fatal: fatal, message: text}, true
	}
	// Before the level there is only a time, in brackets or not, and names after that.
	if first := words[0][0]; first != '[' && first != 't' && (first < '0' || first > '9') {
		return nil, false
	}
	for _, word := range words[:min(len(words), maxBefore)] {
		name, paired := strings.CutPrefix(word, "level=")
		if !paired {
			if name = strings.Trim(word, "[]():|"); words[0][0] == 't' || !isLevelName(name, word) {
				continue
			}
		}
		if level, fatal, ok := levelOf(name); ok {
			return &entry{level: level, fatal: fatal, message: text}, true
		}
	}
	return nil, false
}

// maxBefore is within how many words of a line its level is.
const maxBefore = 6

// isLevelName reports whether a word inside a line can be a level: it is in brackets or in capitals.
func isLevelName(name, word string) bool {
	return name != "" && (word[0] == '[' || name == strings.ToUpper(name)) && name[0] >= 'A'
}

// firstLevel reads a level from the beginning of a line.
func firstLevel(words []string) (level hclog.Level, fatal, ok bool) {
	first := words[0]
	if m := klog().FindStringSubmatch(first); m != nil && len(words) > 3 {
		return levelOf(map[string]string{"I": "info", "W": "warn", "E": "error", "F": "fatal"}[m[1]])
	}
	end := strings.IndexAny(first, ":[")
	if end < 0 {
		return hclog.NoLevel, false, false
	}
	level, fatal, ok = levelOf(first[:end])
	isNamed := end+1 < len(first) && first[:end] == strings.ToUpper(first[:end]) // WARNING:name:text
	if first[0] >= '0' && first[0] <= '9' || level == hclog.Error && !isNamed {
		return hclog.NoLevel, false, false
	}
	return level, fatal, ok
}

var klog = lazyregexp.New(`^([IWEF])\d{4}$`)

// names are the levels by the names that loggers have for them, in lower case. Levels above
// error count as error; they end the program in most loggers.
var names = map[string]hclog.Level{
	"trace": hclog.Trace, "verbose": hclog.Trace, "silly": hclog.Trace,
	"debug": hclog.Debug, "dbg": hclog.Debug, "fine": hclog.Debug,
	"info": hclog.Info, "information": hclog.Info, "informational": hclog.Info, "inf": hclog.Info, "notice": hclog.Info,
	"warn": hclog.Warn, "warning": hclog.Warn, "wrn": hclog.Warn,
	"error": hclog.Error, "err": hclog.Error, "severe": hclog.Error,
}

var fatalNames = []string{"fatal", "ftl", "panic", "dpanic", "critical", "crit", "alert", "emerg", "emergency"}

// levelOf reads a level: a name in any case, one of slog such as "WARN+2", or the number of pino
// and bunyan.
func levelOf(value any) (level hclog.Level, fatal, ok bool) {
	if n, isNumber := value.(float64); isNumber {
		return numbered(n)
	}
	text, isText := value.(string)
	if !isText {
		return hclog.NoLevel, false, false
	}
	name := strings.ToLower(strings.Trim(strings.TrimSpace(text), `"`))
	if i := strings.IndexAny(name, "+-"); i > 0 {
		name = name[:i]
	}
	if slices.Contains(fatalNames, name) {
		return hclog.Error, true, true
	}
	if level, ok = names[name]; ok {
		return level, false, true
	}
	if n, err := strconv.ParseFloat(name, 64); err == nil {
		return numbered(n)
	}
	return hclog.NoLevel, false, false
}

func numbered(n float64) (level hclog.Level, fatal, ok bool) {
	switch {
	case n >= 60:
		return hclog.Error, true, true
	case n >= 50:
		return hclog.Error, false, true
	case n >= 40:
		return hclog.Warn, false, true
	case n >= 30:
		return hclog.Info, false, true
	case n >= 20:
		return hclog.Debug, false, true
	default:
		return hclog.Trace, false, true
	}
}

// Text returns a line as a person reads it: an entry in JSON as its time, level, message and
// values, every other line as it is.
func Text(line string) string {
	if !strings.HasPrefix(line, "{") {
		return line
	}
	e, ok := parse(line)
	if !ok {
		return line
	}
	var when string
	var values []string
	for pair := range slices.Chunk(e.args, 2) {
		if pair[0] == "timestamp" {
			when = fmt.Sprint(pair[1], " ")
		} else {
			values = append(values, fmt.Sprintf("%v=%v", pair[0], pair[1]))
		}
	}
	text := when + "[" + strings.ToUpper(e.level.String()) + "] " + e.message
	if len(values) > 0 {
		text += ": " + strings.Join(values, " ")
	}
	return text
}
