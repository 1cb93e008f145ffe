package modelserver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Request is one request of a client.
type Request struct {
	Path string
	// Turn reports whether it is an agent's, which takes a turn of the script: it has tools, and
	// does not ask what the user might type next.
	Turn bool
	// User is the text of the user's messages, one element for each piece of text, oldest
	// first. Clients add text of their own here.
	User []string
	// Results is the text of the results of tool calls, oldest first.
	Results []string
	// Tools is the names of the tools that the model may ask for.
	Tools []string
	// Body is the request as it came.
	Body []byte
}

// pasted is what Claude Code puts around a long paste.
var pasted = regexp.MustCompile(`(?s)^<pasted_content id="(\w+)">\n(.*)\n</pasted_content id="(\w+)">$`)

// attached is what Crush puts around a long paste.
var attached = regexp.MustCompile(`(?s)^<system_info>[^<]*</system_info>\n<file(?: path='[^']*')?>\n\n(.*)\n</file>$`)

// added is what clients put before or behind a text: Copilot CLI and Goose add the time, and
// Copilot CLI the files that a text names.
var added = regexp.MustCompile(`(?s)^<current_datetime>[^<]*</current_datetime>|<(?:turn-context|tagged_files)>.*</(?:turn-context|tagged_files)>$`)

// Prompted returns how many pieces of the user's text are exactly text, but for the white
// space around them, the tags around a paste, and what clients add.
func (r Request) Prompted(text string) int {
	n := 0
	for _, u := range r.User {
		u = strings.TrimSpace(added.ReplaceAllString(strings.TrimSpace(u), ""))
		if m := pasted.FindStringSubmatch(u); m != nil && m[1] == m[3] {
			u = strings.TrimSpace(m[2])
		} else if m := attached.FindStringSubmatch(u); m != nil {
			u = strings.TrimSpace(m[1])
		}
		if u == strings.TrimSpace(text) {
			n++
		}
	}
	return n
}

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
	// More is added to that error, by vendors that say more in it: the Responses API.
	More map[string]any
	// Header is added to the answer, such as what a vendor says of usage limits.
	Header map[string]string
}

// question is a request in a form that all dialects share.
type question struct {
	stream               bool
	user, results, tools []string
}

// suggests reports whether the client only wants to know what its user might type next: Qwen Code
// asks that after a turn, with all its tools.
func (q question) suggests() bool {
	return len(q.user) > 0 && strings.HasPrefix(q.user[len(q.user)-1], "[SUGGESTION MODE: ")
}

type dialect interface {
	// parse returns the question of a request.
	parse(r *http.Request, body []byte) (question, error)
	// whole answers in one piece.
	whole(w http.ResponseWriter, turn Turn)
	// stream answers with server-sent events.
	stream(e *events, turn Turn)
	// fail answers with an error.
	fail(w http.ResponseWriter, turn Turn)
}

type events struct {
	w     http.ResponseWriter
	pause func(word int) bool
}

// send writes one event with the JSON of data. A name is left out if it is empty.
func (e *events) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", encode(data))
	e.flush()
}

// typed sends an event whose data holds its name, too.
func (e *events) typed(name string, data object) {
	data["type"] = name
	e.send(name, data)
}

func (e *events) flush() { _ = http.NewResponseController(e.w).Flush() } // the client may have hung up

// each calls send for every word of text, with the pauses of the turn. It reports whether
// the client still listens.
func (e *events) each(text string, send func(word string)) bool {
	for i, word := range strings.SplitAfter(text, " ") {
		if !e.pause(i) {
			return false
		}
		if word != "" {
			send(word)
		}
	}
	return true
}

func encode(data any) []byte {
	b, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("modelserver: %v", err))
	}
	return b
}

func reply(w http.ResponseWriter, status int, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(data)) // the client may have hung up
}

type object = map[string]any

var calls atomic.Int64

// callID returns an id for a tool call. Clients distinguish calls by it.
func callID() string { return strconv.FormatInt(calls.Add(1), 10) }

func (t Turn) kind(other string, kinds map[int]string) string {
	return cmp.Or(t.Kind, kinds[t.Status], other)
}

func (t Turn) arguments() string {
	if t.Input == nil {
		return "{}"
	}
	return string(encode(t.Input))
}

// appendTexts appends the pieces of a message's content, which is a string or an array of
// parts of the given kinds.
func appendTexts(all []string, content json.RawMessage, kinds ...string) ([]string, error) {
	if len(content) == 0 {
		return all, nil
	}
	var one string
	if json.Unmarshal(content, &one) == nil {
		return append(all, one), nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, fmt.Errorf("read the content of a message: %w", err)
	}
	for _, p := range parts {
		if slices.Contains(kinds, p.Type) {
			all = append(all, p.Text)
		}
	}
	return all, nil
}
