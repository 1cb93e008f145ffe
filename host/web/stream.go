package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/swarmhost/swarm/shared/sleep"
)

type stream struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	c      *http.ResponseController
	end    <-chan struct{}
	sent   time.Time
	// titled is the title that was sent last.
	titled string
}

// beat is how often something is sent, so that a client that is gone is noticed.
const beat = 15 * time.Second

var errOver = errors.New("the stream has ended")

func (s *Server) stream(w http.ResponseWriter, r *http.Request, run func(*stream) error) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		w.Header().Set("Retry-After", "5")
		s.refuse(w, r, http.StatusServiceUnavailable, "Too many pages are open.")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	out := &stream{server: s, w: w, r: r, c: http.NewResponseController(w), end: s.end}
	err := out.write([]byte("retry: 1500\n\n"))
	if err == nil {
		err = run(out)
	}
	s.opts.Logger.Debug("a stream has ended", "path", r.URL.Path, "reason", err)
}

// write sends bytes. A client that does not take them in time loses its stream.
func (s *stream) write(data []byte) error {
	s.sent = time.Now()
	if err := s.put(data); err != nil {
		return err
	}
	return s.c.Flush()
}

// put writes bytes that the client need not see at once.
func (s *stream) put(data []byte) error {
	if err := s.c.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := s.w.Write(data)
	return err
}

// json sends an event. JSON has no line ends outside of its strings, where they are
// escaped, so it is one line.
func (s *stream) json(event string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write([]byte("event: " + event + "\ndata: " + string(data) + "\n\n"))
}

// title sends the title of the page, unless the browser has it already.
func (s *stream) title(text string) error {
	if text == s.titled {
		return nil
	}
	s.titled = text
	return s.json("title", text)
}

// wait returns when there is something new, or at the latest after a time. It is an error
// if the stream has ended.
func (s *stream) wait(changed, more <-chan struct{}, atMost time.Duration) error {
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	select {
	case <-s.r.Context().Done():
		return s.r.Context().Err()
	case <-s.end:
		return errOver
	case <-changed:
	case <-more:
	case <-limit.C:
	}
	if time.Since(s.sent) > beat {
		return s.write([]byte(":\n\n"))
	}
	return nil
}

const (
	// partLook is how often a part is made anew without a change of workers, and partPause
	// the shortest time between two of them.
	partLook, partPause = 4 * time.Second, time.Second
)

// part sends the element with an id, made by a template, unless it is shown already.
func (s *stream) part(id, part string, view any, shown *string) error {
	html, err := s.server.render(part, view)
	if err != nil || string(html) == *shown {
		return err
	}
	*shown = string(html)
	return s.json("part", map[string]string{"id": id, "html": *shown})
}

// livePart keeps a part of a page current: the element with that id, made by a template.
func (s *Server) livePart(w http.ResponseWriter, r *http.Request, title, id, part string, data func() (any, error)) {
	s.stream(w, r, func(out *stream) error {
		shown := ""
		for {
			now := s.feed.now()
			if err := out.title(titleOf(title, now)); err != nil {
				return err
			}
			view, err := data()
			if err != nil {
				return err
			}
			if err := out.part(id, part, view, &shown); err != nil {
				return err
			}
			if err := out.wait(now.changed, nil, partLook); err != nil {
				return err
			}
			if sleep.For(r.Context(), partPause-time.Since(out.sent)) != nil {
				return r.Context().Err()
			}
		}
	})
}
