//go:build agents

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// testAgentQuestions has the agent ask in its default mode, answers from the list of questions,
// and lets a rule answer the next question.
func testAgentQuestions(t *testing.T, l *lab) {
	l.ready()
	asks := func(name string) (mark string) {
		mark = filepath.Join(l.project, name)
		l.model.Script(l.client.shell("touch "+mark), modelserver.Turn{Text: "It is done with " + name + "."})
		l.swarm("send", "w", "make "+name)
		return mark
	}
	made := func(mark string) {
		t.Helper()
		l.until("idle")
		if _, err := os.Stat(mark); err != nil {
			t.Errorf("the command did not run: %v", err)
		}
	}
	first := asks("first")
	l.until("blocked")
	var open []struct {
		Name    string
		Command *string
		Dialog  *struct{ Digest string }
		Choices []struct{ Key, Label string }
	}
	text := l.swarm("questions", "--json")
	if err := json.Unmarshal([]byte(text), &open); err != nil || len(open) != 1 || open[0].Name != "w" || open[0].Dialog == nil ||
		open[0].Command == nil || !strings.Contains(*open[0].Command, "touch "+first) || len(open[0].Choices) < 2 {
		t.Fatalf("the open questions: %v\n%s\nthe screen:\n%s", err, text, l.peek())
	}
	if text := l.swarm("questions"); !strings.Contains(text, "swarm answer w CHOICE --digest "+open[0].Dialog.Digest) {
		t.Errorf("the open questions:\n%s", text)
	}
	l.swarm("answer", "w", l.client.allow, "--digest", open[0].Dialog.Digest)
	made(first)
	if text := l.swarm("questions", "--json"); strings.TrimSpace(text) != "[]" {
		t.Errorf("after the answer:\n%s", text)
	}

	l.write(filepath.Join(l.home, ".config", "swarm", "config.toml"), "[[answers]]\ncommand = \"touch "+l.project+"/*\"\nanswer = \"allow\"\n")
	watch := exec.CommandContext(t.Context(), filepath.Join(bin, "swarm"), "watch")
	watch.Env, watch.Dir = l.world.env, l.project
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = watch.Process.Signal(os.Interrupt)
		_ = watch.Wait()
	}()
	second := asks("second")
	by := regexp.MustCompile(`(?m)^\[w\] ANSWERED: .*touch .*second.*, by rule 1 of .*/config\.toml$`)
	if !l.poll(func() bool { return by.MatchString(l.swarm("events", "--worker", "w")) }) {
		t.Fatalf("no rule has answered:\n%s\nthe screen:\n%s", l.swarm("events", "--worker", "w"), l.peek())
	}
	made(second)
	if !strings.Contains(l.swarm("events", "--worker", "w"), ", by a person\n") {
		t.Error("the history does not say that a person answered first")
	}
}
