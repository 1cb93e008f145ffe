//go:build agents

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// agentTexts are what is sent to an agent that is at its prompt. There is no tab: Claude
// Code makes spaces of it.
var agentTexts = []struct{ name, text string }{
	{"exclamation", "fix it! echo x > pwned"},
	{"question", "why? and what is it?"},
	{"path", "look at /etc/hosts and at ./README.md"},
	{"file", "look at @main.go"},
	{"60 bytes", oneLine(60)},
	{"240 bytes", oneLine(240)},
	{"300 bytes", oneLine(300)},
	{"1000 bytes", oneLine(1000)},
	{"3000 bytes", oneLine(3000)},
	{"60 lines", strings.Repeat("a line\n", 60) + "the end"},
	{"lines", "one\ntwo, indented:\n    three\n\nfive! and six?\nseven"},
	{"many lines", manyLines(40 * 50)},
	{"10 KB", manyLines(10 << 10)},
}

// oneLine returns a line of n bytes that is no repetition.
func oneLine(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()[:n-1] + "."
}

// manyLines returns n bytes in lines of about 50.
func manyLines(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %04d has a text of about fifty bytes in it\n", i)
	}
	return b.String()[:n-1] + "."
}

// testAgentTexts sends texts one after another, each in a turn of its own.
func testAgentTexts(t *testing.T, l *lab) {
	l.ready()
	for _, text := range agentTexts {
		if reason := l.client.lacks[text.name]; reason != "" {
			t.Logf("%s: %s", text.name, reason)
			continue
		}
		start := time.Now()
		r := l.try(text.text, "send", "w", "--stdin")
		if r.code != 0 || r.out != "sent to w\n" {
			t.Fatalf("%s: exit %d\n%s%s\nthe screen:\n%s", text.name, r.code, r.out, r.err, l.peek())
		}
		prompt := l.promptedOne(text.text, l.client.prompts[text.name])
		l.once(prompt)
		l.until("idle")
		t.Logf("%s: %v", text.name, time.Since(start).Round(time.Millisecond))
	}
	if _, err := os.Stat(filepath.Join(l.project, "pwned")); err == nil {
		t.Error("a text that was sent ran as a command")
	}
}

// testAgentEarly sends a prompt at once after spawn, which does not wait.
func testAgentEarly(t *testing.T, l *lab) {
	l.spawn(nil)
	l.swarm("send", "w", "an early prompt!", "--timeout", agentWait.String())
	l.prompted("an early prompt!")
	l.once("an early prompt!")
	l.until("idle")
}

// testAgentBusy sends a second prompt in the middle of a turn. The agent takes it into that
// turn, or into one of its own.
func testAgentBusy(t *testing.T, l *lab) {
	l.ready()
	hold := make(chan struct{})
	l.model.Script(modelserver.Turn{Text: "The first answer.", Hold: hold})
	l.swarm("send", "w", "the first prompt")
	l.prompted("the first prompt")
	l.until("working")
	l.swarm("send", "w", "the second prompt!")
	close(hold)
	l.prompted("the second prompt!")
	l.once("the second prompt!")
	l.once("the first prompt")
	l.until("idle")
}

// testAgentTrust sends a prompt while the agent asks whether it may trust the project.
func testAgentTrust(t *testing.T, l *lab) {
	if l.client.trusting {
		t.Skip("it never asks whether a project is trusted")
	}
	l.client.configure(l, false)
	l.spawn(nil)
	l.until("blocked")
	l.refused("(?i)trust")
	if n := len(l.model.All()); n != 0 {
		t.Errorf("the model was asked %d times before the project was trusted", n)
	}
}

// testAgentPermission sends a prompt while the agent asks for a permission.
func testAgentPermission(t *testing.T, l *lab) {
	l.permits()
	l.ready()
	mark := filepath.Join(l.project, "granted")
	l.model.Script(l.client.shell("touch " + mark))
	l.swarm("send", "w", "run it")
	l.until("blocked")
	asked := len(l.model.Requests())
	l.refused("granted")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the permission was granted")
	}
	if n := len(l.model.Requests()); n != asked {
		t.Errorf("the model was asked %d more times: the dialog was answered", n-asked)
	}
}

// refused sends a text at a dialog and fails the test unless the error reports the dialog,
// which is on the screen before and after.
func (l *lab) refused(dialog string) {
	l.t.Helper()
	l.shows(dialog)
	before := l.peek()
	r := l.try("", "send", "w", "yes, and a text for later")
	if r.code == 0 || !strings.Contains(r.err, "'w' asks: ") || !strings.Contains(r.err, "swarm answer w") {
		l.t.Errorf("exit %d; want an error with the question and how to answer it:\n%s%s", r.code, r.out, r.err)
	}
	l.t.Log(strings.TrimSpace(r.err))
	l.until("blocked")
	l.shows(dialog)
	if after := l.peek(); strings.Contains(after, "a text for later") {
		l.t.Errorf("the text was typed at the dialog:\nbefore:\n%s\nafter:\n%s", before, after)
	}
}

// testAgentReady: spawn waits for the prompt, and is notified of a dialog.
func testAgentReady(t *testing.T, l *lab) {
	l.ready()
	if state := l.state(); state.State != "idle" || state.Source != "screen" {
		t.Errorf("it is ready, and its state is %+v", state)
	}
	l.killed()
	if l.client.trusting {
		return
	}
	l.swarm("clean", "w")
	l.client.configure(l, false)
	ready := []string{"--ready-wait=strict", "--ready-timeout", agentWait.String()}
	r := l.try("", l.spawnArgs(ready)...)
	if r.code == 0 || !regexp.MustCompile(`error: 'w' asks: .*(?i:trust)`).MatchString(r.err) {
		t.Errorf("strict: exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
	l.killed()
	l.swarm("clean", "w")
	ready[0] = "--ready-wait"
	r = l.try("", l.spawnArgs(ready)...)
	if r.code != 0 || !regexp.MustCompile(`warning: 'w' asks: .*(?i:trust)`).MatchString(r.err) {
		t.Errorf("exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
}

// testAgentStates follows the agent through a turn with a question, and answers that.
func testAgentStates(t *testing.T, l *lab) {
	l.permits()
	l.ready()
	mark := filepath.Join(l.project, "granted")
	first, second := make(chan struct{}), make(chan struct{})
	run := l.client.shell("touch " + mark)
	run.Hold = first
	l.model.Script(run, modelserver.Turn{Text: "It is done.", Hold: second})
	l.swarm("send", "w", "run it")
	l.until("working")
	close(first)
	l.until("blocked")
	state := l.state()
	if state.Source != "screen" || !strings.Contains(state.Question, "touch ") && !strings.Contains(l.peek(), "touch ") || len(state.Choices) < 2 {
		t.Errorf("it is blocked: %+v", state)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command ran before it was allowed")
	}
	l.swarm("answer", "w", l.client.allow)
	l.until("working")
	close(second)
	l.until("idle")
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
	l.shows(`It is done\.`)
	l.killed()
	if r := l.try("", "status", "w", "--json"); !strings.Contains(r.out, `"state": null`) {
		t.Errorf("a state that outlives the agent: %s", r.out)
	}
}

// killedTexts are sent by calls that are killed.
var killedTexts = []struct{ name, text string }{
	{"short", "fix it! echo x > pwned"},
	{"240 bytes", oneLine(240)},
	{"lines", "one\ntwo\nthree"},
}

// testAgentKilledSend kills the call at another moment of the delivery each time. The next
// one of the same text submits it if that did not.
func testAgentKilledSend(t *testing.T, l *lab) {
	l.ready()
	for i, after := range []time.Duration{20, 60, 90, 120, 160, 220, 280, 340, 400, 500, 700} {
		text := killedTexts[i%len(killedTexts)]
		prompt := fmt.Sprintf("%d: %s", i, text.text)
		l.killedSend(prompt, after*time.Millisecond)
		// A submitted text is on its way; a typed one is at the prompt or will be.
		l.until("idle")
		again := ""
		if l.count(prompt) == 0 {
			r := l.try(prompt, "send", "w", "--stdin")
			again = fmt.Sprintf("exit %d: %s%s", r.code, r.out, r.err)
			if r.code != 0 {
				t.Errorf("%s, killed after %v: the next send: %s\n%s", text.name, after*time.Millisecond, again, l.peek())
				return
			}
			l.prompted(prompt)
			l.until("idle")
		}
		l.once(prompt)
		t.Logf("%s, killed after %v: %s", text.name, after*time.Millisecond, again)
	}
	if _, err := os.Stat(filepath.Join(l.project, "pwned")); err == nil {
		t.Error("a text that was sent ran as a command")
	}
}

// killedSend sends a text with a call that is killed.
func (l *lab) killedSend(text string, after time.Duration) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "swarm"), "send", "w", "--stdin")
	cmd.Env, cmd.Dir, cmd.Stdin = l.world.env, l.project, strings.NewReader(text)
	_ = cmd.Run() // it was killed, or it was faster
}

// count returns how often the model was asked with a prompt.
func (l *lab) count(prompt string) int {
	all := l.model.Requests()
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Prompted(prompt)
}

// testAgentAlways allows a command for good, which opencode asks once more about.
func testAgentAlways(t *testing.T, l *lab) {
	if l.client.name != "opencode" {
		t.Skip("it has no second question")
	}
	l.ready()
	mark := filepath.Join(l.project, "ran")
	l.model.Script(l.client.shell("touch " + mark))
	l.swarm("send", "w", "run it")
	l.until("blocked")
	t.Log(l.swarm("answer", "w", "Allow always"))
	t.Log(l.peek())
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command ran before the second question was answered")
	}
	t.Log(l.swarm("answer", "w", "Confirm"))
	if !l.poll(func() bool { _, err := os.Stat(mark); return err == nil }) {
		t.Errorf("the command never ran:\n%s", l.peek())
	}
	l.killed()
}
