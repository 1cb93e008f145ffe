package notify

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/notifiertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// pluginPath is the built plugin.
var pluginPath string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swarm-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-notify")
	if err := buildtest.Program(pluginPath, "github.com/swarmhost/swarm/cmd/swarm-plugins"); err != nil {
		panic(err)
	}
	return m.Run()
}

// sink is a server that keeps what it gets.
type sink struct {
	*httptest.Server
	mu sync.Mutex
	// requests are "PATH AUTHORIZATION BODY"; answer answers the next ones.
	requests []string
	answer   http.HandlerFunc
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := new(sink)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || !json.Valid(body) {
			t.Errorf("%s %s: %q, %v", r.Method, r.Header, body, err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body)))
		if s.answer != nil {
			s.answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) set(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// take returns the requests since the last call.
func (s *sink) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

func (s *sink) received() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.requests, "\n")
}

func newNotifier(t *testing.T, c Config) *Notifier {
	t.Helper()
	n, err := New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(address string) Config{
		"ntfy":  func(address string) Config { return Config{Ntfy: address + "/topic", NtfyToken: "t"} },
		"slack": func(address string) Config { return Config{Slack: address + "/hook"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSink(t)
			notifiertest.Run(t, notifiertest.Notifier{
				New:      func(notifiertest.T) swarm.Notifier { return newNotifier(t, config(s.URL)) },
				Received: s.received,
			})
		})
	}
}

func TestConformanceOfBinary(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	config, err := json.Marshal(Config{Ntfy: s.URL + "/topic", Slack: s.URL + "/hook"})
	if err != nil {
		t.Fatal(err)
	}
	notifiertest.RunBinary(t, notifiertest.Binary{Path: pluginPath, Config: config, Received: s.received})
}

var failed = swarm.Event{
	ID: "7-x", Time: time.Now(), Kind: "FAILED", Worker: "api", Text: `exit status 3 <b> & "é"`, Final: true, On: []string{"failed", "ended"}, Attempt: 1,
}

// TestRequests has what servers get.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	n := newNotifier(t, Config{Ntfy: s.URL + "/behind/a%20proxy/topic", NtfyToken: "tk_1", Slack: s.URL + "/services/T/B"})
	late := failed
	late.ID, late.Text, late.Kind, late.On = "8-x", "", "EXITED", []string{"ended"}
	for _, e := range []swarm.Event{failed, late} {
		if a, err := n.Notify(t.Context(), e); err != nil || a != (swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}) {
			t.Errorf("%v, %v", a, err)
		}
	}
	want := []string{
		`/behind/a proxy/ Bearer tk_1 {"message":"exit status 3 <b> & \"é\"","title":"api failed","topic":"topic"}`,
		`/services/T/B  {"text":"api failed: exit status 3 &lt;b&gt; &amp; \"é\""}`,
		`/behind/a proxy/ Bearer tk_1 {"message":"api exited","title":"api exited","topic":"topic"}`,
		`/services/T/B  {"text":"api exited"}`,
	}
	if diff := cmp.Diff(want, s.take()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	failed := failed
	failed.Time = time.Now().Add(-time.Hour)
	if m := messageOf(failed, time.Now()); !strings.Contains(m.body, "\n("+failed.Time.Local().Format("2006-01-02 15:04")) {
		t.Errorf("an old event has no time: %q", m.body)
	}
}

// TestAnswers has what the answers of a server mean.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	n := newNotifier(t, Config{Slack: s.URL + "/secret"})
	for code, want := range map[int]swarm.NotifyOutcome{
		200: swarm.NotifyAccepted, 204: swarm.NotifyAccepted, 302: swarm.NotifyLater, 400: swarm.NotifyNever, 403: swarm.NotifyNever,
		404: swarm.NotifyNever, 408: swarm.NotifyLater, 429: swarm.NotifyLater, 500: swarm.NotifyLater, 503: swarm.NotifyLater,
	} {
		s.set(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
		})
		a, err := n.Notify(t.Context(), failed)
		if err != nil || a.Outcome != want || !a.Again.IsZero() || strings.Contains(a.Reason, "secret") || swarm.CheckNotifyAnswer(a) != nil {
			t.Errorf("%d: %v, %v, want %s", code, a, err, want)
		}
	}
	if slices.ContainsFunc(s.take(), func(r string) bool { return !strings.HasPrefix(r, "/secret") }) {
		t.Error("a redirect was followed")
	}
	for after, soonest := range map[string]time.Time{
		"120": time.Now().Add(2 * time.Minute), time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): time.Now().Add(59 * time.Minute),
	} {
		s.set(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if a, err := n.Notify(t.Context(), failed); err != nil || a.Again.Before(soonest) {
			t.Errorf("after %s: %v, %v", after, a, err)
		}
	}
	s.Close()
	if a, err := n.Notify(t.Context(), failed); err != nil || a.Outcome != swarm.NotifyLater || strings.Contains(a.Reason, "secret") {
		t.Errorf("no server: %v, %v", a, err)
	}
}

// TestTargets: a target that has taken an event does not get it again because another one is late.
func TestTargets(t *testing.T) {
	t.Parallel()
	one, two := newSink(t), newSink(t)
	n := newNotifier(t, Config{Ntfy: one.URL + "/topic", Slack: two.URL + "/hook"})
	two.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for range 2 {
		a, err := n.Notify(t.Context(), failed)
		if err != nil || a.Outcome != swarm.NotifyLater || a.Reason != "slack: the server answers 502 Bad Gateway" {
			t.Errorf("%v, %v", a, err)
		}
	}
	two.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) })
	a, err := n.Notify(t.Context(), failed)
	if err != nil || a.Outcome != swarm.NotifyAccepted || a.Reason != "slack: the server answers 410 Gone" {
		t.Errorf("one of two has refused it: %v, %v", a, err)
	}
	if len(one.take()) != 1 || len(two.take()) != 3 {
		t.Error("not every target got it as often as needed")
	}
	one.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if a, err := n.Notify(t.Context(), failed); err != nil || a.Outcome != swarm.NotifyNever || !strings.Contains(a.Reason, "ntfy: the server answers 403 Forbidden; slack: ") {
		t.Errorf("both have refused it: %v, %v", a, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"ntfy: expected an address":   {Ntfy: "topic"},
		"ntfy: the address has no":    {Ntfy: "https://example.com/"},
		"ntfy_token: it is for":       {NtfyToken: "t"},
		"slack: expected an address ": {Slack: "ftp://user:secret@example.com/x"},
	} {
		_, err := New(c, slog.New(slog.DiscardHandler))
		if !errors.Is(err, swarm.ErrInvalidConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", want, err)
		}
	}
	n := newNotifier(t, Config{})
	if uses, err := n.Report(t.Context()); uses != "" || err != nil || n.Check(t.Context()) != nil {
		t.Errorf("without a target: %q, %v", uses, err)
	}
	if a, err := n.Notify(t.Context(), failed); err != nil || a.Outcome != swarm.NotifyLater {
		t.Errorf("without a target: %v, %v", a, err)
	}
}

// TestDesktop shows an event with a notify-send of the test. It is not parallel: PATH is one.
func TestDesktop(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	program := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n := newNotifier(t, Config{Desktop: true})
	program(`printf '%s\n' "$@" > ` + dir + "/shown")
	if a, err := n.Notify(t.Context(), failed); err != nil || a.Outcome != swarm.NotifyAccepted || n.Check(t.Context()) != nil {
		t.Errorf("%v, %v", a, err)
	}
	shown, err := os.ReadFile(filepath.Join(dir, "shown"))
	if want := "--app-name=swarm\n--\napi failed\nexit status 3 &lt;b&gt; &amp; \"é\"\n"; err != nil || string(shown) != want {
		t.Errorf("shown: %q, %v", shown, err)
	}
	program("echo no session >&2; exit 1")
	if a, err := n.Notify(t.Context(), failed); err != nil || a.Outcome != swarm.NotifyLater || a.Reason != "desktop: notify-send: exit status 1: no session" {
		t.Errorf("%v, %v", a, err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := n.Check(t.Context()); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("without notify-send: %v", err)
	}
}
