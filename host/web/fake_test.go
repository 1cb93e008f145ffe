package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fakeHost answers what a test has put into it.
type fakeHost struct {
	dash.Doer // tests of actions set it
	mu        sync.Mutex
	workers   []worker.Worker
	events    []registry.Event
	output    []swarm.Output
	screen    []string
	styled    []string
	// changed gets a value when the workers have changed.
	changed chan struct{}
}

func (f *fakeHost) Workers(_ context.Context, _ worker.Selection) ([]worker.Worker, []string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]worker.Worker{}, f.workers...), nil, nil
}

func (f *fakeHost) Details(_ context.Context, id string, _ host.DetailsRequest) (host.Details, []string, error) {
	i := slices.IndexFunc(f.workers, func(w worker.Worker) bool { return w.ID == id })
	if i < 0 {
		return host.Details{}, nil, store.ErrNotFound
	}
	return host.Details{Worker: f.workers[i], Processes: []proc.Process{
		{Identity: proc.Identity{PID: 11}, Name: "sh", Parent: 1},
		{Identity: proc.Identity{PID: 12}, Name: "<b>\u202e", Parent: 11},
	}}, nil, nil
}

func (f *fakeHost) Watch(ctx context.Context, req watch.Request) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.changed:
			req.Ready()
		}
	}
}

func (f *fakeHost) Events(context.Context, registry.EventQuery) ([]registry.Event, error) {
	return f.events, nil
}

func (f *fakeHost) Meter() *stats.Meter {
	return &stats.Meter{Roster: unmeasured{}}
}

// unmeasured is a roster without workers.
type unmeasured struct{}

func (unmeasured) See(context.Context, worker.Selection) ([]registry.Record, []string, error) {
	return nil, nil, errors.New("nothing is measured")
}

func (unmeasured) Observe(context.Context, []registry.Record) []worker.Worker { return nil }

func (f *fakeHost) Workspaces() *compare.Workspaces { return nil }

func (f *fakeHost) Saved() *saved.Rescues { return nil }

func (f *fakeHost) View(context.Context, func(context.Context, *registry.Tx) error) error { return nil }

func (f *fakeHost) Logs(ctx context.Context, _ string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	for _, out := range f.output {
		if err := each(out); err != nil {
			return err
		}
	}
	if o.Follow {
		<-ctx.Done()
	}
	return nil
}

func (f *fakeHost) Peek(context.Context, string, int) (display.Peek, error) {
	return display.Peek{Lines: f.screen, Styled: f.styled, Screen: f.screen != nil}, nil
}

// rescues are saved work.
type rescues []swarm.SavedWork

func (all rescues) List(context.Context, ...string) ([]swarm.SavedWork, []string, error) {
	return all, nil, nil
}

// rig is a server with a host that is a fake.
type rig struct {
	*testing.T
	*Server
	host *fakeHost
}

func newRig(t *testing.T, change func(*Options), ws ...worker.Worker) *rig {
	t.Helper()
	h := &fakeHost{workers: ws, changed: make(chan struct{})}
	o := Options{Host: h}
	if change != nil {
		change(&o)
	}
	r := &rig{T: t, Server: New(o), host: h}
	r.rescues = rescues(nil)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.feed.run(ctx) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	return r
}

// request makes a request of the person's browser.
func (r *rig) request(method, path string, headers ...string) *http.Request {
	req := httptest.NewRequestWithContext(r.Context(), method, "http://127.0.0.1:8080"+r.base+path, nil)
	req.Header.Set("Accept", "text/html")
	req.AddCookie(&http.Cookie{Name: r.cookie, Value: r.session})
	if method == http.MethodPost {
		req.Header.Set("Origin", "http://127.0.0.1:8080")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Del(headers[i])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	return req
}

// ask answers a request.
func (r *rig) ask(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// page returns a page that there must be.
func (r *rig) page(path string) string {
	r.Helper()
	w := r.ask(r.request(http.MethodGet, path))
	if w.Code != http.StatusOK {
		r.Fatalf("%s: %d\n%s", path, w.Code, w.Body)
	}
	return r.paths(w.Body.String())
}

// paths returns a page with its links as paths of the server.
func (r *rig) paths(page string) string { return strings.ReplaceAll(page, r.base+"/", "/") }

// events reads a stream until it has sent what is wanted.
func (r *rig) events(path string, wants ...string) string {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	out := &answerWriter{ResponseRecorder: httptest.NewRecorder(), wants: wants, done: cancel}
	r.ServeHTTP(out, r.request(http.MethodGet, path).WithContext(ctx))
	text := r.paths(out.Body.String())
	for _, want := range wants {
		if !strings.Contains(text, want) {
			r.Fatalf("%s does not have %q:\n%s", path, want, text)
		}
	}
	return text
}

// answerWriter ends a request when its answer has all that is wanted.
type answerWriter struct {
	*httptest.ResponseRecorder
	wants []string
	done  func()
}

func (g *answerWriter) Write(p []byte) (int, error) {
	n, err := g.ResponseRecorder.Write(p)
	text := g.Body.String()
	for _, want := range g.wants {
		if !strings.Contains(text, want) {
			return n, err
		}
	}
	g.done()
	return n, err
}
