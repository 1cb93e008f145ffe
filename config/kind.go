package config

import (
	"strconv"
	"time"
)

// kind is a type of value: how to read it, how to write it in TOML, and its schema for
// editors.
type kind[V any] struct {
	// read takes a value as the TOML library decoded it.
	read func(v any) (V, error)
	// show returns the value in TOML; empty: there is none.
	show   func(V) string
	schema Schema
}

// The kinds. Their schemas accept all values that can be read, and as few others as a
// schema can exclude.
var (
	showText  = ifSet(quote)
	showCount = ifSet(strconv.Itoa)

	textKind     = kind[string]{readText, showText, Schema{Type: "string"}}
	signalKind   = kind[string]{readSignal, showText, Schema{Type: either{"string", "integer"}, Minimum: new(1)}}
	boolKind     = kind[bool]{readBool, strconv.FormatBool, Schema{Type: "boolean"}}
	stopsKind    = kind[[]string]{anyOf(Stops()...), showTexts, listOf(Schema{Type: "string", Enum: Stops()}, 0)}
	textsKind    = kind[[]string]{readTexts, showTexts, listOf(Schema{Type: "string"}, 0)}
	countKind    = kind[int]{readCount, showCount, Schema{Type: "integer", Minimum: new(1)}}
	durationKind = durations(readDuration, 0)
	delayKind    = durations(readDelay, 1)
	ageKind      = kind[time.Duration]{readDelay, ifSet(showDuration), delayKind.schema}
	sizeKind     = kind[int64]{readSizes("64MiB", ParseSize), showSize, Schema{Type: either{"string", "integer"}, Pattern: sizePattern, Minimum: new(1)}}
	memoryKind   = kind[int64]{readSizes("2GiB", ParseMemory), ifSet(showSize), Schema{Type: either{"string", "integer"}, Pattern: memoryPattern, Minimum: new(1 << 20)}}
	cpusKind     = kind[float64]{readCPUs, ifSet(func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }), Schema{Type: either{"number", "integer"}}}
	niceKind     = kind[int]{readWithin(-20, 19), showCount, Schema{Type: "integer", Minimum: new(-20)}}
	weightKind   = kind[int]{readWithin(1, 10000), showCount, Schema{Type: "integer", Minimum: new(1)}}
	effortKind   = choiceKind(LimitsStrict, LimitsBestEffort)
	networkKind  = choiceKind(NetworkHost, NetworkNone)
	hashKind     = kind[string]{readHash, showText, Schema{Type: "string", Pattern: "^[0-9A-Fa-f]{64}$"}}
	versionKind  = kind[string]{readVersion, showText, Schema{Type: "string", Pattern: versionPattern}}
	regexpKind   = kind[string]{readRegexp, showText, Schema{Type: "string", MinLength: 1, Format: "regex"}}
	retainKind   = kind[string]{readRetain, showText, Schema{Type: either{"string", "integer"}, Pattern: retainPattern, Minimum: new(0)}}

	restartKind = choiceKind(RestartNo, RestartOnFailure, RestartAlways)

	// A plugin may be a program alone, a worker's command is a list.
	programKind = kind[[]string]{readProgram, showTexts, Schema{AnyOf: []Schema{{Type: "string", MinLength: 1}, listOf(Schema{Type: "string"}, 1)}}}
	commandKind = kind[[]string]{readCommand, showTexts, listOf(Schema{Type: "string"}, 1)}
	pathsKind   = kind[[]string]{readPaths, showTexts, Schema{AnyOf: []Schema{pathSchema, listOf(pathSchema, 0)}}}

	tableKind = kind[map[string]any]{readTable, showTable[any], Schema{Type: "object"}}
	// The values of variables may be secrets: they are never shown.
	variablesKind = kind[map[string]string]{readPairs, showNames, Schema{Type: "object", AdditionalProperties: pairSchema}}
	keysKind      = kind[map[string]string]{readKeys, showTable[string], Schema{Type: "object", AdditionalProperties: Schema{Type: "string", Pattern: keyPattern}}}
	pairsKind     = kind[map[string]string]{readPairs, showTable[string], Schema{Type: "object", AdditionalProperties: pairSchema}}

	// Each of these is the short form of a table with the same name.
	workspaceKind = kind[Workspace]{readWorkspace, func(w Workspace) string { return showText(w.Plugin) }, Schema{Type: "string", Pattern: pluginPattern}}
	worktreeKind  = kind[Workspace]{readWorktree, func(w Workspace) string { return strconv.FormatBool(w.Use) }, Schema{Type: "boolean"}}
	readyKind     = kind[Ready]{readReady, showReady, Schema{Type: either{"boolean", "string"}, MinLength: 1, Format: "regex"}}
)

var (
	pathSchema = Schema{Type: "string", MinLength: 1}
	pairSchema = Schema{Type: either{"string", "integer", "boolean"}}
)

const versionPattern = "^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$"

// keyPattern is that of a public key of minisign, 42 bytes in base64.
const keyPattern = "^RW[A-Za-z0-9+/]{54}$"

// Patterns of what unit.go reads; a number alone is seconds or bytes.
const (
	durationWords = `\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+`
	retainPattern = "^(until-clean|none|[0-9]+|" + durationWords + ")$"
	memoryPattern = `^[0-9]+(\.[0-9]+)? *([kKmMgGtT]?[bB]?|[kKmMgGtT][iI][bB])$`
	sizePattern   = "^[0-9]+ *([kKmMgGtT]?[bB]?|[kKmMgGtT][iI][bB])$"
)

func durations(read func(any) (time.Duration, error), minimum int) kind[time.Duration] {
	return kind[time.Duration]{read, showDuration, Schema{
		Type: either{"string", "integer"}, Pattern: "^([0-9]+|" + durationWords + ")$", Minimum: new(minimum),
	}}
}

// pluginsKind are names of plugins.
var pluginsKind = kind[[]string]{readPlugins, showTexts, listOf(Schema{Type: "string", Pattern: pluginPattern}, 0)}

// eventsKind are words for events, see docs/hooks.md.
var eventsKind = choicesKind("failed", "lost", "crash-loop", "blocked", "limited", "broken", "ended")

func choicesKind(words ...string) kind[[]string] {
	return kind[[]string]{someOf(words...), showTexts, listOf(Schema{Type: "string", Enum: words}, 1)}
}

func choiceKind(words ...string) kind[string] {
	return kind[string]{oneOf(words...), showText, Schema{Type: "string", Enum: words}}
}
