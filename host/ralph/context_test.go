package ralph

import (
	"strings"
	"testing"
	"time"
)

// TestDialogEndsLoop: an agent that waits for a person is not started again and
// again, and the state says what it asks.
func TestDialogEndsLoop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps, question string
		events          []string
	}{
		"login": {
			steps: "say=_Select_login_method:_ say=>_1._Account hang", question: "Select login method",
			events: []string{"[TIMEOUT] iteration 1 inactivity_timeout=3s"},
		},
		"theme, and it exits": {
			steps: "say=Choose_the_text_style_that_suits_you wait=go exit=1", question: "Choose the text style that suits you",
			events: []string{"[FAIL] iteration 1 exit=1 attempt=1/5 backoff=0s"},
		},
		"trust": {
			steps: "alt say=│_Do_you_trust_the_files_in_this_folder?_│ say=❯_1._Yes hang", question: "Do you trust the files in this folder?",
			events: []string{"[TIMEOUT] iteration 1 inactivity_timeout=3s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create(func(st *State) { st.Inactivity = Seconds(3 * time.Second) }, strings.Fields(c.steps)...)
			p := r.start()
			// It is known while it can still be answered.
			r.until("the question", func() bool { return r.state().Dialog == c.question })
			if st := r.state(); st.Status != Running || st.ExitReason != "" {
				t.Errorf("while it asks: %s, %q", st.Status, st.ExitReason)
			}
			r.touch("go")
			if code := p.wait(); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			want := append([]string{
				"[START] iteration 1/50",
				"[WARN] iteration 1: the agent asks something that a person must answer first: " + c.question,
			}, c.events...)
			r.expect(append(want, "[DONE] the agent asks: "+c.question+" reason=dialog")...)
			if st := r.state(); st.Status != Failed || st.ExitReason != ReasonDialog || st.Dialog != c.question {
				t.Errorf("afterwards: %s, %q, %q", st.Status, st.ExitReason, st.Dialog)
			}
		})
	}
}

// TestDialogAnswered: once a person has answered, the loop continues.
func TestDialogAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	filler := strings.TrimSpace(strings.Repeat("say="+strings.Repeat("x", 200)+" ", 30))
	r.create(func(st *State) { st.MaxIterations = 1 }, strings.Fields("say=Select_login_method wait=go "+filler+" read")...)
	p := r.start()
	r.until("the question", func() bool { return r.state().Dialog != "" })
	r.touch("go")
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.text())
	}
	if st := r.state(); st.Dialog != "" || st.ExitReason != ReasonIterations {
		t.Errorf("dialog %q, exit reason %q", st.Dialog, st.ExitReason)
	}
	if got := r.file("prompt.1"); got != testPrompt[:len(got)] || got == "" {
		t.Errorf("the prompt is %q", got)
	}
}

// TestContext: an agent that compacts its context, or uses too much of it, is ended,
// after it was asked once to come to its end; the loop continues.
func TestContext(t *testing.T) {
	t.Parallel()
	const nudge = "You're at 50% context. Commit WIP and /exit NOW."
	for name, c := range map[string]struct {
		limit  int
		prompt string
		steps  string
		reason Reason
		events []string
		nudged bool
	}{
		"compaction": {
			steps: "read say=✻_Compacting_conversation… hang / read", reason: ReasonIterations,
			events: []string{
				"[START] iteration 1/2", "[FATAL] iteration 1 -- compaction detected, killing",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
			},
		},
		"the prompt speaks of compaction": {
			prompt: "Stop before you see Compacting conversation on the screen.\n",
			steps:  "read echo / read echo", reason: ReasonIterations,
			events: []string{
				"[START] iteration 1/2", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
			},
		},
		"asked": {
			limit: 50, steps: "read say=ctx:_55% line / read", reason: ReasonIterations, nudged: true,
			events: []string{
				"[START] iteration 1/2", "[WARN] iteration 1: context nudge sent at 55%", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
			},
		},
		"over": {
			limit: 50, steps: "read say=ctx:_65% hang / read", reason: ReasonIterations,
			events: []string{
				"[START] iteration 1/2", "[FATAL] iteration 1 -- context threshold exceeded, killing",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
			},
		},
		"below": {
			limit: 50, steps: "read say=ctx:_49% / read", reason: ReasonIterations,
			events: []string{
				"[START] iteration 1/2", "[END] iteration 1 exit=0 duration",
				"[START] iteration 2/2", "[END] iteration 2 exit=0 duration",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.prompt != "" {
				r.write("PROMPT.md", c.prompt)
			}
			r.create(func(st *State) { st.MaxIterations, st.MaxContext = 2, c.limit }, strings.Fields(c.steps)...)
			p := r.start()
			if code := p.wait(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, p.text())
			}
			r.expect(append(c.events, "[DONE] loop complete after 2 iterations reason=max_iterations")...)
			if st := r.state(); st.Failures != 0 || st.TotalFailures != 0 || st.ExitReason != c.reason {
				t.Errorf("%d failures, exit reason %q", st.TotalFailures, st.ExitReason)
			}
			if c.nudged {
				if got := r.file("prompt.1"); got != nudge {
					t.Errorf("the agent was sent %q", got)
				}
			}
		})
	}
}
