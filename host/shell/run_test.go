package shell_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *world) run(ctx context.Context, c shell.Command) (shell.Result, error) {
	w.Helper()
	if c.Dir == "" {
		c.Dir = w.dir
	}
	return shell.Run(ctx, w.host(), c)
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tt := range []struct {
		command string
		want    shell.Result
	}{
		{`echo hello`, shell.Result{Stdout: "hello\n"}},
		{`printf a; printf b >&2; exit 3`, shell.Result{Stdout: "a", Stderr: "b", ExitCode: 3}},
		{`kill -TERM $$`, shell.Result{ExitCode: 143}},
		{`no-such-command-anywhere 2>/dev/null`, shell.Result{ExitCode: 127}},
		{`cat`, shell.Result{}},
		{`printf '\377\n\n'`, shell.Result{Stdout: "\ufffd\n\n"}},
		{`if [ 1 -lt 2 ]; then pwd; fi; # what the quotes "don't" end`, shell.Result{Stdout: w.dir + "\n"}},
	} {
		t.Run(tt.command, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, state: w.state, dir: w.dir, mark: w.mark}
			got, err := w.run(t.Context(), shell.Command{Command: tt.command})
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Cleanup(func() { w.wantNoWorkers() })
}

// wantNoWorkers checks that commands in the foreground leave no record behind.
func (w *world) wantNoWorkers() {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), patience)
	defer cancel()
	ws, _, err := open(ctx, w.T, w.state, w.mark).Workers(ctx, worker.Selection{})
	if err != nil || len(ws) > 0 {
		w.Errorf("left: %v, error %v", ws, err)
	}
}

// TestRunTakesTooLong: the time-out ends the whole tree.
func TestRunTakesTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.run(t.Context(), shell.Command{
		Command: `echo begun; trap '' INT; (setsid sleep 997 &); sleep 998 & sleep 999`, Timeout: time.Second,
	})
	want := shell.Result{Stdout: "begun\n", ExitCode: shell.TimedOut, Problem: "Command timed out after 1s"}
	if diff := cmp.Diff(want, res); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	w.wantNone()
	w.wantNoWorkers()
}

// TestRunLeavesNothing: what a command left behind in the background ends with it.
func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.run(t.Context(), shell.Command{Command: `sleep 997 & (setsid sleep 998 &); echo done`})
	if res.Stdout != "done\n" || res.ExitCode != 0 || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	w.wantNone()
	w.wantNoWorkers()
}

// TestRunWithoutShim: what continues although its shim was killed is ended.
func TestRunWithoutShim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	go func() {
		w.wait("it runs", func() bool {
			ws, _, err := h.Workers(t.Context(), worker.Selection{})
			return err == nil && len(ws) == 1 && ws[0].Status == worker.StatusRunning
		})
		_ = os.WriteFile(w.dir+"/go", nil, 0o600)
	}()
	res, err := w.run(t.Context(), shell.Command{Command: `until [ -e go ]; do sleep 0.01; done; sleep 997 & kill -9 $PPID; exec sleep 998`})
	if res.ExitCode != shell.Unknown || res.Problem == "" || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	w.wantNone()
	w.wantNoWorkers()
}

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		w.wait("it runs", func() bool {
			_, err := os.Stat(w.dir + "/begun")
			return err == nil
		})
		cancel()
	}()
	_, err := w.run(ctx, shell.Command{Command: `echo > begun; sleep 997 & sleep 998`})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.wantNone()
	w.wantNoWorkers()
}

func TestRunWritesALot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Lines of 100 bytes: it is about bytes, and ten million lines take long to read.
	res, err := w.run(t.Context(), shell.Command{Command: `yes "$(printf %099d 7)" | head -c 20000000; echo last; echo few >&2`})
	if err != nil || len(res.Stdout) > 1<<20+100 || len(res.Stdout) < 1<<19 || !strings.HasSuffix(res.Stdout, "7\nlast\n") || res.Stderr != "few\n" {
		t.Fatalf("%d bytes, stderr %q, error %v", len(res.Stdout), res.Stderr, err)
	}
	var dropped int
	_, err = fmt.Sscanf(res.Stdout, swarm.TranscriptMark+"%d bytes of older output were dropped]\n", &dropped)
	_, rest, _ := strings.Cut(res.Stdout, "\n")
	if err != nil || dropped+len(rest) != 20000005 {
		t.Errorf("%d bytes after %d, error %v", len(rest), dropped, err)
	}
}

// TestCannotBegin: what can't be begun leaves nothing behind.
func TestCannotBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nowhere := w.dir + "/nowhere"
	res, err := w.run(t.Context(), shell.Command{Command: `echo`, Dir: nowhere})
	want := shell.Result{ExitCode: shell.NotStarted, Problem: "no such directory: " + nowhere}
	if diff := cmp.Diff(want, res); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	o := options(w.state, w.mark)
	o.Env = append(o.Env, "PATH="+w.dir)
	noBash := opened(t.Context(), t, o)
	res, err = shell.Run(t.Context(), noBash, shell.Command{Command: `echo`, Dir: w.dir})
	want.Problem = "command not found: bash"
	if diff := cmp.Diff(want, res); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if _, err := shell.Start(t.Context(), noBash, shell.Command{Command: `echo`, Dir: w.dir}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("without bash: %v", err)
	}
	w.wantNoWorkers()
}

// TestRunHandsOver: what takes longer than its caller waits continues as a shell of the
// session, which has all of its output.
func TestRunHandsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, session := w.host(), shell.Session{ID: "s"}
	res, err := w.run(t.Context(), shell.Command{
		Command: `echo begun; until [ -e go ]; do sleep 0.01; done; echo done >&2; exit 3`,
		Session: session, HandOver: 500 * time.Millisecond, Timeout: time.Hour,
	})
	if err != nil || res.TaskID == "" {
		t.Fatalf("%+v, %v", res, err)
	}
	id := res.TaskID
	if shells, err := shell.List(t.Context(), h, session, false); err != nil || len(shells) != 1 || shells[0].ID != id {
		t.Errorf("shells of the session: %v, %v", shells, err)
	}
	if _, err := shell.Next(t.Context(), h, shell.Session{ID: "other"}, id, ""); err == nil {
		t.Error("another session reads it")
	}
	var transcribing sync.WaitGroup
	defer transcribing.Wait()
	transcribing.Go(func() {
		if err := res.Transcribe(t.Context()); err != nil {
			t.Error(err)
		}
	})
	w.wait("its file has what it wrote", func() bool {
		data, err := os.ReadFile(res.OutputFile)
		return err == nil && string(data) == "begun\n"
	})
	if err := os.WriteFile(w.dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var text string
	var last shell.Output
	w.wait("it has ended", func() bool {
		last, err = shell.Next(t.Context(), h, session, id, "")
		text += last.Text
		return err != nil || last.Shell.Status != shell.Running
	})
	if err != nil || text != "begun\ndone\n" || last.Shell.ExitCode == nil || *last.Shell.ExitCode != 3 {
		t.Errorf("%q, %+v, %v", text, last, err)
	}
}

// TestRunInTime: a command that ends in time is not a background shell and leaves nothing,
// and a shorter time-out ends it as usual.
func TestRunInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := shell.Session{ID: "s"}
	res, err := w.run(t.Context(), shell.Command{Command: `echo a; exit 3`, Session: session, HandOver: time.Minute})
	if diff := cmp.Diff(shell.Result{Stdout: "a\n", ExitCode: 3}, res); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	res, err = w.run(t.Context(), shell.Command{Command: `sleep 998`, Session: session, HandOver: time.Minute, Timeout: 200 * time.Millisecond})
	if res.ExitCode != shell.TimedOut || err != nil {
		t.Errorf("%+v, %v", res, err)
	}
	w.wantNone()
	w.wantNoWorkers()
}

// TestRunForeground: a command in the foreground is not a shell that KillShell could end.
func TestRunForeground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h, session := w.host(), shell.Session{ID: "s"}
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() {
		res, err := w.run(t.Context(), shell.Command{Command: `until [ -e go ]; do sleep 0.01; done`, Session: session, HandOver: time.Hour, Timeout: 2 * time.Hour})
		if err != nil || res.ExitCode != 0 {
			t.Errorf("%+v, %v", res, err)
		}
	})
	var name string
	w.wait("it runs", func() bool {
		ws, _, err := h.Workers(t.Context(), worker.Selection{})
		if err == nil && len(ws) == 1 {
			name = ws[0].Name
		}
		return name != "" && ws[0].Status == worker.StatusRunning
	})
	if shells, err := shell.List(t.Context(), h, session, true); err != nil || len(shells) != 0 {
		t.Errorf("shells of the session: %v, %v", shells, err)
	}
	if res, err := shell.Kill(t.Context(), h, session, shell.KillRequest{ID: name, Signal: "SIGKILL", Force: true}); err != nil || res.Success {
		t.Errorf("killed: %+v, %v", res, err)
	}
	if err := os.WriteFile(w.dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRunLongOutput: of a long output both ends are returned, and a file has all of it.
func TestRunLongOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.run(t.Context(), shell.Command{Command: `seq 100000; seq 50000 >&2`, Most: 3000})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	for name, text := range map[string]string{"standard output": res.Stdout, "standard error": res.Stderr} {
		if !strings.HasPrefix(text, "1\n2\n") || !strings.HasSuffix(text, "0000\n") || !strings.Contains(text, "\n[swarm: ") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if n := len(res.Stdout) + len(res.Stderr); n > 3000+2*200 {
		t.Errorf("%d characters are returned", n)
	}
	all, err := os.ReadFile(res.OutputFile)
	if err != nil || strings.Count(string(all), "\n") != 150000 {
		t.Errorf("%d lines are in the file, error %v", strings.Count(string(all), "\n"), err)
	}
}
