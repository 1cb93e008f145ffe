package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Request is one request of a client.
type Request struct {
	// Path is the path of its URL.
	Path string
	// Turn reports whether it is an agent's, which takes a turn of the script.
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

// Prompted returns how many pieces of the user's text are exactly text, but for the white
// space around them and the tags around a paste.
func (r Request) Prompted(text string) int {
	n := 0
	for _, u := range r.User {
		u = strings.TrimSpace(u)
		if m := pasted.FindStringSubmatch(u); m != nil && m[1] == m[3] {
			u = strings.TrimSpace(m[2])
		}
		if u == strings.TrimSpace(text) {
			n++
		}
	}
	return n
}

// question is a request in a form that all dialects share.
type question struct {
	stream               bool
	user, results, tools []string
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

func (e *events) flush() {
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// each calls send for every word of text, with the pauses of the turn. It reports whether
// the client still listens.
func (e *events) each(text string, send func(word string)) bool {
	for i, word := range words(text) {
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

func (t Turn) arguments() string {
	if t.Input == nil {
		return "{}"
	}
	return string(encode(t.Input))
}

// text returns the pieces of a message's content, which is a string or an array of parts of
// the given kinds.
func texts(content json.RawMessage, kinds ...string) ([]string, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, fmt.Errorf("read the content of a message: %w", err)
	}
	var all []string
	for _, p := range parts {
		for _, kind := range kinds {
			if p.Type == kind {
				all = append(all, p.Text)
			}
		}
	}
	return all, nil
}
