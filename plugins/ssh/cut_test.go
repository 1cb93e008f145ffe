//go:build ssh

package ssh_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// scene is a test with a server of its own.
type scene struct {
	*testing.T
	set     *sshtest.Set
	server  *sshtest.Server
	backend *ssh.Backend
}

func sceneOf(t *testing.T, names ...string) *scene {
	t.Helper()
	set := sshtest.Start(t, append([]string{"cutbox"}, names...)...)
	return &scene{T: t, set: set, server: set.Servers[0], backend: open(t, settings(set))}
}

// specOf returns the spec of a shell script.
func specOf(script string) swarm.Spec {
	id, name := harness.NewID()
	return swarm.Spec{
		ID: id, Name: name, Command: []string{"sh", "-c", script},
		Kill: swarm.KillOptions{Grace: time.Second, Force: true},
	}
}

// spawn starts a shell script that ends with the test.
func (s *scene) spawn(script string) swarm.Handle {
	s.Helper()
	h, err := s.backend.Spawn(s.Context(), specOf(script))
	if err != nil {
		s.Fatal(err)
	}
	s.ends(h)
	return h
}

func (s *scene) ends(h swarm.Handle) {
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), time.Minute)
		defer cancel()
		b, err := ssh.New(ctx, settings(s.set), environment(s.TempDir()), nullLogger())
		if err != nil {
			s.Fatal(err)
		}
		defer b.Close()
		if _, err := b.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true, Grace: time.Second}); err != nil {
			s.Errorf("clean up: %v", err)
		}
	})
}

// cutOften cuts all connections again and again until the call returns, each some time after
// swarm-remote has begun to serve: on a busy machine nothing would ever be done otherwise.
func (s *scene) cutOften(every time.Duration, call func()) {
	s.Helper()
	done := make(chan struct{})
	go func() { defer close(done); call() }()
	cuts := 0
	for {
		select {
		case <-done:
			s.Logf("%d processes of connections were killed", cuts)
			return
		case <-time.After(every):
			if serves := s.server.Serves("swarm-remote"); serves > every {
				cuts += s.server.Cut()
			}
		}
	}
}

// TestCutInOutput follows a worker while its connection breaks again and again: every line
// arrives once, in order, and then the end.
func TestCutInOutput(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn(`i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo "line $i"; sleep 0.02; done; exit 7`)
	var lines []string
	s.cutOften(500*time.Millisecond, func() {
		err := s.backend.Output(t.Context(), h, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
			lines = append(lines, string(o.Data))
			return nil
		})
		if err != nil {
			t.Errorf("Output: %v", err)
		}
	})
	for i, line := range lines {
		if want := fmt.Sprintf("line %d", i+1); line != want {
			t.Fatalf("place %d has %q", i, line)
		}
	}
	if len(lines) != 200 {
		t.Errorf("%d lines arrived", len(lines))
	}
	wantExit(t, s.backend, h, swarm.Exit{Code: 7, Cause: swarm.CauseExited})
}

func wantExit(t *testing.T, b *ssh.Backend, h swarm.Handle, want swarm.Exit) {
	t.Helper()
	st, err := b.Status(t.Context(), h)
	if err != nil || st.Exit == nil || st.Exit.Code != want.Code || st.Exit.Signal != want.Signal || st.Exit.Cause != want.Cause {
		t.Errorf("status %+v, exit %+v, %v", st, st.Exit, err)
	}
}

// TestCutInWatch waits for a worker that ends while the host can't be reached at all.
func TestCutInWatch(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("sleep 2; exit 7")
	var last swarm.Status
	watched := make(chan error, 1)
	reported := make(chan struct{}, 100)
	go func() {
		watched <- s.backend.Watch(t.Context(), h, func(st swarm.Status) error {
			last = st
			reported <- struct{}{}
			return nil
		})
	}()
	<-reported
	if err := s.server.Stop(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // the worker ends meanwhile
	if err := s.server.Start(); err != nil {
		t.Fatal(err)
	}
	if err := <-watched; err != nil || last.Exit == nil || last.Exit.Code != 7 {
		t.Errorf("%+v, %v", last, err)
	}
}

// TestCutInKill kills a worker that takes its time while the connection breaks.
func TestCutInKill(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("trap '' TERM; while :; do sleep 1; done")
	s.cutOften(500*time.Millisecond, func() {
		r, err := s.backend.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGTERM", Grace: 4 * time.Second, Force: true})
		if err != nil || r.Status.State != swarm.StateExited {
			t.Errorf("%+v, %v", r, err)
		}
	})
	wantExit(t, s.backend, h, swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled})
}

// TestCutInSpawn breaks the connection at several moments of a spawn: the worker is started
// once, whatever answer the caller gets.
func TestCutInSpawn(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	s.spawn("true") // the programs are there
	for i := range 12 {
		spec := specOf("echo started >>" + filepath.Join(s.server.Home, "starts-$SWARM_WORKER_ID") + "; exec sleep 3600")
		spec.Env = []string{"SWARM_WORKER_ID=" + spec.ID}
		var h swarm.Handle
		var err error
		var calling sync.WaitGroup
		calling.Go(func() { h, err = s.backend.Spawn(t.Context(), spec) })
		time.Sleep(time.Duration(i*i) * time.Millisecond)
		s.server.Cut()
		calling.Wait()
		if err != nil {
			// A connection that breaks while it is being made is an error before anything begins.
			if !errors.Is(err, swarm.ErrUnavailable) {
				t.Errorf("Spawn: %v", err)
			}
			if found, ferr := s.backend.Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name}); !errors.Is(ferr, swarm.ErrNotFound) {
				t.Errorf("Spawn failed (%v), and Find: %s, %v", err, found.Data, ferr)
			}
			continue
		}
		s.ends(h)
		path := filepath.Join(s.server.Home, "starts-"+spec.ID)
		if err := sshtest.Until(t.Context(), func() bool { _, err := os.Stat(path); return err == nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // for a second start, should there be one
		text, err := os.ReadFile(path)
		if err != nil || string(text) != "started\n" {
			t.Errorf("the worker was started %d times, %v", strings.Count(string(text), "\n"), err)
		}
	}
}

// TestCutInOthers breaks the connection in calls that only look. An answer that is late on a
// busy machine is that the host did not answer, and none is wrong.
func TestCutInOthers(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	h := s.spawn("echo ready; exec sleep 3600")
	looks := map[string]func() (bool, error){
		"Status": func() (bool, error) {
			st, err := s.backend.Status(t.Context(), h)
			return st.State == swarm.StateRunning, err
		},
		"Attach": func() (bool, error) {
			a, err := s.backend.Attach(t.Context(), h, swarm.AttachOptions{})
			return len(a.Command) > 0, err
		},
		"Screen": func() (bool, error) {
			sc, err := s.backend.Screen(t.Context(), h, swarm.ScreenOptions{Lines: 3})
			return len(sc.Lines) == 1, err
		},
		"Stats": func() (bool, error) {
			r, err := s.backend.Stats(t.Context(), []swarm.Handle{h})
			return true, errors.Join(err, r[0].Err)
		},
	}
	answered := make(map[string]int)
	s.cutOften(500*time.Millisecond, func() {
		for until := time.Now().Add(6 * time.Second); time.Now().Before(until) || len(answered) < len(looks); {
			for name, look := range looks {
				ok, err := look()
				switch {
				case err == nil && ok:
					answered[name]++
				case err == nil || !errors.Is(err, swarm.ErrUnavailable):
					t.Errorf("%s: %v, %v", name, ok, err)
				}
			}
		}
	})
	t.Log(answered)
}

// TestCutInInput breaks the connection while lines are given: each that was answered has
// arrived once, and each other one once or not at all.
func TestCutInInput(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	spec := specOf("exec cat >got")
	spec.Stdin = true
	h, err := s.backend.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	s.ends(h)
	const lines = 150
	answered := make([]bool, lines)
	s.cutOften(500*time.Millisecond, func() {
		for i := range lines {
			_, err := s.backend.Input(t.Context(), h, swarm.Input{Data: fmt.Appendf(nil, "line %d", i), Enter: true})
			if err != nil && !errors.Is(err, swarm.ErrUnavailable) {
				t.Errorf("Input: %v", err)
			}
			answered[i] = err == nil
			time.Sleep(10 * time.Millisecond)
		}
	})
	// The last cut may have come behind the last line: SetPaused is repeated over a new
	// connection, and the end of the input is given over that.
	if err := s.backend.SetPaused(t.Context(), h, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.backend.Input(t.Context(), h, swarm.Input{Kind: swarm.InputEOF}); err != nil {
		t.Fatal(err)
	}
	if err := s.backend.Watch(t.Context(), h, func(swarm.Status) error { return nil }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.server.Home, "got"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		n := strings.Count("\n"+string(text), fmt.Sprintf("\nline %d\n", i))
		if n > 1 || answered[i] && n != 1 {
			t.Errorf("line %d has arrived %d times, answered %v", i, n, answered[i])
		}
	}
}

// TestStalledSpawn has the message of a spawn on its way while its connection stalls. A worker
// that was not found meanwhile is not started when the connection continues.
func TestStalledSpawn(t *testing.T) {
	t.Parallel()
	s := sceneOf(t)
	s.spawn("true") // the programs are there
	if _, err := s.backend.Find(t.Context(), swarm.Lookup{ID: specOf("").ID}); !errors.Is(err, swarm.ErrNotFound) {
		t.Fatal(err) // there is a connection now
	}
	resume := s.server.Stall()
	spec := specOf("exec sleep 3600")
	var calling sync.WaitGroup
	calling.Go(func() {
		if h, err := s.backend.Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrTooLate) {
			t.Errorf("Spawn: %s, %v", h.Data, err)
		}
	})
	// As another process of swarm that settles it.
	b := openIn(t, settings(s.set), t.TempDir())
	if h, err := b.Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("found %s, %v", h.Data, err)
	}
	resume()
	calling.Wait()
	if h, err := b.Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("the worker was started after all: %s, %v", h.Data, err)
		s.ends(h)
	}
}
