//go:build agents

package main_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
	"github.com/swarmhost/swarm/host/profile"
)

// loopPrompt holds what ends the loop, as prompts do.
const loopPrompt = "Do the next task of the list! When there is none left, print ALL DONE on a line by itself."

// loop starts a loop of the client as the worker w.
func (l *lab) loop(command []string, flags ...string) {
	l.t.Helper()
	l.loopWith(loopPrompt, command, flags...)
}

func (l *lab) loopWith(text string, command []string, flags ...string) {
	l.t.Helper()
	prompt := filepath.Join(filepath.Dir(l.project), "PROMPT.md")
	l.write(prompt, text+"\n")
	all := append([]string{"ralph", "spawn", "--name", "w", "--prompt-file", prompt, "--no-worktree"}, flags...)
	l.swarm(append(append(all, "--"), command...)...)
}

// loopEnd waits until the loop ends and returns its log.
func (l *lab) loopEnd() string {
	l.t.Helper()
	r := l.try("", "wait", "w", "--timeout", loopLimit.String())
	log := l.swarm("ralph", "logs", "w")
	if r.code != 0 {
		l.t.Errorf("wait: exit %d\n%s%s\nthe log:\n%s\nthe screen:\n%s", r.code, r.out, r.err, log, l.peek())
	}
	l.t.Log(log)
	return log
}

// quickModel is the pause between two words of a model that is quick. A turn without pauses
// may be too short to be seen, and the loop waits 15 s for such a one to begin.
const quickModel = 150 * time.Millisecond

// testAgentRalph runs ten iterations, each of which ends with its turn. The first turn
// may be too short to be seen.
func testAgentRalph(t *testing.T, l *lab) {
	var turns []modelserver.Turn
	for i := 1; i < 10; i++ {
		turn := modelserver.Turn{Text: fmt.Sprintf("Task number%d is finished now. Not all done yet.", i)}
		if i > 1 {
			turn.Pause = quickModel
		}
		turns = append(turns, turn)
	}
	l.model.Script(append(turns, modelserver.Turn{Text: "There is none left.\n\nALL DONE"})...)
	l.loop(l.client.command, "--max-iterations", "20", "--no-progress", "0", "--inactivity-timeout", "1h", "--done-pattern", "^\\W*ALL DONE")
	log := l.loopEnd()
	if n := strings.Count(log, " idle duration="); n != 9 {
		t.Errorf("%d iterations ended with their turn, want 9", n)
	}
	if !strings.Contains(log, "done pattern matched in iteration 10 ") {
		t.Error("the done pattern was not found in iteration 10")
	}
	requests := l.model.Requests()
	if len(requests) != 10 {
		t.Errorf("the model was asked %d times, want 10", len(requests))
	}
	for i, r := range requests {
		if n := r.Prompted(loopPrompt); n != 1 {
			t.Errorf("request %d holds the prompt %d times", i+1, n)
		}
	}
	l.gone()
}

// testAgentRalphDialog has the agent ask whether it may trust the project, which stops the
// loop before anything is typed.
func testAgentRalphDialog(t *testing.T, l *lab) {
	if l.client.trusting {
		t.Skip("it never asks whether a project is trusted")
	}
	l.client.configure(l, false)
	l.model.Script(modelserver.Turn{Text: "The first answer is here, and it is short.", Pause: quickModel})
	l.loop(l.client.command, "--max-iterations", "1", "--inactivity-timeout", "1h")
	l.until("blocked")
	status := ""
	if !l.poll(func() bool {
		status = l.swarm("ralph", "status", "w")
		return strings.Contains(status, "Status: paused")
	}) {
		t.Fatalf("the loop did not stop:\n%s\n%s", status, l.peek())
	}
	t.Log(status)
	if !strings.Contains(status, "swarm answer w CHOICE") || !strings.Contains(strings.ToLower(status), "trust") {
		t.Errorf("status does not say what to do:\n%s", status)
	}
	if r := l.try("", "ralph", "resume", "w"); r.code == 0 || !strings.Contains(r.err, "still asks") {
		t.Errorf("resume at the dialog: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if n := len(l.model.All()); n != 0 {
		t.Errorf("the model was asked %d times before the project was trusted", n)
	}
	choice := "1"
	if l.client.name == "claude" {
		choice = "yes" // its rows have no keys
	}
	t.Log(l.swarm("answer", "w", choice))
	l.swarm("ralph", "resume", "w")
	log := l.loopEnd()
	if !strings.Contains(log, "[END] iteration 1 idle") {
		t.Errorf("the iteration did not end with its turn:\n%s", log)
	}
	l.prompted(loopPrompt)
	l.once(loopPrompt)
	l.gone()
}

// testAgentRalphHeadless runs the client's headless form, which gets the prompt on its
// standard input, or in its arguments.
func testAgentRalphHeadless(t *testing.T, l *lab) {
	set, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	command := set.Named(l.client.name).HeadlessCommand()
	if l.client.name == "gemini" {
		command = append(slices.Clone(l.client.command), "-p") // with the model
	}
	for i, args := range [][]string{nil, {"{prompt}"}} {
		prompt := loopPrompt
		if len(args) > 0 {
			prompt = cmp.Or(l.client.prompts["argument"], prompt)
		}
		turns := []modelserver.Turn{{Text: "Task one is finished now."}, {Text: "There is none left.\n\nALL DONE"}}
		l.model.Script(turns...)
		before := len(l.model.Requests())
		l.loop(append(command, args...), "--replace", "--max-iterations", "5", "--done-pattern", "^ALL DONE")
		log := l.loopEnd()
		if strings.Count(log, "[END] iteration 1 exit=0") != 1 || !strings.Contains(log, "done pattern matched in iteration 2 ") {
			t.Errorf("%v: the loop did not end in iteration 2:\n%s", args, l.swarm("logs", "w"))
		}
		requests := l.model.Requests()[before:]
		if len(requests) != 2 {
			t.Errorf("%v: the model was asked %d times, want 2", args, len(requests))
		}
		for _, r := range requests {
			if n := r.Prompted(prompt); n != 1 {
				t.Errorf("%v: the prompt came %d times: %s", args, n, l.asked())
			}
		}
		if i == 0 && strings.Contains(l.swarm("ralph", "status", "w"), "Inactivity timeout: 1") {
			t.Error("a headless loop has an inactivity timeout")
		}
	}
	l.gone()
}

// testAgentRalphArgument gives a prompt that Claude Code would mark if it were pasted, and that no
// client shows as a whole then.
func testAgentRalphArgument(t *testing.T, l *lab) {
	prompt := strings.TrimSpace(strings.Repeat("Do the next task of the list,\nand then the one after it.\n\n", 20))
	l.model.Script(modelserver.Turn{Text: "The first answer is here, and it is short.", Pause: quickModel})
	l.loopWith(prompt, l.client.command, "--max-iterations", "1", "--inactivity-timeout", "1h")
	if log := l.loopEnd(); !strings.Contains(log, "[END] iteration 1 idle") {
		t.Error("the iteration did not end with its turn")
	}
	requests := l.model.Requests()
	if len(requests) != 1 || requests[0].Prompted(prompt) != 1 || strings.Contains(string(requests[0].Body), "<pasted_content id") {
		t.Errorf("%d requests; the prompt did not come as it is: %s", len(requests), l.asked())
	}
	l.gone()
}

// testAgentRalphLimit has the loop wait for the end of a usage limit.
func testAgentRalphLimit(t *testing.T, l *lab) {
	command, reached := l.limit()
	l.model.Script(reached, modelserver.Turn{Text: "The second answer is here, and it is short.", Pause: quickModel})
	l.loop(command, "--max-iterations", "1", "--inactivity-timeout", "1h")
	status := ""
	if !l.poll(func() bool {
		status = l.swarm("ralph", "status", "w")
		return strings.Contains(status, "Waiting for the end of a usage limit, until ")
	}) {
		t.Fatalf("the loop does not wait:\n%s\n%s\n%s", status, l.swarm("ralph", "logs", "w"), l.peek())
	}
	if !strings.Contains(status, "Total failures: 0") {
		t.Errorf("the limit is a failure:\n%s", status)
	}
	l.swarm("ralph", "resume", "w")
	if log := l.loopEnd(); !strings.Contains(log, "[END] iteration 1 idle") || strings.Contains(log, "[FAIL]") {
		t.Error("the iteration was not repeated")
	}
	l.gone()
}

// testAgentRalphBackground has a shell of the agent run on after its turn.
func testAgentRalphBackground(t *testing.T, l *lab) {
	if l.client.name != "claude" {
		t.Skip("it has no shells in the background")
	}
	begun, long, end, ended := filepath.Join(l.project, "begun"), filepath.Join(l.project, "long"), filepath.Join(l.project, "end"), filepath.Join(l.project, "ended")
	// A loop takes 15 s at most to see that a turn has ended.
	command := fmt.Sprintf("touch %s; sleep 17; touch %s; while ! [ -e %s ]; do sleep 0.2; done; touch %s", begun, long, end, ended)
	l.model.Script(
		modelserver.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "Run it", "run_in_background": true}},
		modelserver.Turn{Text: "It runs.", Pause: quickModel},
		modelserver.Turn{Text: "It has ended.", Pause: quickModel})
	l.loop(append(slices.Clone(l.client.command), "--allowedTools", "Bash"), "--max-iterations", "1", "--inactivity-timeout", "1h")
	if !l.poll(func() bool { _, err := os.Stat(begun); return err == nil }) {
		t.Fatalf("the shell never ran:\n%s", l.peek())
	}
	l.shows(`It runs\.`)
	if !l.poll(func() bool { _, err := os.Stat(long); return err == nil }) {
		t.Fatalf("the shell was ended:\n%s\n%s", l.swarm("ralph", "logs", "w"), l.peek())
	}
	if log := l.swarm("ralph", "logs", "w"); strings.Contains(log, "[END]") || strings.Contains(log, "[FAIL]") {
		t.Errorf("the iteration has ended:\n%s\n%s", log, l.peek())
	}
	l.write(end, "")
	if log := l.loopEnd(); !strings.Contains(log, "[END] iteration 1 idle") {
		t.Error("the iteration did not end with its turn")
	}
	if _, err := os.Stat(ended); err != nil {
		t.Errorf("the work in the background was ended: %v", err)
	}
	l.gone()
}

// testAgentRalphContinue has the second iteration continue with the conversation of the first.
func testAgentRalphContinue(t *testing.T, l *lab) {
	commands := [][]string{l.client.command}
	switch l.client.name {
	case "claude":
		commands = append(commands, []string{"claude", "-p"})
	case "codex":
		// The session is known by its hooks alone, which it wants to be trusted once.
		l.swarm("integrate", "codex")
		l.spawn(nil)
		l.shows("Hooks need review")
		l.swarm("answer", "w", "2")
		l.until("idle")
		l.killed()
	case "gemini", "qwen":
		l.swarm("integrate", l.client.name)
	default:
		t.Skip("its profile does not know the id of a conversation")
	}
	for _, command := range commands {
		l.model.Script(
			modelserver.Turn{Text: "The first answer is here, and it is short.", Pause: quickModel},
			modelserver.Turn{Text: "The second answer is here, and it is short.", Pause: quickModel})
		before := len(l.model.Requests())
		l.loop(command, "--replace", "--max-iterations", "2", "--continue")
		l.loopEnd()
		l.continued(before)
	}
	l.gone()
}

// testAgentRespawnResume starts the agent again with its conversation. Before that it has none.
func testAgentRespawnResume(t *testing.T, l *lab) {
	id := "0f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55"
	var own []string // the arguments that give a conversation this id
	switch l.client.name {
	case "codex", "opencode": // it chooses the id
	default:
		own = []string{"--session-id", id}
	}
	if l.client.name == "opencode" {
		id = "ses_4bfd32cbaffeD6HzyNGfQ1g3Jk"
	}
	l.ready(own...)
	args := []string{"respawn", "w", "--resume"}
	if own == nil {
		args = append(args, "--session", id)
	}
	r := l.try("", args...)
	if r.code != 1 || !strings.Contains(r.err, "has no conversation "+id) {
		t.Errorf("no conversation: exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
	if running := l.try("", "status", "w").code == 0; running != (own != nil) {
		t.Errorf("it runs: %t; %s", running, r.err)
	}
	args[2] = "--resume=auto"
	if r := l.try("", args...); r.code != 0 || !strings.Contains(r.err, "it starts anew") {
		t.Errorf("anew: exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
	l.until("idle")
	l.swarm("send", "w", loopPrompt)
	l.prompted(loopPrompt)
	l.until("idle")
	if own == nil {
		args[4] = l.newestSession()
	}
	args[2] = "--resume"
	before := len(l.model.Requests()) - 1
	t.Log(l.swarm(args...))
	l.until("idle")
	l.swarm("send", "w", loopPrompt)
	l.continued(before)
	l.killed()
}

// newestSession returns the id of the only conversation that an agent keeps which chooses it.
func (l *lab) newestSession() string {
	l.t.Helper()
	if l.client.name == "opencode" {
		cmd := exec.CommandContext(l.t.Context(), filepath.Join(os.Getenv(envAgents), "opencode"), "session", "list", "--format", "json")
		cmd.Env, cmd.Dir = l.world.env, l.project
		out, err := cmd.Output()
		var all []struct{ ID string }
		if err == nil {
			err = json.Unmarshal(out, &all)
		}
		if err != nil || len(all) != 1 {
			l.t.Fatalf("opencode session list: %v\n%s", err, out)
		}
		return all[0].ID
	}
	found, err := filepath.Glob(filepath.Join(l.home, ".codex/sessions/*/*/*/rollout-*.jsonl"))
	if err != nil || len(found) != 1 {
		l.t.Fatalf("the conversations of Codex: %q, %v", found, err)
	}
	name := strings.TrimSuffix(filepath.Base(found[0]), ".jsonl")
	return name[len(name)-len("0f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55"):]
}

// continued fails the test unless the second request since before holds the prompt twice.
func (l *lab) continued(before int) {
	l.t.Helper()
	if !l.poll(func() bool { return len(l.model.Requests()) >= before+2 }) {
		l.t.Fatalf("the model was asked %d times, want 2:\n%s", len(l.model.Requests())-before, l.peek())
	}
	for i, r := range l.model.Requests()[before:] {
		if n := r.Prompted(loopPrompt); n != i+1 {
			l.t.Errorf("request %d holds the prompt %d times, want %d", i+1, n, i+1)
		}
	}
}

// gone fails the test if a process of the worker is left.
func (l *lab) gone() {
	l.t.Helper()
	if left := l.world.processes(func(p process) bool { return p.worker }); len(left) > 0 {
		l.t.Errorf("processes of the worker live on after its end:\n%s", list(left))
	}
}
