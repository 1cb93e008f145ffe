package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody is the size up to which a request is read: agents send their whole history.
const maxBody = 64 << 20

// Server is one model. Its methods may be called at any time.
type Server struct {
	// URL is the server's address, without a slash at its end.
	URL string

	http   *httptest.Server
	closed chan struct{}

	mu       sync.Mutex
	turns    []Turn
	answer   func(Request) Turn
	requests []Request
	changed  chan struct{} // closed when a request is recorded
}

// Start starts a model on a free port of 127.0.0.1. The caller closes it.
func Start() *Server {
	s := &Server{closed: make(chan struct{}), changed: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close ends the server and every answer that it still holds back.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Script sets the next turns and drops those that are left of an earlier call. Each request
// of an agent takes the next turn; without one it is answered "ok".
func (s *Server) Script(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
}

// Answer makes a function answer the requests of agents instead of a script. It is
// called for one request at a time and must not call the server.
func (s *Server) Answer(answer func(Request) Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Requests returns the requests of agents so far, in the order of their arrival, without
// those that take no turn.
func (s *Server) Requests() []Request {
	return slices.DeleteFunc(s.All(), func(r Request) bool { return !r.Turn })
}

// All returns every request so far, also those that take no turn.
func (s *Server) All() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait returns the first request of an agent for which match reports true. It waits until
// there is one, or until ctx ends.
func (s *Server) Wait(ctx context.Context, match func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		for _, r := range s.Requests() {
			if match(r) {
				return r, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for a request of the agent: %w; there are %d", ctx.Err(), len(s.Requests()))
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	dialect := dialectOf(r.URL.Path)
	if r.Method != http.MethodPost || dialect == nil {
		http.Error(w, `{"error":{"message":"the test's model does not serve this"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil && !json.Valid(body) {
		err = errors.New("the body is not JSON")
	}
	var q question
	if err == nil {
		q, err = dialect.parse(r, body)
	}
	if err != nil {
		dialect.fail(w, Turn{Status: http.StatusBadRequest, Text: err.Error()})
		return
	}
	turn := s.record(Request{Path: r.URL.Path, Turn: len(q.tools) > 0 && !q.suggests(), User: q.user, Results: q.results, Tools: q.tools, Body: body})
	for name, value := range turn.Header {
		w.Header().Set(name, value)
	}
	if turn.Status != 0 {
		dialect.fail(w, turn)
		return
	}
	if turn.Text == "" && turn.Tool == "" {
		turn.Text = "ok"
	}
	if !q.stream {
		if s.pause(r, turn, 0) {
			dialect.whole(w, turn)
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	dialect.stream(&events{w: w, pause: func(n int) bool { return s.pause(r, turn, n) }}, turn)
}

// record keeps the request and returns the turn that answers it.
func (s *Server) record(r Request) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	switch {
	case !r.Turn:
		return Turn{}
	case s.answer != nil:
		return s.answer(r)
	case len(s.turns) == 0:
		return Turn{}
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return turn
}

// pause waits as the turn says before its word n. It reports whether the client still
// listens.
func (s *Server) pause(r *http.Request, turn Turn, n int) bool {
	if n == 0 && turn.Hold != nil && !await(s, r, turn.Hold) {
		return false
	}
	return turn.Pause == 0 || await(s, r, time.After(turn.Pause))
}

// await waits for a channel. It reports whether the client still listens then.
func await[T any](s *Server, r *http.Request, c <-chan T) bool {
	select {
	case <-c:
		return true
	case <-s.closed:
	case <-r.Context().Done():
	}
	return false
}

func dialectOf(path string) dialect {
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		return anthropic{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini{}
	}
	return nil
}
