package modelserver

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Turn is what the model does when an agent asks for its next answer. The zero value
// answers "ok".
type Turn struct {
	// Text is the answer. It comes before a tool call.
	Text string
	// Tool is the name of the tool that the model asks the client to run; empty for an
	// answer without a tool call.
	Tool string
	// Namespace is the group of tools that Tool is in, where a client declares groups: the
	// Responses API.
	Namespace string
	// Input is the tool's input. It must encode as a JSON object.
	Input map[string]any
	// Pause comes before every word of Text.
	Pause time.Duration
	// Hold, if it is not nil, keeps the answer back until it is closed or the client hangs
	// up.
	Hold <-chan struct{}
	// Status, if it is not 0, makes the answer an HTTP error with that code, whose message
	// is Text.
	Status int
	// Kind is the vendor's name for that error; empty for the usual one of the status.
	Kind string
}

func words(text string) []string {
	return strings.SplitAfter(text, " ")
}

var calls atomic.Int64

// callID returns an id for a tool call. Clients tell calls apart by it.
func callID() string {
	return strconv.FormatInt(calls.Add(1), 10)
}

func (t Turn) kind(other string, kinds map[int]string) string {
	if t.Kind != "" {
		return t.Kind
	}
	if kind, ok := kinds[t.Status]; ok {
		return kind
	}
	return other
}
