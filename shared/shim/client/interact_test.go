package client_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startWith starts a shell script as a worker with a changed launch.
func startWith(t *testing.T, script string, change func(*rundir.Launch)) *worker {
	t.Helper()
	w := newWorker(t)
	l := w.launch("sh", "-c", script)
	change(&l)
	if err := w.start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return w
}

func withStdin(l *rundir.Launch) { l.Stdin = true }

func withRestarts(l *rundir.Launch) {
	l.Restart = swarm.Restart{When: swarm.RestartOnFailure, MinDelay: 10 * time.Millisecond, MaxDelay: 10 * time.Millisecond, Budget: 3, Window: time.Minute}
}

func TestInput(t *testing.T) {
	t.Parallel()
	w := startWith(t, "cat; exit 3", withStdin)
	for _, in := range []swarm.Input{
		{Data: []byte("-one\ntwo"), Enter: true},
		{Data: []byte(strings.Repeat("x", swarm.MaxInput-1) + "\n")},
		{Kind: swarm.InputEOF},
	} {
		r, err := client.Input(t.Context(), w.dir, w.id, in)
		if err != nil || r.Pending {
			t.Fatalf("%s: %+v, %v", in.Kind, r, err)
		}
	}
	if s := w.wait(); s.Exit == nil || s.Exit.Code != 3 {
		t.Errorf("status %+v", s)
	}
	var got strings.Builder
	err := client.Output(t.Context(), w.dir, swarm.OutputOptions{}, func(o swarm.Output) error {
		got.Write(o.Data)
		return nil
	})
	if err != nil || got.String() != "-onetwo"+strings.Repeat("x", swarm.MaxInput-1) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}

func TestInputErrors(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	for name, tt := range map[string]struct {
		id   string
		in   swarm.Input
		want error
		text string
	}{
		"no standard input": {w.id, swarm.Input{Data: []byte("x")}, swarm.ErrInvalidSpec, "the worker has no standard input"},
		"no end to give":    {w.id, swarm.Input{Kind: swarm.InputEOF}, swarm.ErrInvalidSpec, "the worker has no standard input"},
		"too much":          {w.id, swarm.Input{Data: make([]byte, swarm.MaxInput+1)}, swarm.ErrInvalidSpec, "at most 1048576"},
		"Enter too late":    {w.id, swarm.Input{Enter: true, EnterAfter: swarm.MaxEnterAfter + 1}, swarm.ErrInvalidSpec, "must be from 0 to 5s"},
		"Enter too early":   {w.id, swarm.Input{Enter: true, EnterAfter: -1}, swarm.ErrInvalidSpec, "must be from 0 to 5s"},
		"unknown kind":      {w.id, swarm.Input{Kind: 99}, swarm.ErrInvalidSpec, "unknown kind of input 99"},
		"other worker":      {"w-other", swarm.Input{Data: []byte("x")}, swarm.ErrStaleHandle, ""},
	} {
		if _, err := client.Input(t.Context(), w.dir, tt.id, tt.in); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client.Input(t.Context(), w.dir, w.id, swarm.Input{Kind: swarm.InputInterrupt}); err != nil {
		t.Error(err)
	}
	if s := w.wait(); s.Exit == nil || s.Exit.Signal != "SIGINT" || s.Exit.Cause != swarm.CauseExited {
		t.Errorf("status %+v", s)
	}
	for _, in := range []swarm.Input{{Data: []byte("x")}, {Kind: swarm.InputInterrupt}, {Kind: swarm.InputEOF}} {
		if _, err := client.Input(t.Context(), w.dir, w.id, in); !errors.Is(err, swarm.ErrNotFound) {
			t.Errorf("%s to one that has ended: %v", in.Kind, err)
		}
	}
}

func TestBetweenTwoStarts(t *testing.T) {
	t.Parallel()
	w := startWith(t, "exit 3", func(l *rundir.Launch) {
		withRestarts(l)
		l.Restart.MinDelay, l.Restart.MaxDelay = 600_000*time.Millisecond, 600_000*time.Millisecond
	})
	eventually(t, "it pauses", func() bool { return w.status().Reason != "" })
	s := w.status()
	if s.State != swarm.StateRunning || s.PID != 0 || !strings.HasSuffix(s.Reason, "(exit status 3)") {
		t.Errorf("status %+v", s)
	}
	if err := client.Signal(t.Context(), w.dir, w.id, swarm.SignalOptions{Signal: "HUP"}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("signal: %v", err)
	}
	if _, err := client.Input(t.Context(), w.dir, w.id, swarm.Input{Data: []byte("x")}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("input: %v", err)
	}
	r := w.kill(gently)
	if r.Status.State != swarm.StateExited || r.Status.Exit.Cause != swarm.CauseKilled || r.Status.Exit.Code != 3 || r.Forced || r.AlreadyEnded {
		t.Errorf("result %+v, exit %+v", r, r.Status.Exit)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	w := startWith(t, "echo ready; exec sleep 999", withRestarts)
	w.firstLine()
	began := time.Now()
	if err := client.Complete(t.Context(), w.dir, w.id, "All\n\x1b\t done, é", swarm.KillOptions{Grace: time.Minute}); err != nil {
		t.Fatal(err)
	}
	s := w.status()
	if s.State != swarm.StateRunning || s.Completion == nil || s.Completion.Summary != "All done, é" || s.Completion.Time.Before(began) {
		t.Errorf("status %+v", s)
	}
	again := func() {
		t.Helper()
		if err := client.Complete(t.Context(), w.dir, w.id, "again", gently); !errors.Is(err, swarm.ErrTooLate) {
			t.Errorf("error %v", err)
		}
	}
	again()
	if r := w.kill(gently); r.Status.Exit == nil || r.Status.Exit.Cause != swarm.CauseCompleted || r.Status.Completion.Summary != "All done, é" {
		t.Errorf("result %+v", r)
	}
	again()
}

func TestLongSummary(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	if err := client.Complete(t.Context(), w.dir, w.id, strings.Repeat("é\x01", 1000), swarm.KillOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	s := w.wait()
	if s.Completion == nil || len(s.Completion.Summary) > swarm.MaxSummary || len(s.Completion.Summary) < swarm.MaxSummary-4 {
		t.Errorf("%+v", s.Completion)
	}
}

// The shim died, the completion did not.
func TestLostAfterComplete(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	if err := client.Complete(t.Context(), w.dir, w.id, "done", swarm.KillOptions{Grace: time.Minute}); err != nil {
		t.Fatal(err)
	}
	w.loseShim()
	if s := w.status(); s.State != swarm.StateLost || s.Completion == nil || s.Completion.Summary != "done" {
		t.Errorf("status %+v", s)
	}
	if err := client.Complete(t.Context(), w.dir, w.id, "done", gently); !errors.Is(err, swarm.ErrTooLate) {
		t.Errorf("error %v", err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	w := startWith(t, `[ -e once ] && { echo again; exec sleep 999; }; touch once; exit 5`, withRestarts)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var last swarm.Status
	err := client.Watch(ctx, w.dir, w.id, func(s swarm.Status) error {
		if s.Restarts == 1 && s.Completion == nil {
			if err := client.Complete(ctx, w.dir, w.id, "sum", swarm.KillOptions{Grace: time.Minute}); err != nil {
				return err
			}
		}
		if s.Completion != nil && last.Completion == nil {
			go func() { _, _ = client.Kill(ctx, w.dir, w.id, gently) }()
		}
		last = s
		return nil
	})
	if err != nil || last.State != swarm.StateExited || last.Exit.Cause != swarm.CauseCompleted || last.Restarts != 1 {
		t.Errorf("%v, status %+v", err, last)
	}
	want := []swarm.Restarted{{Number: 1, Time: last.LastRestarts[0].Time, Code: 5}}
	if diff := cmp.Diff(want, last.LastRestarts); diff != "" {
		t.Error(diff)
	}
	// Watch reports one status of a worker that has ended.
	reported := 0
	err = client.Watch(ctx, w.dir, w.id, func(swarm.Status) error { reported++; return nil })
	if err != nil || reported != 1 {
		t.Errorf("%v, reported %d times", err, reported)
	}
}

func TestWatchEnds(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	if err := client.Watch(t.Context(), w.dir, w.id, func(swarm.Status) error { return errEnough }); !errors.Is(err, errEnough) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := client.Watch(ctx, w.dir, w.id, func(swarm.Status) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := client.Watch(t.Context(), w.dir, "w-other", func(swarm.Status) error { return nil }); !errors.Is(err, swarm.ErrStaleHandle) {
		t.Errorf("error %v", err)
	}
	var last swarm.Status
	err := client.Watch(t.Context(), w.dir, w.id, func(s swarm.Status) error {
		if last = s; s.State == swarm.StateRunning {
			return w.facts().Shim.Signal(syscall.SIGKILL)
		}
		return nil
	})
	if err != nil || last.State != swarm.StateLost {
		t.Errorf("%v, status %+v", err, last)
	}
}

// A status of the last release can still be read.
func TestOldStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const old = `{"version":1,"id":"w-1","state":"ended","shim":{"pid":7,"start":8,"boot":"b"},"main":{"pid":9,"start":10,"boot":"b"},"session":9,"started_ns":1000000000,"ended_ns":2000000000,"code":3,"signal":"","cause":"exited","reason":"","forced":false,"dropped_bytes":0,"dropped_lines":0}`
	if err := os.WriteFile(filepath.Join(dir, rundir.StatusFile), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := client.Status(dir, "w-1")
	if err != nil {
		t.Fatal(err)
	}
	want := swarm.Status{
		State: swarm.StateExited, PID: 9, Started: time.Unix(1, 0),
		Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(2, 0)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A shim of the last release does not know the new requests.
func TestOldShim(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	st := rundir.EncodeStatus(rundir.Status{Version: rundir.StatusVersion, ID: w.id, State: rundir.StateRunning, Shim: self, Main: self})
	if err := os.WriteFile(filepath.Join(w.dir, rundir.StatusFile), st, 0o600); err != nil {
		t.Fatal(err)
	}
	// While no shim listens, nothing says that the named process is one.
	if _, err := client.Stats(w.dir, w.id); err == nil {
		t.Error("a process that does not listen is measured as the shim")
	}
	s, err := net.Listen("unix", filepath.Join(w.dir, rundir.Socket))
	if err != nil {
		t.Fatal(err)
	}
	var answer atomic.Value
	var owned sync.WaitGroup
	defer owned.Wait()
	defer func() { _ = s.Close() }() // ends the goroutine below
	owned.Go(func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(c).ReadString('\n')
			_, _ = c.Write([]byte(answer.Load().(string) + "\n"))
			c.Close()
		}
	})
	older, newer := strconv.Itoa(rundir.Protocol-1), strconv.Itoa(rundir.Protocol+1)
	for text, want := range map[string]string{
		"unknown request; this shim speaks protocol " + older:                       "older swarm",
		"unknown request; this shim speaks protocol " + newer:                       "newer swarm",
		"unknown or repeated field; this shim speaks protocol " + newer:             "newer swarm",
		"missing field; this shim speaks protocol " + strconv.Itoa(rundir.Protocol): "missing field",
	} {
		answer.Store("error " + text)
		if _, err := client.Input(t.Context(), w.dir, w.id, swarm.Input{Data: []byte("x")}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: input: %v", text, err)
		}
		if err := client.Complete(t.Context(), w.dir, w.id, "x", swarm.KillOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: complete: %v", text, err)
		}
	}
	// A process that listens without the mark of a shim is not measured either.
	if _, err := client.Stats(w.dir, w.id); err == nil {
		t.Error("a process without the mark of a shim is measured as one")
	}
}

// TestMisunderstood asks a real shim what it does not know, as another version would.
func TestMisunderstood(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	for _, line := range []string{"dance", "watch colour=red", "signal mode=tree"} {
		c, err := net.Dial("unix", filepath.Join(w.dir, rundir.Socket))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(line + "\n"))
		got, _ := bufio.NewReader(c).ReadString('\n')
		c.Close()
		a, err := rundir.ParseAnswer(strings.TrimSpace(got))
		if err != nil || a.Kind != rundir.AnswerError {
			t.Fatalf("%s: %q, %v", line, got, err)
		}
		if n, ok := rundir.Misunderstood(a.Text); n != rundir.Protocol || !ok {
			t.Errorf("%s: %q", line, a.Text)
		}
	}
}

func TestLaunchOf(t *testing.T) {
	t.Parallel()
	got := client.LaunchOf(swarm.Spec{
		ID: "w", Command: []string{"a"}, Dir: "/",
		Stdin:   true,
		Kill:    swarm.KillOptions{Signal: "int", Grace: time.Second},
		Restart: swarm.Restart{When: swarm.RestartAlways, MinDelay: time.Microsecond},
		Owner:   &swarm.Owner{PID: 7, Start: 8, Boot: "b"},
	})
	want := rundir.Launch{
		ID: "w", Command: []string{"a"}, Dir: "/", GraceMS: 1000, Signal: "SIGINT", Stdin: true,
		Restart: swarm.Restart{When: "always", MinDelay: 1 * time.Millisecond, MaxDelay: 30 * time.Second, Budget: 5, Window: time.Minute},
		Owner:   rundir.Identity{PID: 7, Start: 8, Boot: "b"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for _, when := range []swarm.RestartWhen{"", "sometimes"} {
		if l := client.LaunchOf(swarm.Spec{Restart: swarm.Restart{When: when, Budget: 3}}); l.Restart != (swarm.Restart{}) {
			t.Errorf("%q: %+v", when, l.Restart)
		}
	}
}

// TestLaunchOfTokens: a worker gets the token that is its own, never its caller's.
func TestLaunchOfTokens(t *testing.T) {
	t.Parallel()
	host := &swarm.Local{HostEnv: []string{"SWARM_TOKEN=caller", "A=1"}}
	for _, tt := range []struct{ own, want []string }{
		{nil, []string{"A=1"}},
		{[]string{"SWARM_SHIM=x", "SWARM_TOKEN=own"}, []string{"A=1", "SWARM_TOKEN=own"}},
	} {
		got := client.LaunchOf(swarm.Spec{Env: tt.own, Local: host}).Env
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Error(diff)
		}
	}
	if len(host.HostEnv) != 2 {
		t.Error("the caller's environment was changed")
	}
}
