package ralph

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// expect compares the log of a loop.
func (r *rig) expect(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.events()); diff != "" {
		r.t.Errorf("the log (-want +got):\n%s", diff)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*State)
		steps  string
		pipes  bool
		code   int
		events []string
		status Status
		reason Reason
		// texts are in what the loop wrote.
		texts []string
		dead  []string
	}{
		"one iteration": {
			change: func(st *State) { st.MaxIterations = 1 },
			steps:  "read",
			events: []string{
				"[START] iteration 1/1", "[END] iteration 1 exit=0 duration",
				"[DONE] loop complete after 1 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			texts: []string{
				"[ralph] w: starting iteration 1/1", "[ralph] w: iteration 1 completed (exit: 0, duration: ",
				"[ralph] w: loop complete after 1 iterations",
			},
		},
		"failures and recovery": {
			change: func(st *State) { st.MaxIterations = 4 },
			steps:  "exit=3 / die=9 / read / exit=1",
			events: []string{
				"[START] iteration 1/4", "[FAIL] iteration 1 exit=3 attempt=1/5 backoff=0.01s",
				"[START] iteration 2/4", "[FAIL] iteration 2 signal=SIGKILL attempt=2/5 backoff=0.02s",
				"[START] iteration 3/4", "[END] iteration 3 exit=0 duration",
				"[START] iteration 4/4", "[FAIL] iteration 4 exit=1 attempt=1/5 backoff=0s",
				"[DONE] loop complete after 4 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			texts: []string{"[ralph] w: iteration 1 failed (exit: 3), retrying in 0.01s (attempt 1/5)", "iteration 4 failed (exit: 1)"},
		},
		"five failures": {
			steps: "exit=1", code: exitFailed,
			events: []string{
				"[START] iteration 1/50", "[FAIL] iteration 1 exit=1 attempt=1/5 backoff=0.01s",
				"[START] iteration 2/50", "[FAIL] iteration 2 exit=1 attempt=2/5 backoff=0.02s",
				"[START] iteration 3/50", "[FAIL] iteration 3 exit=1 attempt=3/5 backoff=0.04s",
				"[START] iteration 4/50", "[FAIL] iteration 4 exit=1 attempt=4/5 backoff=0.08s",
				"[START] iteration 5/50", "[FAIL] iteration 5 exit=1 attempt=5/5 backoff=0s",
				"[DONE] 5 consecutive failures reason=consecutive_failures",
			},
			status: Failed, reason: ReasonFailures,
			texts: []string{"[ralph] w: 5 consecutive failures, stopping loop"},
		},
		"no such command": {
			change: func(st *State) { st.Command, st.MaxIterations = []string{"no-such-agent"}, 1 },
			events: []string{
				"[START] iteration 1/1", "[ERROR] iteration 1: command not found: no-such-agent",
				"[FAIL] iteration 1 exit=1 attempt=1/5 backoff=0s",
				"[DONE] loop complete after 1 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			texts: []string{"[ralph] w: spawn failed"},
		},
		"silent": {
			change: func(st *State) { st.MaxIterations, st.Inactivity = 1, Seconds(2500*time.Millisecond) },
			steps:  "read fork ignore hang",
			events: []string{
				"[START] iteration 1/1", "[TIMEOUT] iteration 1 inactivity_timeout=2.5s",
				"[DONE] loop complete after 1 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			texts: []string{"[ralph] w: inactivity timeout (2.5s)\n"},
			dead:  []string{"pid.1", "child.1"},
		},
		"leaves a child": {
			change: func(st *State) { st.MaxIterations = 1 },
			steps:  "read fork",
			events: []string{
				"[START] iteration 1/1", "[END] iteration 1 exit=0 duration",
				"[DONE] loop complete after 1 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			dead: []string{"child.1"},
		},
		"done": {
			change: func(st *State) { st.DonePattern = "ALL DONE" },
			steps:  "read echo say=working / read echo say=ALL_DONE hang",
			events: []string{
				"[START] iteration 1/50", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/50", "[DONE] done pattern matched in iteration 2 reason=done_pattern",
			},
			status: Stopped, reason: ReasonDone,
			texts: []string{"[ralph] w: done pattern matched, stopping loop"},
			dead:  []string{"pid.2"},
		},
		"done without an end of line": {
			change: func(st *State) { st.DonePattern = "^ALL DONE$" },
			steps:  "read echo part=ALL_DONE hang",
			events: []string{"[START] iteration 1/50", "[DONE] done pattern matched in iteration 1 reason=done_pattern"},
			status: Stopped, reason: ReasonDone,
		},
		"done after its iteration": {
			change: func(st *State) { st.DonePattern, st.DoneAtOnce = "ALL DONE", false },
			steps:  "read say=ALL_DONE say=more exit=7",
			events: []string{
				"[START] iteration 1/50", "[END] iteration 1 exit=7 duration",
				"[DONE] done pattern matched in iteration 1 reason=done_pattern",
			},
			status: Stopped, reason: ReasonDone,
		},
		"echo of the prompt": {
			change: func(st *State) { st.DonePattern, st.MaxIterations = "ALL DONE", 2 },
			steps:  "read echo",
			events: []string{
				"[START] iteration 1/2", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
				"[DONE] loop complete after 2 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
		},
		"on pipes": {
			change: func(st *State) { st.MaxIterations = 2 }, pipes: true,
			steps: "read echo",
			events: []string{
				"[START] iteration 1/2", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
				"[DONE] loop complete after 2 iterations reason=max_iterations",
			},
			status: Stopped, reason: ReasonIterations,
			texts: []string{"[ralph] w: starting iteration 2/2\n"},
		},
		"stopped before": {
			change: func(st *State) { st.Status, st.ExitReason = Failed, ReasonFailures },
			code:   exitEnded, status: Failed, reason: ReasonFailures,
			texts: []string{"ralph loop for 'w' has status 'failed'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.pipes = c.pipes
			r.create(c.change, strings.Fields(c.steps)...)
			p := r.start()
			if code := p.wait(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if c.events != nil {
				r.expect(c.events...)
			}
			if st := r.state(); st.Status != c.status || st.ExitReason != c.reason {
				t.Errorf("the state is %s %s", st.Status, st.ExitReason)
			}
			for _, text := range c.texts {
				if !strings.Contains(p.text(), text) {
					t.Errorf("%q is not in:\n%s", text, p.text())
				}
			}
			for _, file := range c.dead {
				r.dead(file)
			}
		})
	}
}

// The prompt is what the file holds now.
func TestPromptIsReadAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.MaxIterations = 2 }, "read", "wait=go", "/", "read")
	p := r.start()
	if got := r.file("prompt.1"); got != strings.TrimSpace(testPrompt) {
		t.Errorf("the first prompt is %q", got)
	}
	r.check(os.WriteFile(r.path("PROMPT.md"), []byte("-another one\n"), 0o600))
	r.touch("go")
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := r.file("prompt.2"); got != "-another one" {
		t.Errorf("the second prompt is %q", got)
	}
}

func TestPromptIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil, "read", "wait=go")
	p := r.start()
	r.file("prompt.1")
	r.check(os.Remove(r.path("PROMPT.md")))
	r.touch("go")
	if code := p.wait(); code != exitPrompt {
		t.Errorf("exit code %d", code)
	}
	if st := r.state(); st.Status != Failed || st.ExitReason != ReasonPrompt || st.Iteration != 1 {
		t.Errorf("the state is %+v", st)
	}
	r.expect("[START] iteration 1/50", "[END] iteration 1 exit=0 duration", "[ERROR] prompt file not found: "+r.path("PROMPT.md"))
}

// A loop that gets a signal ends with its agent, and continues with the iteration
// that was killed.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create(func(st *State) { st.MaxIterations = 2 }, "read", "/", "read", "hang", "/", "read")
			p := r.start()
			r.file("prompt.2")
			r.check(p.cmd.Process.Signal(sig))
			killed := []string{"[START] iteration 1/2", "[END] iteration 1 exit=0 duration", "[START] iteration 2/2"}
			if sig == syscall.SIGKILL {
				_ = p.cmd.Wait()
			} else {
				if code := p.wait(); code != exitSignal {
					t.Errorf("exit code %d", code)
				}
				r.dead("pid.2")
				if st := r.state(); st.Status != Stopped || st.ExitReason != ReasonKilled || !st.Open() || st.Iteration != 2 {
					t.Errorf("the state is %+v", st)
				}
				name := map[syscall.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}[sig]
				killed = append(killed, "[STOP] iteration 2 killed reason="+name)
			}
			if code := r.start().wait(); code != 0 {
				t.Errorf("the exit code of the second run is %d", code)
			}
			r.expect(append(killed, "[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
				"[DONE] loop complete after 2 iterations reason=max_iterations")...)
		})
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.MaxIterations = 2 }, "read", "wait=go", "/", "read")
	p := r.start()
	r.file("prompt.1")
	r.set(Paused)
	r.touch("go")
	p.appears(`\[ralph\] w: paused`)
	if st := r.state(); st.Status != Paused || st.Open() || st.Iteration != 1 {
		t.Errorf("the state is %+v", st)
	}
	r.set(Running)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.expect("[START] iteration 1/2", "[END] iteration 1 exit=0 duration", "[PAUSE] loop paused", "[RESUME] loop resumed",
		"[START] iteration 2/2", "[END] iteration 2 exit=0 duration", "[DONE] loop complete after 2 iterations reason=max_iterations")
}

// A pause outlives the end of the worker.
func TestPauseAndKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.Status = Paused }, "read")
	for range 2 {
		p := r.start()
		p.appears(`\[ralph\] w: paused`)
		r.check(p.cmd.Process.Signal(syscall.SIGTERM))
		if code := p.wait(); code != exitSignal {
			t.Errorf("exit code %d", code)
		}
		if st := r.state(); st.Status != Paused {
			t.Errorf("the status is %s", st.Status)
		}
	}
	r.expect("[PAUSE] loop paused", "[STOP] loop stopped reason=SIGTERM", "[PAUSE] loop paused", "[STOP] loop stopped reason=SIGTERM")
}

// The iteration that is under way when a loop is paused is reported when it is killed,
// but not a second time when the paused loop is.
func TestPauseAndKillIteration(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.MaxIterations = 2 }, "read", "hang")
	p := r.start()
	r.file("prompt.1")
	r.set(Paused)
	r.check(p.cmd.Process.Signal(syscall.SIGTERM))
	if code := p.wait(); code != exitSignal {
		t.Errorf("exit code %d", code)
	}
	p = r.start()
	p.appears(`\[ralph\] w: paused`)
	r.check(p.cmd.Process.Signal(syscall.SIGTERM))
	if code := p.wait(); code != exitSignal {
		t.Errorf("exit code %d", code)
	}
	if st := r.state(); st.Status != Paused || !st.Open() || st.Iteration != 1 {
		t.Errorf("the state is %+v", st)
	}
	r.expect("[START] iteration 1/2", "[STOP] iteration 1 killed reason=SIGTERM", "[PAUSE] loop paused", "[STOP] loop stopped reason=SIGTERM")
}

func TestStateIsRemoved(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]Status{"running": Running, "paused": Paused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create(func(st *State) { st.Status = status }, "read", "wait=go")
			p := r.start()
			if status == Paused {
				p.appears("paused")
			} else {
				r.file("prompt.1")
			}
			if removed, err := r.store.Remove(t.Context(), "w"); err != nil || !removed {
				t.Errorf("removed: %v, %v", removed, err)
			}
			r.touch("go")
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if _, err := os.Stat(r.store.Dir("w")); err == nil {
				t.Error("the state is back")
			}
			if !strings.Contains(p.text(), "[ralph] w: ralph state is gone, stopping loop") {
				t.Errorf("it wrote:\n%s", p.text())
			}
		})
	}
}

func TestOneLoopOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(nil, "read", "hang")
	first := r.start()
	r.file("prompt.1")
	if code := r.start().wait(); code != exitOwned {
		t.Errorf("exit code %d", code)
	}
	r.check(first.cmd.Process.Signal(syscall.SIGTERM))
	first.wait()
}

// Typed keys go to the agent, and the modes that it set on the terminal are reset.
func TestTerminal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create(func(st *State) { st.MaxIterations = 1 }, "read", "alt", "line")
	p := r.start()
	r.file("prompt.1")
	r.until("alternate screen", func() bool { return strings.Contains(p.raw(), "\x1b[?25l") })
	if _, err := p.terminal.Master.Write([]byte("typed\r")); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := r.file("prompt.1"); got != "typed" {
		t.Errorf("it read %q", got)
	}
	if !strings.Contains(p.raw(), "\x1b[?25h\x1b[?1049l\x1b[m") {
		t.Errorf("the modes of the terminal were not reset: %q", p.raw())
	}
}

// Input from a pipe is given as text, its last newline as Enter; the end of the pipe ends
// the agent's input.
func TestPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.pipes = true
	r.create(func(st *State) { st.MaxIterations = 1 }, "read", "say=more", "read", "say=end", "line")
	p := r.start()
	p.appears("more")
	_, err := p.stdin.Write([]byte("two\nlines\n"))
	r.check(err)
	p.appears("end")
	if got := r.file("prompt.1"); got != "two\nlines" {
		t.Errorf("it read %q", got)
	}
	r.check(p.stdin.Close())
	p.wait()
	if got := r.events(); len(got) < 2 || !strings.HasPrefix(got[1], "[FAIL] iteration 1 exit=99 ") {
		t.Errorf("the log is %q", got)
	}
}

// An interrupt is for the agent.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.pipes = true
	r.create(func(st *State) { st.MaxIterations = 1 }, "read", "say=ready", "hang")
	p := r.start()
	p.appears("ready")
	r.check(p.cmd.Process.Signal(syscall.SIGINT))
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := r.events(); len(got) < 2 || !strings.HasPrefix(got[1], "[FAIL] iteration 1 ") {
		t.Errorf("the log is %q", got)
	}
}

// A prompt that the agent's terminal would cut is refused, not cut.
func TestPromptIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.check(os.WriteFile(filepath.Join(r.work, "PROMPT.md"), []byte(strings.Repeat("x", 5000)), 0o600))
	r.create(func(st *State) { st.MaxIterations, st.ReadyPattern = 1, "ready" }, "say=ready", "line")
	p := r.start()
	p.wait()
	if got := r.events(); len(got) < 3 || !strings.Contains(got[1], "a line of 5000 bytes") || !strings.HasPrefix(got[2], "[FAIL]") {
		t.Errorf("the log is %q", got)
	}
	if !strings.Contains(p.text(), "[ralph] w: prompt refused") {
		t.Errorf("it wrote:\n%s", p.text())
	}
}

// TestDoneOnABusyScreen: an agent that paints its screen again and again, and is never
// quiet, is done when it shows the pattern.
func TestDoneOnABusyScreen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	steps := "read part=\x1b[13;1HFINISHED\x1b[13;12HALL\x1b[13;16HDONE\x1b[20;1H tick=50ms"
	r.create(func(st *State) { st.DonePattern = "ALL DONE" }, strings.Fields(steps)...)
	p := r.start()
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.text())
	}
	if st := r.state(); st.ExitReason != ReasonDone {
		t.Errorf("exit reason %q", st.ExitReason)
	}
}
